import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.wording import WIDEST, printable, shown


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "an empty value"),
        (True, "true"),
        (False, "false"),
        ("high", "'high'"),
        ("a\nb", r"'a\nb'"),
        (3, "3"),
        (0.95, "0.95"),
        (float("inf"), "inf"),
        ([1, 2], "a list"),
        ((), "a list"),
        ({"a": 1}, "a group of keys"),
    ],
)
def test_a_value_is_named_as_a_reader_would(value, words):
    assert shown(value) == words


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_becomes_one_short_printable_line(text):
    line = printable(text)
    assert line.isprintable()
    assert len(line) <= WIDEST
    line.encode("utf-8")


@given(st.text(st.characters(categories=["L", "N"]), max_size=WIDEST))
def test_ordinary_text_is_left_alone(text):
    assert printable(text) == text


def test_long_text_ends_in_an_ellipsis():
    assert printable("x" * 100) == "x" * (WIDEST - 1) + "…"
