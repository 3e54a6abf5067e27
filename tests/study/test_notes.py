"""What `plan` and `run` say beforehand, without calling it an error."""

import dataclasses

import pytest

from study.notes import study_notes
from study.plan import make_plan
from study.result import Outcome
from study.spec import load_spec
from study.stored import StoredTrial
from study.workloads import registry
from study.workloads.reference import source_digest

DIGITS = "study/specs/digits.yaml"


@pytest.fixture
def unaugmented(monkeypatch):
    """The digits, as if they had no augmentation."""
    digits = dataclasses.replace(registry.WORKLOADS["digits_convnet"], augments=False)
    monkeypatch.setattr(registry, "WORKLOADS", {"digits_convnet": digits})


def test_there_is_nothing_to_say_of_the_digits():
    assert study_notes(make_plan(load_spec(DIGITS)), {}) == []


def test_a_workload_without_augmentation_says_once_that_two_conditions_coincide(unaugmented):
    plan = make_plan(load_spec(DIGITS, ["conditions.echo_factor=[2, 4]"]))
    (note,) = study_notes(plan, {})
    assert note == (
        "digits_convnet has no augmentation: echoing before and after it is the same, and the conditions "
        "before_augmentation and after_augmentation will have identical results."
    )


def test_nothing_coincides_where_only_one_of_the_two_is_asked_for(unaugmented):
    plan = make_plan(load_spec(DIGITS, ["conditions.insertion_point=[after_augmentation, after_batching]"]))
    assert study_notes(plan, {}) == []


def test_whose_code_is_run_is_said_and_whether_it_has_changed_since(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("from study.workloads.digits import DigitsConvnet as Mine\n")
    plan = make_plan(load_spec(DIGITS, [f"workload={file}:Mine"]))
    named = f"Workload mine.py:Mine: the code in {file} is run."
    first, second, *_ = plan.trials
    old, same = (
        StoredTrial("run", Outcome.MISSED, None, 1.0, 1.0, True, workload_source=digest)
        for digest in ("0" * 64, source_digest(plan.spec.workload))
    )
    assert study_notes(plan, {}) == study_notes(plan, {first.id: same}) == [named]
    first_note, warning = study_notes(plan, {first.id: same, second.id: old})
    assert first_note == named
    assert warning == (
        "Warning: mine.py has changed since 1 of the 2 stored trials ran; if that changes results, give the "
        "study another name or --results."
    )
