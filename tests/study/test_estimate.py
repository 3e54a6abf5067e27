"""Costs against sums made by hand; calibrations kept, found again and measured for real."""

import pytest

from study.calibration import Calibration, Calibrations, calibrate
from study.estimate import OVERHEAD_S, START_S, estimate, keep_estimate, kept_estimate
from study.folder import ResultsFolder
from study.plan import make_plan
from study.result import Outcome, Rank
from study.spec import load_spec
from study.stored import StoredTrial

KNOWN = Calibration(update_s=0.01, evaluation_s=0.1, checkpoint_bytes=1000)


@pytest.fixture(scope="module")
def plan():
    """Baseline and e = 2 after batching: 2 searches of 4 points, batch 32, 6,400 fresh examples."""
    settings = [
        "conditions.insertion_point=[after_batching]",
        "search={points: 4, repeats: 1}",
        "budget={fresh_examples: 6400, evaluate_every: 640}",
    ]
    return make_plan(load_spec("study/specs/digits.yaml", settings))


def stored(outcome, rank=None) -> StoredTrial:
    return StoredTrial("run", outcome, rank, slot_s=1.0, training_s=0.9, warm=True)


def test_the_high_end_is_every_trial_at_its_whole_budget(plan):
    cost = estimate(plan, {}, lambda condition: KNOWN, slots=2)
    assert cost.trials == 8
    assert cost.consumed_high == 4 * 6400 * (1 + 2)
    seconds = 4 * (200 * 0.01 + 10 * 0.1 + OVERHEAD_S) + 4 * (400 * 0.01 + 10 * 0.1 + OVERHEAD_S)
    assert cost.hours_high == pytest.approx((seconds / 2 + START_S) / 3600)
    assert not cost.from_results


def test_the_low_end_is_a_third_of_the_budget_until_results_say_more(plan):
    assert estimate(plan, {}, lambda condition: KNOWN, 2).consumed_low == pytest.approx(4 * 6400 / 3 * 3)
    first = plan.trials[0]
    cost = estimate(plan, {first.id: stored(Outcome.REACHED, Rank(3200, 100, 0))}, lambda condition: KNOWN, 2)
    assert cost.from_results
    assert cost.trials == 7
    assert cost.consumed_low == (3 + 4 * 2) * 3200


def test_without_racing_low_and_high_are_the_same(plan):
    whole = make_plan(plan.spec.model_copy(update={"stop": "exhaustive"}))
    cost = estimate(whole, {}, lambda condition: KNOWN, 1)
    assert cost.consumed_low == cost.consumed_high
    assert cost.hours_low == cost.hours_high


def test_hours_are_unknown_where_a_batch_size_is_not_calibrated(plan):
    cost = estimate(plan, {}, lambda condition: None, 1)
    assert cost.hours_low is cost.hours_high is None
    assert cost.consumed_high > 0


def test_the_disk_holds_the_store_and_the_trials_laid_aside(plan):
    large = Calibration(0.01, 0.1, checkpoint_bytes=10**9)
    small = estimate(plan, {}, lambda condition: KNOWN, 1).disk_bytes
    assert estimate(plan, {}, lambda condition: large, 1).disk_bytes - small == 8 * (10**9 - 1000)


def test_the_first_estimate_of_a_study_is_kept(plan, tmp_path):
    results = ResultsFolder(tmp_path)
    assert kept_estimate(results, "digits") is None
    first = estimate(plan, {}, lambda condition: KNOWN, 2)
    keep_estimate(results, "digits", first)
    keep_estimate(results, "digits", estimate(plan, {}, lambda condition: KNOWN, 8))
    assert kept_estimate(results, "digits") == first


def test_calibrations_are_kept_by_workload_batch_size_and_slot(plan, tmp_path):
    kept = Calibrations(ResultsFolder(tmp_path))
    assert kept.find(plan.spec, 32) is None
    kept.keep(plan.spec, 32, KNOWN)
    assert kept.find(plan.spec, 32) == KNOWN
    assert kept.find(plan.spec, 64) is None
    other = load_spec("study/specs/digits.yaml", ["resources.cpu=2"])
    assert kept.find(other, 32) is None
    (tmp_path / "calibration.json").write_text("damaged")
    assert kept.find(plan.spec, 32) is None


def test_a_calibration_trains_for_real_and_is_not_repeated(plan, tmp_path, monkeypatch):
    monkeypatch.setattr("study.calibration.LONG_ENOUGH_S", 0.1)
    results = ResultsFolder(tmp_path)
    calibrate(plan, results)
    found = Calibrations(results).find(plan.spec, 32)
    assert found is not None
    assert 0 < found.update_s < 10
    assert 0 < found.evaluation_s < 10
    assert found.checkpoint_bytes > 2 * 4 * 13_706
    monkeypatch.setattr("study.calibration._measure", None)
    calibrate(plan, results)
