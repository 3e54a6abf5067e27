"""Confirmation of winners: which points run again, with which seeds, and what is shown of them."""

from dataclasses import replace

import pytest

from study.confirm import confirmation, confirmed
from study.errors import UserError
from study.job import TrialJob
from study.plan import make_plan
from study.result import Outcome, Rank
from study.spec import load_spec
from study.stored import StoredTrial


@pytest.fixture(scope="module")
def plan():
    settings = ["conditions.insertion_point=[after_batching]", "search={points: 3, repeats: 2}"]
    return make_plan(load_spec("study/specs/digits.yaml", settings))


def reached(trial, fresh) -> StoredTrial:
    return StoredTrial(
        "run",
        Outcome.REACHED,
        Rank(fresh, 1, trial.point),
        1.0,
        0.9,
        True,
        metaparameters=trial.metaparameters,
    )


@pytest.fixture(scope="module")
def stored(plan):
    """Point 1 wins in every search but that of the second repeat of the echoing condition."""
    found = {}
    for trial in plan.trials:
        if (trial.search.condition.is_baseline or trial.search.repeat == 0) and trial.point > 0:
            found[trial.id] = reached(trial, 1000.0 * trial.point)
    return found


def test_every_winner_runs_again_to_the_target_with_seeds_of_its_own(plan, stored):
    again = confirmation(plan, stored, seeds=2)
    assert (again.spec.name, again.spec.stop) == ("digits-confirm", "at_target")
    assert len(again.searches) == 3
    assert len(again.trials) == len(again.trial_by_id) == 6
    assert again.trial_by_id.keys().isdisjoint(plan.trial_by_id)
    first = [trial for trial in again.trials if trial.search.repeat == 0]
    assert all(
        trial.metaparameters
        == next(
            one.metaparameters
            for one in plan.trials
            if one.point == 1 and one.search.repeat == 0 and one.search.condition == trial.search.condition
        )
        for trial in first
    )
    seeds = {TrialJob.of(trial, again.spec).stream_seed for trial in first}
    assert len(seeds) == 2, "conditions of a repeat share their seeds, each new seed is another"
    old = {TrialJob.of(trial, plan.spec).stream_seed for trial in plan.trials}
    assert seeds.isdisjoint(old)


def test_both_values_are_shown_and_what_was_not_reached_again(plan, stored):
    again = confirmation(plan, stored, seeds=1)
    found = {trial.id: reached(trial, 1100.0) for trial in again.trials if trial.search.condition.is_baseline}
    baseline, echo = confirmed(plan, stored, again, found)
    assert (baseline.own, baseline.again, baseline.reached, baseline.trials) == (1000.0, 1100.0, 2, 2)
    assert (echo.own, echo.again, echo.reached, echo.trials, echo.searches) == (1000.0, None, 0, 1, 1)


def test_a_study_without_a_winner_has_nothing_to_confirm(plan):
    with pytest.raises(UserError, match="No search of digits has reached its target yet"):
        confirmation(plan, {}, seeds=1)


def test_the_winner_of_an_adaptive_search_runs_again_at_the_point_it_was_given(plan):
    search = plan.spec.search.model_copy(update={"sampler": "tpe"})
    adaptive = make_plan(plan.spec.model_copy(update={"search": search}))
    winner = adaptive.trials[1]
    given = {"learning_rate": 0.02, "momentum": 0.9}
    found = {winner.id: replace(reached(winner, 1000.0), metaparameters=given)}
    (again,) = confirmation(adaptive, found, seeds=1).trials
    assert again.metaparameters == given
