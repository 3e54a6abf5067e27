"""Tables against slow, separately written counting, and against the laws they keep."""

import math
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.tables import cost, figure3, searches, share_saved

BUDGET = 12000
KEYS = ["workload", "batch_size", "echo_factor", "insertion_point", "echo_buffer"]


def key(condition):
    return tuple(getattr(condition, name) for name in KEYS)


@pytest.fixture(scope="module")
def ended(plan):
    """How each trial ended: every outcome, ties, a censored search, and some trials without a run."""
    rng = np.random.default_rng(7)
    outcomes = ["reached", "missed", "diverged", "beaten", "crashed", "none"]
    facts = {}
    for trial in plan.trials:
        outcome, fresh = str(rng.choice(outcomes, p=[0.4, *[0.12] * 5])), 256.0 * rng.integers(20, 26)
        if trial.search.condition.insertion_point == "after_batching" and trial.search.repeat == 1:
            outcome, fresh = "missed", 12032.0
        if outcome != "none":
            facts[trial.id] = (outcome, fresh)
    assert len({outcome for outcome, _ in facts.values()}) == 5
    return facts


@pytest.fixture(scope="module")
def trials(ended, plan, trials_of):
    return trials_of(ended, plan)


@pytest.fixture(scope="module")
def found(plan, trials):
    return searches(plan, trials)


def counted(plan, ended):
    """What each search found, in plain loops."""
    rows = []
    for search in plan.searches:
        best, points = None, 0
        for trial in plan.trials:
            if trial.search.id != search.id or trial.id not in ended or ended[trial.id][0] == "crashed":
                continue
            points += 1
            outcome, fresh = ended[trial.id]
            if outcome == "reached" and (best is None or fresh < best[0]):
                best = (fresh, trial.point)
        found = best or (None, None)
        rows.append((*key(search.condition), search.repeat, points, best is not None, *found))
    return rows


def test_the_table_of_searches_is_what_plain_counting_finds(plan, ended, found):
    table = found.astype("object").where(found.notna(), None)
    assert list(table.itertuples(index=False, name=None)) == counted(plan, ended)
    assert list(found) == [*KEYS, "repeat", "points", "reached", "fresh_examples_to_target", "best_point"]


def test_equal_fresh_examples_go_to_fewer_updates_and_then_to_the_smaller_point(plan, trials_of):
    mine = plan.trials[:4]
    table = trials_of({trial.id: ("reached", 512.0) for trial in mine}, plan)
    table["updates_to_target"] = [9.0, 8.0, 8.0, 9.0]
    assert searches(plan, table).iloc[0]["best_point"] == 1


def test_the_order_of_the_runs_does_not_matter(plan, trials, found):
    shuffled = trials.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(searches(plan, shuffled), found)
    pd.testing.assert_frame_equal(cost(plan, shuffled), cost(plan, trials))


def test_trials_of_another_plan_are_not_counted(plan, plan_of, trials, found, trials_of):
    other = plan_of("search.points=4", "search.repeats=3", "seed=1")
    strange = trials_of({trial.id: ("reached", 256.0) for trial in other.trials}, other)
    pd.testing.assert_frame_equal(searches(plan, pd.concat([trials, strange])), found)
    pd.testing.assert_frame_equal(cost(plan, pd.concat([trials, strange])), cost(plan, trials))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.one_of(st.none(), st.integers(1, 46)), min_size=48, max_size=48))
def test_searches_do_not_depend_on_racing(plan, trials_of, reach_at):
    exhaustive, raced, best = {}, {}, {}
    for trial, grid in zip(plan.trials, reach_at, strict=True):
        ending = ("missed", 12032.0) if grid is None else ("reached", 256.0 * grid)
        exhaustive[trial.id] = ending
        mark = best.get(trial.search.id, math.inf)
        raced[trial.id] = ending if ending[1] <= mark else ("beaten", mark)
        if ending[0] == "reached":
            best[trial.search.id] = min(mark, ending[1])
    pd.testing.assert_frame_equal(
        searches(plan, trials_of(raced, plan)), searches(plan, trials_of(exhaustive, plan))
    )


def test_costs_are_what_plain_counting_finds(plan, ended, trials):
    table = cost(plan, trials)
    outcomes = ["reached", "missed", "diverged", "beaten"]
    assert list(table) == [
        *KEYS,
        "repeat",
        *(f"points_{outcome}" for outcome in outcomes),
        "examples_consumed",
        "training_s",
    ]
    for search, row in zip(plan.searches, table.itertuples(), strict=True):
        mine = [ended[t.id] for t in plan.trials if t.search.id == search.id and t.id in ended]
        for outcome in outcomes:
            assert getattr(row, f"points_{outcome}") == sum(one == outcome for one, _ in mine)
        results = [fresh for outcome, fresh in mine if outcome != "crashed"]
        assert row.examples_consumed == sum(results) * search.condition.echo_factor
        assert row.training_s == 1.5 * len(results)


