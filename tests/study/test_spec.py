import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import study.spec
from study.errors import UserError
from study.smoke import smoke_cut
from study.spec import StudySpec, load_spec

SPECS = Path(study.spec.__file__).parent / "specs"
DIGITS = SPECS / "digits.yaml"
TEXT = DIGITS.read_text(encoding="utf-8")


def test_the_digits_study_asks_what_its_header_says():
    spec = load_spec(DIGITS)
    assert spec == StudySpec.model_validate(
        {
            "name": "digits",
            "workload": "digits_convnet",
            "conditions": {
                "batch_size": [32],
                "echo_factor": [2],
                "insertion_point": ["before_augmentation", "after_augmentation", "after_batching"],
                "echo_buffer": [1024],
            },
            "metaparameters": {
                "learning_rate": {"low": 0.003, "high": 0.3, "scale": "log"},
                "momentum": {"low": 0.7, "high": 0.99, "scale": "reverse_log"},
            },
            "search": {"sampler": "sobol", "points": 16, "repeats": 3},
            "target": {"metric": "valid_accuracy", "value": 0.95},
            "budget": {"fresh_examples": 12000, "evaluate_every": 256},
            "stop": "racing",
            "seed": 0,
            "resources": {"cpu": 1, "gpu": 0},
        }
    )


@pytest.mark.parametrize("path", sorted(SPECS.rglob("*.yaml")), ids=lambda path: path.stem)
def test_every_study_of_the_package_loads_is_named_after_its_file_and_opens_with_its_question(path):
    assert load_spec(path).name == path.stem
    assert load_spec(path, smoke=True).search.points <= 2
    header = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    for word in ("Question:", "Paper:", "Expected:", "Cost here:", "Command:"):
        assert any(word in line for line in header)
    assert any(f"echostudy run study/specs/{path.relative_to(SPECS)}" in line for line in header)


def test_overrides_are_merged_before_the_study_is_checked():
    spec = load_spec(DIGITS, ["conditions.echo_factor=[1, 4]", "target.value=9e-1", "seed=3"])
    assert spec.conditions.echo_factor == (1, 4)
    assert spec.target.value == 0.9
    assert spec.seed == 3
    assert spec.budget == load_spec(DIGITS).budget


def test_a_smoke_run_cuts_what_file_and_overrides_ask_for():
    overrides = ["conditions.batch_size=[64]", "seed=3"]
    assert load_spec(DIGITS, overrides, smoke=True) == smoke_cut(load_spec(DIGITS, overrides))


def test_the_file_may_be_named_by_text_as_well_as_by_a_path():
    assert load_spec(str(DIGITS)) == load_spec(DIGITS)


ODD = [
    "\t",
    "\x00",
    "\x07",
    "é",
    "\u2028",
    "\ufeff",
    ":",
    "- ",
    "{",
    "]",
    "'",
    '"',
    "&a ",
    "*a",
    "!x ",
    "|",
    "%",
    "\r",
]
VALUES = [
    "true",
    "[]",
    "{}",
    "",
    "-1",
    "1e999",
    ".nan",
    "'0'",
    "high",
    "[[1]]",
    "{a: 1}",
    "~",
    "2024-01-01",
    "1e-3",
]


def delete_a_line(lines, rng):
    del lines[rng.randrange(len(lines))]


def rename_a_key(lines, rng):
    i = rng.choice([i for i, line in enumerate(lines) if ":" in line])
    key, colon, rest = lines[i].partition(":")
    at = rng.randrange(len(key))
    lines[i] = key[:at] + rng.choice("xyz_ ") + key[at + 1 :] + colon + rest


def swap_the_type_of_a_value(lines, rng):
    i = rng.choice([i for i, line in enumerate(lines) if ":" in line])
    lines[i] = lines[i].partition(":")[0] + ": " + rng.choice(VALUES)


def truncate(lines, rng):
    text = "\n".join(lines)
    lines[:] = text[: rng.randrange(len(text))].split("\n")


def insert_an_odd_character(lines, rng):
    i = rng.randrange(len(lines))
    at = rng.randrange(len(lines[i]) + 1)
    lines[i] = lines[i][:at] + rng.choice(ODD) + lines[i][at:]


def indent_with_a_tab(lines, rng):
    i = rng.randrange(len(lines))
    lines[i] = "\t" + lines[i].lstrip()


def repeat_a_line(lines, rng):
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))


def shift_a_line(lines, rng):
    i = rng.randrange(len(lines))
    lines[i] = " " * rng.randrange(1, 5) + lines[i]


def change_a_digit(lines, rng):
    i = rng.choice([i for i, line in enumerate(lines) if any(c.isdigit() for c in line)])
    at = rng.choice([k for k, c in enumerate(lines[i]) if c.isdigit()])
    lines[i] = lines[i][:at] + rng.choice(["-", "x", "0", "99999", "."]) + lines[i][at + 1 :]


def do_several_at_once(lines, rng):
    for mutate in rng.choices(MUTATIONS[:-1], k=4):
        if any(":" in line and any(c.isdigit() for c in line) for line in lines):
            mutate(lines, rng)


MUTATIONS = [
    delete_a_line,
    rename_a_key,
    swap_the_type_of_a_value,
    truncate,
    insert_an_odd_character,
    indent_with_a_tab,
    repeat_a_line,
    shift_a_line,
    change_a_digit,
    do_several_at_once,
]


def outcome(path):
    """None if the file loads, else the sentence of its one error."""
    try:
        load_spec(path)
    except UserError as error:
        return str(error)
    return None


def is_one_sentence_about(sentence, path):
    return sentence.startswith(str(path)) and sentence.isprintable() and "Input should" not in sentence


@pytest.mark.parametrize("mutate", MUTATIONS, ids=lambda mutate: mutate.__name__)
def test_a_damaged_study_file_loads_or_gives_one_sentence(mutate, tmp_path):
    body = [line for line in TEXT.splitlines() if not line.startswith("#")]
    path = tmp_path / "damaged.yaml"
    refused = 0
    for seed in range(40):
        lines = list(body)
        mutate(lines, random.Random(seed))
        path.write_bytes("\n".join(lines).encode())
        sentence = outcome(path)
        assert sentence is None or is_one_sentence_about(sentence, path), lines
        refused += sentence is not None
    assert refused >= 10


@settings(max_examples=200)
@given(content=st.binary(max_size=40) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "ignore")))
def test_any_bytes_as_a_study_file_give_one_sentence(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "bytes.yaml"
    path.write_bytes(content)
    sentence = outcome(path)
    assert sentence is not None
    assert is_one_sentence_about(sentence, path)
