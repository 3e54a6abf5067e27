import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from study.yamltext import MAX_DEPTH, Place, TextError, dotted, parse

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029"), max_size=8)
)
DATA = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)


def error_of(text):
    try:
        parse(text)
    except TextError as error:
        return error
    return None


@given(DATA)
def test_plain_data_come_back_as_they_were_dumped(data):
    text = yaml.safe_dump(data, allow_unicode=True)
    assert parse(text)[0] == data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("-2E+4", -20000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("+7", 7),
        ("010", 10),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("0x1F", "0x1F"),
        ("yes", "yes"),
        ("off", "off"),
        ("True", True),
        ("false", False),
        ("2024-01-01", "2024-01-01"),
        ("~", None),
        ("null", None),
        ("a:", {"a": None}),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("!!float 1", 1.0),
        ("-.INF", -math.inf),
        ("-", [None]),
        ("--", "--"),
        ("1e", "1e"),
        (".", "."),
    ],
)
def test_a_plain_word_means_what_yaml_1_2_says(text, value):
    found = parse(text)[0]
    assert found == value
    assert type(found) is type(value)


def test_nan_is_read_as_a_number():
    assert math.isnan(parse(".nan")[0])


def test_a_whole_number_of_many_digits_is_read_without_being_computed():
    assert parse("9" * 5000)[0] == math.inf


def test_every_key_and_entry_has_the_line_it_is_written_on():
    _, places = parse("# head\na: 1\nb:\n  c: [5,\n      6]\n\n  d:\n    - x\n    - y: 2\n")
    lines = {path: place.line for path, place in places.items()}
    assert lines == {
        (): 2,
        ("a",): 2,
        ("b",): 3,
        ("b", "c"): 4,
        ("b", "c", 0): 4,
        ("b", "c", 1): 5,
        ("b", "d"): 7,
        ("b", "d", 0): 8,
        ("b", "d", 1): 9,
        ("b", "d", 1, "y"): 9,
    }
    assert places["b", "d"] == Place(7, "line 7")


def test_an_alias_stands_for_the_values_of_its_anchor():
    data, places = parse("a: &x {low: 1}\nb: *x\n")
    assert data == {"a": {"low": 1}, "b": {"low": 1}}
    assert places["b",].line == 2
    assert places["b", "low"].line == 1


def test_aliases_of_aliases_are_refused_before_they_fill_the_memory():
    laughs = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(TextError, match="more than 10,000 values"):
        parse(laughs)


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: " + "[" * 10_000, "a: " + "{b: " * 3000])
def test_values_within_values_without_end_are_refused(text):
    with pytest.raises(TextError, match=f"more than {MAX_DEPTH} levels") as caught:
        parse(text)
    assert caught.value.line == 1


@pytest.mark.parametrize(
    "text",
    [
        "a: !!python/object/apply:os.system ['echo']",
        "a: !!python/name:os.system",
        "!!python/object:study.plan.Plan {}",
        "a: !!binary aGk=",
        "a: !!set {b}",
        "a: !own b",
    ],
)
def test_no_tag_makes_anything_but_plain_data(text):
    with pytest.raises(TextError, match=r"the tag .* means nothing in a study file"):
        parse(text)


@given(st.text(st.sampled_from("ab1 \t\n:-[]{}&*!|>'\"#%@`,?~.e\\Ux0\x00\x85\ud800é"), max_size=40))
def test_any_text_is_either_data_or_a_text_error_with_a_line(text):
    error = error_of(text)
    assert error is None or (1 <= error.line <= len(text.splitlines()) + 1 and str(error).isprintable())


def test_a_key_path_is_written_with_dots_and_without_positions():
    assert dotted(("conditions", "batch_size", 1)) == "conditions.batch_size"
