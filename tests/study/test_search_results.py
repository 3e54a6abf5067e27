"""Whole searches from a golden file: each trial's record, the search's result, its count of points."""

from pathlib import Path

import pytest
import yaml

from study.counting import points_missing
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome, Rank, best_trial
from study.spec import load_spec

CASES = yaml.safe_load((Path(__file__).parent / "search_results.yaml").read_text(encoding="utf-8"))


def records(case) -> list[TrialRecord]:
    metric, target = case.get("metric", "valid_accuracy"), case.get("target", 0.95)
    spec = load_spec(
        "study/specs/digits.yaml",
        [f"target={{metric: {metric}, value: {target}}}", "search.points=4", "search.repeats=1"],
    )
    made = []
    for trial, told in zip(make_plan(spec).trials, case["trials"], strict=False):
        curve = [
            Evaluation(
                float(fresh),
                updates,
                {metric: value, "examples_read": float(fresh), "examples_consumed": float(fresh)}
                | {"buffer_examples": 0.0},
            )
            for fresh, updates, value in told["curve"]
        ]
        fresh, updates = told.get("next", (9999, 999))
        earliest = Rank(float(fresh), updates, trial.point)
        made.append(TrialRecord(trial, spec.rule, curve, Outcome(told["outcome"]), earliest=earliest))
    return made


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_search_has_its_golden_result(case):
    found = records(case)
    best = best_trial(one.rank for one in found if one.rank is not None)
    if case["result"] == "none":
        assert best is None
        return
    point, fresh, updates, before = case["result"]
    assert best == Rank(float(fresh), updates, point)
    metrics = found[point].final_metrics()
    assert metrics["fresh_examples_to_target"] == fresh
    assert metrics["fresh_examples_before_target"] == before
    assert metrics["updates_to_target"] == updates


@pytest.mark.parametrize("case", [one for one in CASES if "wanted" in one], ids=lambda case: case["case"])
def test_a_search_has_its_golden_number_of_points(case):
    assert points_missing([one.ended for one in records(case)], case["wanted"]) == case["missing"]


def test_a_trial_that_did_not_reach_has_no_number_of_the_target():
    (case,) = [one for one in CASES if one["case"] == "never reached"]
    for record in records(case):
        assert not any(name.endswith("_target") for name in record.final_metrics())
