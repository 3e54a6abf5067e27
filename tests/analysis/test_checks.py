"""Checks on the answer, against counts made by hand."""

import math

import pandas as pd
import pytest

from analysis.checks import coarse_grid, cost_of_the_answer, few_reached, flips
from analysis.tables import searches
from analysis.tables.racing_cost import race_cost

BUDGET = 12000


@pytest.fixture(scope="module")
def one(plan_of):
    """Baseline and one condition at e = 2, one repeat, two points."""
    return plan_of("search.points=2", "search.repeats=1", "conditions.insertion_point=[after_batching]")


def test_the_cost_of_racing_is_held_against_floor_whole_budget_and_target(one, trials_of):
    fates = [("reached", 2560.0), ("beaten", 2816.0), ("reached", 1280.0), ("diverged", 256.0)]
    trials = trials_of({trial.id: fate for trial, fate in zip(one.trials, fates, strict=True)}, one)
    cost = race_cost(one, trials, searches(one, trials))
    assert cost.consumed == 2560 + 2816 + 2 * (1280 + 256)
    assert cost.floor == 2 * 2560 + 2 * 2 * 1280
    assert cost.fixed == 2 * BUDGET + 2 * (BUDGET + 256)
    assert cost.at_target_most == 2560 + BUDGET + 2 * (1280 + 256)
    assert cost.ratio_to_floor == pytest.approx(8448 / 10240)
    (sentence,) = cost_of_the_answer(one, trials, searches(one, trials))
    assert "8,448 examples: 0.82 times points x best fresh examples x e" in sentence
    assert "less where trials diverge" in sentence
    assert "up to 2.1 times as many" in sentence


def test_a_censored_search_costs_its_budget_at_the_floor_too(one, trials_of):
    trials = trials_of({trial.id: ("missed", float(BUDGET)) for trial in one.trials}, one)
    cost = race_cost(one, trials, searches(one, trials))
    assert cost.consumed == cost.floor == cost.fixed == 3 * 2 * BUDGET


def test_an_unfinished_search_is_left_out_of_the_cost(one, trials_of):
    trials = trials_of({one.trials[0].id: ("reached", 512.0)}, one)
    cost = race_cost(one, trials, searches(one, trials))
    assert cost.consumed == 0
    assert math.isnan(cost.ratio_to_floor)
    assert list(cost_of_the_answer(one, trials, searches(one, trials))) == []


def test_searches_that_rest_on_few_trials_are_counted_where_all_run_to_the_target(plan_of, trials_of):
    plan = plan_of("search.points=4", "search.repeats=1", "stop=at_target", "conditions.echo_factor=[1]")
    few = [("reached", 512.0), ("missed", 12000.0), ("missed", 12000.0), ("reached", 768.0)]
    trials = trials_of({t.id: fate for t, fate in zip(plan.trials, few, strict=True)}, plan)
    (sentence,) = few_reached(plan, trials)
    assert sentence.startswith("In 1 of 1 searches fewer than 3 trials reached the target")
    enough = trials_of({t.id: ("reached", 512.0) for t in plan.trials}, plan)
    assert list(few_reached(plan, enough)) == []


def test_a_grid_coarser_than_a_twentieth_of_the_result_is_named(one, trials_of):
    fine = [("reached", 5376.0), ("beaten", 5376.0), ("reached", 5120.0), ("beaten", 5120.0)]
    trials = trials_of({trial.id: fate for trial, fate in zip(one.trials, fine, strict=True)}, one)
    assert list(coarse_grid(one, searches(one, trials))) == []
    trials.loc[trials["fresh_examples_to_target"] == 5120, "fresh_examples_to_target"] = 2560.0
    (sentence,) = coarse_grid(one, searches(one, trials))
    assert "256 fresh examples apart, 10% of the result (2,560)" in sentence


def test_a_conclusion_that_turns_with_the_target_is_named(plan_of, trials_of):
    plan = plan_of(
        "search.points=1",
        "search.repeats=1",
        "conditions.insertion_point=[after_batching]",
        "stop=exhaustive",
    )
    baseline, echo = plan.trials
    trials = trials_of({one.id: ("reached", 12000.0) for one in plan.trials}, plan)
    rows = [
        (baseline.id, 256, 0.93),
        (baseline.id, 512, 0.95),
        (baseline.id, 768, 0.97),
        (echo.id, 128, 0.9),
        (echo.id, 256, 0.95),
        (echo.id, 1024, 0.97),
    ]
    curves = pd.DataFrame(rows, columns=["trial_id", "fresh_examples", "valid_accuracy"])
    (sentence,) = flips(plan, trials, curves)
    assert "with the target at 0.9595 the ratio to the baseline is 1.33 in place of 0.50" in sentence