def test_figure_3_is_what_plain_counting_finds(plan, ended, found):
    table = figure3(plan, found)
    rows = counted(plan, ended)
    reached = {key(c): [row[8] for row in rows if row[:5] == key(c) and row[7]] for c in plan.conditions}
    baseline = reached[key(plan.conditions[0])]
    assert [tuple(row) for row in table[KEYS].itertuples(index=False)] == [key(c) for c in plan.conditions]
    for condition, row in zip(plan.conditions, table.itertuples(), strict=True):
        values = reached[key(condition)]
        points = [row[6] for row in rows if row[:5] == key(condition)]
        hit = [row[7] for row in rows if row[:5] == key(condition)]
        assert row.repeats == 3
        assert row.repeats_reached == len(values)
        assert row.censored == sum(n == 4 and not one for n, one in zip(points, hit, strict=True))
        assert row.unfinished == sum(n < 4 for n in points)
        assert (row.mean, row.min, row.max) == (statistics.fmean(values), min(values), max(values))
        assert row.median == statistics.median(values)
        assert row.if_as_good_as_fresh == statistics.fmean(baseline) / condition.echo_factor
        assert row.ratio_to_baseline == pytest.approx(stats.gmean(values) / stats.gmean(baseline))
        assert row.budget == BUDGET
    assert table["censored"].sum() > 0 < table["unfinished"].sum()


def test_a_ratio_carries_welchs_interval_on_logarithms(plan, trials_of):
    fresh = {"none": [6144, 6656, 7168], "before_augmentation": [3072, 3328, 4096]}
    ended = {}
    for trial in plan.trials:
        values = fresh.get(trial.search.condition.insertion_point)
        ended[trial.id] = ("reached", values[trial.search.repeat]) if values else ("missed", 12032.0)
    row = figure3(plan, searches(plan, trials_of(ended, plan))).iloc[1]
    logs = [np.log(fresh["before_augmentation"]), np.log(fresh["none"])]
    expected = stats.ttest_ind(*logs, equal_var=False).confidence_interval(0.95)
    assert np.log([row["ratio_low"], row["ratio_high"]]) == pytest.approx(list(expected))


def test_a_censored_repeat_takes_the_interval_and_not_the_mean(plan, trials_of):
    ended = {trial.id: ("reached", 256.0 * (20 + trial.search.repeat)) for trial in plan.trials}
    censored = {t.id: ("missed", 12032.0) for t in plan.trials[12:] if t.search.repeat == 0}
    table = figure3(plan, searches(plan, trials_of(ended | censored, plan)))
    assert list(table["censored"]) == [0, 1, 1, 1]
    assert list(table["mean"]) == [256 * 21, *[256 * 21.5] * 3]
    assert table["ratio_low"].isna().all()
    assert table["ratio_to_baseline"].notna().all()


def test_the_baseline_of_the_same_batch_size_is_the_one_compared_with(plan_of, trials_of):
    plan = plan_of("search.points=1", "search.repeats=1", "conditions.batch_size=[16, 32]")
    ended = {
        trial.id: ("reached", 100.0 * trial.search.condition.batch_size / trial.search.condition.echo_factor)
        for trial in plan.trials
    }
    table = figure3(plan, searches(plan, trials_of(ended, plan)))
    assert list(table["batch_size"]) == [16] * 4 + [32] * 4
    assert list(table["ratio_to_baseline"]) == pytest.approx([1, 0.5, 0.5, 0.5] * 2)
    assert list(table["if_as_good_as_fresh"]) == [1600, 800, 800, 800, 3200, 1600, 1600, 1600]


@pytest.mark.parametrize("outcome", [None, "diverged", "crashed"])
def test_a_study_that_reached_nothing_has_every_row_and_no_value(plan, trials_of, outcome):
    trials = trials_of({t.id: (outcome, 0.0) for t in plan.trials} if outcome else {}, plan)
    by_search = searches(plan, trials)
    table = figure3(plan, by_search)
    assert len(by_search) == len(cost(plan, trials)) == 12
    assert not by_search["reached"].any()
    assert by_search[["fresh_examples_to_target", "best_point"]].isna().all(axis=None)
    assert list(table["censored"]) == [3 if outcome == "diverged" else 0] * 4
    assert list(table["unfinished"]) == [0 if outcome == "diverged" else 3] * 4
    assert table[["mean", "min", "max", "median", "ratio_to_baseline"]].isna().all(axis=None)


def test_tables_keep_their_types_when_they_are_empty_of_results(plan, trials, trials_of):
    nothing = trials_of({}, plan)
    for table in (searches, cost):
        assert list(table(plan, nothing).dtypes) == list(table(plan, trials).dtypes)
    empty, full = (figure3(plan, searches(plan, one)) for one in (nothing, trials))
    assert list(empty.dtypes) == list(full.dtypes)


def test_the_share_saved_is_against_the_whole_budget_of_every_trial_but_the_diverged(plan, trials_of):
    first = [trial for trial in plan.trials if trial.search.condition.echo_factor == 2][:5]
    ended = {
        first[0].id: ("reached", 6000.0),
        first[1].id: ("beaten", 3000.0),
        first[2].id: ("diverged", 1000.0),
        first[3].id: ("missed", 12016.0),
        first[4].id: ("crashed", 500.0),
    }
    saving = share_saved(plan, trials_of(ended, plan))
    assert saving.consumed == 2 * (6000 + 3000 + 1000 + 12016)
    assert saving.exhaustive == 2 * (12000 + 12000 + 1000 + 12016)
    assert saving.share == pytest.approx(1 - 22016 / 37016)


def test_an_exhaustive_study_and_an_empty_one_save_nothing(plan, trials_of):
    missed = trials_of({trial.id: ("missed", 12016.0) for trial in plan.trials}, plan)
    early = trials_of({plan.trials[0].id: ("diverged", math.nan)}, plan)
    for trials in (missed, early, trials_of({}, plan)):
        assert share_saved(plan, trials).share == 0
