"""The exported JSON Schema, held against the study files of the package by an independent validator."""

import copy
from pathlib import Path

import jsonschema
import pytest
import yaml

import study
from study.schema import study_schema

SPECS = sorted((Path(study.__file__).parent / "specs").rglob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(study_schema())


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_every_study_file_of_the_package_fits_the_schema(path):
    assert list(VALIDATOR.iter_errors(yaml.safe_load(path.read_text(encoding="utf-8")))) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("conditions", "echo_factor"), [0.5]),
        (("conditions", "echo_factor"), 2),
        (("conditions", "insertion_point"), ["somewhere"]),
        (("metaparameters", "learning_rate"), {"low": 1}),
        (("metaparameters", "learning_rate"), {"values": "many"}),
        (("search", "points"), 0),
        (("search", "sampler"), "random"),
        (("budget", "passes"), -1),
        (("limits",), {"crashed_share": 2}),
        (("nmae",), "x"),
    ],
)
def test_what_the_study_file_refuses_by_key_type_or_bound_the_schema_refuses_too(path, value):
    data = yaml.safe_load(SPECS[0].read_text(encoding="utf-8"))
    damaged = copy.deepcopy(data)
    group = damaged
    for key in path[:-1]:
        group = group.setdefault(key, {})
    group[path[-1]] = value
    assert list(VALIDATOR.iter_errors(damaged))


def test_the_schema_is_one_and_describes_its_groups():
    schema = study_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["required"]) == {
        "name",
        "workload",
        "conditions",
        "metaparameters",
        "search",
        "target",
        "budget",
    }
    assert all(group["description"] for group in schema["$defs"].values())
