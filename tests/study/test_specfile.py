import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.errors import UserError
from study.specfile import read_spec_file
from study.yamltext import Place

SMALL = "name: small\ntarget:\n  metric: m\n  value: 0.5\nsizes: [1, 2]\n"
START_FROM = "start from a copy of study/specs/digits.yaml"


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A file in the working folder, so that messages hold its short name."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return "small.yaml"


def message(*arguments):
    with pytest.raises(UserError) as caught:
        read_spec_file(*arguments)
    return str(caught.value)


def test_a_file_is_read_as_plain_data_with_places(small):
    file = read_spec_file(small)
    assert file.data == {"name": "small", "target": {"metric": "m", "value": 0.5}, "sizes": [1, 2]}
    assert file.place(("target", "value")) == Place(4, "line 4")


def test_what_is_missing_has_the_place_of_its_group(small):
    file = read_spec_file(small)
    assert file.place(("target", "absent", "deeper")).line == 2
    assert file.place(("absent",)).line == 1


def test_a_byte_order_mark_and_windows_line_ends_are_harmless(tmp_path):
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: a\r\nseed: 1\r\n")
    file = read_spec_file(path)
    assert file.data == {"name": "a", "seed": 1}
    assert file.place(("seed",)).line == 2


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", f"bad.yaml is empty; {START_FROM}."),
        (b"# only a comment\n", f"bad.yaml is empty; {START_FROM}."),
        (
            b"\n- a\n",
            f"bad.yaml line 2: a study file is keys and values, not a list; {START_FROM}.",
        ),
        (
            b"name",
            f"bad.yaml line 1: a study file is keys and values, not 'name'; {START_FROM}.",
        ),
        (
            b"name: a\n# caf\xe9\n",
            "bad.yaml line 2: a byte is not UTF-8 text; save the file as UTF-8, or check the path.",
        ),
        (b"a: 1\nb: \x00", "bad.yaml line 2: the character \\x00 is not allowed in YAML; take it out."),
        (b"#" * 1_000_001, "bad.yaml is larger than 1000 kB, so it is no study file; check the path."),
        (
            b"a: 1\nb: 2\na: 3\n",
            "bad.yaml line 3: the key 'a' is there already on line 1; keep one of the two.",
        ),
        (b"a:\n\tb: 1\n", "bad.yaml line 2: a tab stands where YAML wants spaces; indent with spaces."),
    ],
)
def test_a_file_that_is_no_study_file_is_one_sentence(small, tmp_path, content, sentence):
    (tmp_path / "bad.yaml").write_bytes(content)
    assert message("bad.yaml") == sentence


def test_a_missing_file_and_a_folder_are_told_apart(small):
    assert message("absent.yaml") == (f"There is no study file absent.yaml; check the path, or {START_FROM}.")
    assert message(".") == ". is a folder, not a study file; name a .yaml file in it."
    assert message("small.yaml/inner.yaml") == (
        "small.yaml/inner.yaml cannot be read (Not a directory); check the path and its permissions."
    )
    assert (
        message("a\0b") == "a\\x00b cannot be read (embedded null byte); check the path and its permissions."
    )


def test_an_override_replaces_a_value_and_takes_its_place(small):
    file = read_spec_file(small, ["target.value=0.9"])
    assert file.data["target"] == {"metric": "m", "value": 0.9}
    assert file.place(("target", "value")).text == "--set target.value=0.9"
    assert file.place(("target", "metric")).text == "line 3"


def test_an_override_of_a_group_replaces_the_whole_group(small):
    file = read_spec_file(small, ["target={goal: [1]}"])
    assert file.data["target"] == {"goal": [1]}
    for path in [("target",), ("target", "goal"), ("target", "goal", 0), ("target", "value")]:
        assert file.place(path).text == "--set target={goal: [1]}"


def test_an_override_of_an_unknown_key_makes_it_for_the_model_to_refuse(small):
    file = read_spec_file(small, ["traget.inner.value=1"])
    assert file.data["traget"] == {"inner": {"value": 1}}
    assert file.place(("traget",)).text == "--set traget.inner.value=1"


def test_the_last_override_of_a_key_wins_and_earlier_ones_come_first_in_order(small):
    file = read_spec_file(small, ["name=a", "sizes=[3]", "name=b"])
    assert file.data["name"] == "b"
    assert file.place(("sizes",)) < file.place(("name",)) < file.place(("target",))


@pytest.mark.parametrize("override", ["name", "=1", "a..b=1", ".a=1", "a.=1", ""])
def test_an_override_without_a_key_path_shows_how_to_write_one(small, override):
    assert message(small, [override]) == (
        f"small.yaml --set {override}: an override is written --set key.path=value; "
        "for example --set target.value=0.9."
    )


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("name.x=1", "'name' holds 'small', not keys; write --set name=..."),
        ("sizes.0=1", "'sizes' holds a list, not keys; write --set sizes=..."),
        (
            "name=[",
            (
                "it is not valid YAML (expected the node content, but found '<stream end>'); "
                "check indentation, colons, quotes and brackets."
            ),
        ),
        (
            "name={a: 1, a: 2}",
            "the key 'a' is there already on --set name={a: 1, a: 2}; keep one of the two.",
        ),
    ],
)
def test_an_override_that_cannot_be_merged_names_itself(small, override, sentence):
    assert message(small, [override]) == f"small.yaml --set {override}: {sentence}"


@given(
    key=st.lists(st.sampled_from(["name", "target", "value", "new"]), min_size=1, max_size=3),
    value=st.integers() | st.booleans() | st.sampled_from(["x", "[1]", "{a: 1}", "", "a=b", "'q'"]),
)
def test_any_override_is_merged_or_refused_with_its_own_text(tmp_path_factory, key, value):
    path = tmp_path_factory.mktemp("specs") / "small.yaml"
    path.write_text(SMALL)
    override = f"{'.'.join(key)}={value}"
    try:
        outcome = read_spec_file(path, [override]).place(tuple(key)).text
    except UserError as error:
        outcome = str(error)
    assert outcome == f"--set {override}" or f" --set {override}: '{key[0]}" in outcome
