"""Bounds and pairs, and what other targets would have told."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.tables import searches
from analysis.tables.estimates import estimates
from analysis.tables.sensitivity import sensitivity

BUDGET = 12000.0
FRESH = {"none": [8000.0, 9000.0, 10000.0], "before_augmentation": [4000.0, 4400.0, 5200.0]}


@pytest.fixture(scope="module")
def table(plan, trials_of):
    """Before augmentation all reach it; after augmentation one of three, after batching none."""
    ended = {}
    for trial in plan.trials:
        place, repeat = trial.search.condition.insertion_point, trial.search.repeat
        fresh = FRESH.get(place, [6000.0 if place == "after_augmentation" else None, None, None])[repeat]
        ended[trial.id] = ("missed", BUDGET) if fresh is None or trial.point else ("reached", fresh)
    by_search = searches(plan, trials_of(ended, plan))
    return estimates(plan, by_search).set_index("insertion_point")


def test_pairs_are_compared_repeat_by_repeat(table):
    row = table.loc["before_augmentation"]
    logs = np.log(FRESH["before_augmentation"]) - np.log(FRESH["none"])
    low, high = stats.t.interval(0.95, 2, logs.mean(), stats.sem(logs))
    assert row["pairs"] == 3
    assert row[["paired_ratio", "paired_low", "paired_high"]].tolist() == pytest.approx(
        [math.exp(logs.mean()), math.exp(low), math.exp(high)]
    )


def test_a_condition_without_censored_searches_has_no_bounds_and_no_survival_median(table):
    for place in ("none", "before_augmentation"):
        names = ["mean_at_least", "km_median", "ratio_at_least", "ratio_at_most"]
        assert table.loc[place, names].isna().all()


def test_censored_searches_bound_the_mean_and_the_ratio_from_below(table):
    row = table.loc["after_augmentation"]
    assert row["censored"] == 2
    assert row["mean_at_least"] == pytest.approx((6000 + 2 * BUDGET) / 3)
    expected = stats.gmean([6000, BUDGET, BUDGET]) / stats.gmean(FRESH["none"])
    assert row["ratio_at_least"] == pytest.approx(expected)
    assert math.isnan(row["ratio_at_most"])
    assert row["km_median"] == math.inf
    assert math.isnan(row["paired_low"])


def test_a_censored_baseline_bounds_the_ratio_from_above(plan, trials_of):
    ended = {}
    for trial in plan.trials:
        is_baseline = trial.search.condition.is_baseline
        ended[trial.id] = ("missed", BUDGET) if is_baseline else ("reached", 6000.0)
    table = estimates(plan, searches(plan, trials_of(ended, plan)))
    assert table.loc[1:, "ratio_at_most"].tolist() == pytest.approx([0.5] * 3)
    assert table["ratio_at_least"].isna().all()


def test_nothing_gives_a_table_without_numbers(plan, trials_of):
    table = estimates(plan, searches(plan, trials_of({}, plan)))
    assert len(table) == len(plan.conditions)
    assert table[["geometric_mean", "km_median", "ratio_at_least", "paired_ratio"]].isna().all(axis=None)


@pytest.fixture
def curves(plan):
    """Accuracy rises by 0.01 an evaluation, twice as fast with echoing; repeats differ in their start."""
    rows = []
    for trial in plan.trials:
        speed = 1 if trial.search.condition.is_baseline else 2
        for at in range(1, 41):
            value = 0.70 + 0.01 * (at * speed // 2 + trial.search.repeat) - 0.001 * trial.point
            rows.append({"trial_id": trial.id, "fresh_examples": 256 * at, "valid_accuracy": value})
    return pd.DataFrame(rows)


def first_at(curves, plan, condition, repeat, target):
    """The slow way."""
    best = math.inf
    for trial in plan.trials:
        if trial.search.condition == condition and trial.search.repeat == repeat:
            for row in curves[curves["trial_id"] == trial.id].to_dict("records"):
                if row["valid_accuracy"] >= target:
                    best = min(best, row["fresh_examples"])
    return best


def test_another_target_is_read_from_the_curves(plan, trials_of, curves):
    trials = trials_of({trial.id: ("reached", 5000.0) for trial in plan.trials}, plan)
    table = sensitivity(plan, trials, curves, shifts=(-0.05, 0.0))
    assert sorted(set(table["target"])) == pytest.approx([0.9025, 0.95])
    for row in table.to_dict("records"):
        condition = next(one for one in plan.conditions if one.insertion_point == row["insertion_point"])
        values = [first_at(curves, plan, condition, repeat, row["target"]) for repeat in range(3)]
        found = [value for value in values if value < math.inf]
        assert row["repeats_reached"] == len(found)
        if found:
            assert row["mean"] == pytest.approx(np.mean(found))


def test_harder_targets_are_asked_only_of_exhaustive_studies(plan, plan_of, trials_of, curves):
    trials = trials_of({trial.id: ("reached", 5000.0) for trial in plan.trials}, plan)
    assert sensitivity(plan, trials, curves)["shift"].max() == 0
    exhaustive = plan_of("search.points=4", "search.repeats=3", "stop=exhaustive")
    ended = {trial.id: ("reached", 5000.0) for trial in exhaustive.trials}
    ids = dict(zip((one.id for one in plan.trials), (one.id for one in exhaustive.trials), strict=True))
    other = curves.assign(trial_id=curves["trial_id"].map(ids))
    assert sensitivity(exhaustive, trials_of(ended, exhaustive), other)["shift"].max() == 0.02


def test_the_easier_side_of_a_loss_is_above_it(plan_of, trials_of):
    plan = plan_of("search.points=1", "target.metric=valid_loss", "target.value=0.5")
    curves = pd.DataFrame({"trial_id": [], "fresh_examples": [], "valid_loss": []})
    table = sensitivity(plan, trials_of({}, plan), curves)
    assert sorted(set(table["target"])) == pytest.approx([0.5, 0.505, 0.51])
    assert table["mean"].isna().all()
