"""Timed studies: which trials are timed, behind which sources, and on what grid they are evaluated."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from pipelines import EchoSpec, MemorySource, SourceClock
from study.errors import UserError
from study.grid import EvaluationGrid
from study.job import TrialJob
from study.plan import make_plan
from study.result import Outcome, Rank
from study.slow import slowed
from study.spec import load_spec
from study.stored import StoredTrial
from study.timed import timed, timed_status
from study.timing import Timing
from study.trial import TrialRun
from study.update_time import update_seconds
from study.winners import winners
from study.workloads.digits import DigitsConvnet

torch.set_num_threads(1)

SETTINGS = [
    "conditions.echo_factor=[2, 4]",
    "conditions.insertion_point=[before_augmentation]",
    "conditions.echo_buffer=[64]",
    "conditions.R=[1, 3]",
    "search={points: 3, repeats: 2}",
    "budget={fresh_examples: 1024, evaluate_every: 256}",
    "target.value=0.5",
    "measure=time",
    "timing={burst: [1, 64], adaptive: true}",
]


@pytest.fixture(scope="module")
def plan():
    return make_plan(load_spec("study/specs/digits.yaml", SETTINGS))


@pytest.fixture(scope="module")
def stored(plan):
    """Point 1 has won everywhere but at e = 4 in the second repeat, where nothing has."""
    return {
        trial.id: StoredTrial(
            "run", Outcome.REACHED, Rank(512.0, 16, 1), 1.0, 0.9, True, metaparameters=trial.metaparameters
        )
        for trial in plan.trials
        if trial.point == 1 and (trial.search.condition.echo_factor < 4 or trial.search.repeat == 0)
    }


@pytest.fixture(scope="module")
def workload():
    return DigitsConvnet()


def test_every_winner_is_timed_behind_every_source(plan, stored):
    timing = timed(plan, winners(plan, stored))
    fixed = [trial for trial in timing.trials if not trial.search.timing.adaptive]
    assert timing.spec.name == "digits-time"
    assert len(fixed) == 5 * 2 * 2
    assert len({trial.id for trial in timing.trials} | plan.trial_by_id.keys()) == len(timing.trials) + 18
    asked = {(one.search.timing.R, one.search.timing.burst) for one in fixed}
    assert asked == {(1, 1), (1, 64), (3, 1), (3, 64)}


def test_a_timed_winner_has_its_own_seeds_and_metaparameters(plan, stored):
    def what_decides(job):
        return job.initialisation_seed, job.stream_seed, *job.metaparameters.values()

    won = winners(plan, stored)
    timing = timed(plan, won)
    again = [TrialJob.of(one, timing.spec) for one in timing.trials if not one.search.timing.adaptive]
    of_winners = {what_decides(TrialJob.of(trial, plan.spec)) for trial in won.values()}
    assert {what_decides(job) for job in again} == of_winners


def test_adaptive_echoing_is_searched_up_to_the_largest_factor_with_the_winning_points_first(plan, stored):
    timing = timed(plan, winners(plan, stored))
    searches = [one for one in timing.searches if one.timing.adaptive]
    assert len(searches) == 2 * 2 * 2
    assert {one.condition.echo_factor for one in searches} == {4}
    for search in searches:
        trials = timing.trials_of(search)
        assert [trial.point for trial in trials] == [0, 1, 2]
        assert [trial.seeded for trial in trials] == [1, 0, 2]
    job = TrialJob.of(timing.trials_of(searches[0])[0], timing.spec)
    assert job.echo == EchoSpec("adaptive", "before_augmentation", 64, ceiling=4)


def test_what_is_measured_of_an_update_changes_no_id(plan, stored):
    won = winners(plan, stored)
    before, after = timed(plan, won), timed(plan, won, {32: 0.25})
    assert list(before.trial_by_id) == list(after.trial_by_id)
    assert {trial.search.timing.update_s for trial in after.trials} == {0.25}


def test_labels_say_what_a_trial_is_held_to(plan, stored):
    labels = {trial.search.label for trial in timed(plan, winners(plan, stored)).trials}
    assert "baseline b=32 R=3 repeat 0" in labels
    assert "before_augmentation adaptive up to e=4 b=32 buffer=64 R=1 burst=64 repeat 1" in labels


def test_nothing_is_timed_before_something_has_won(plan):
    assert timed(plan, {}).trials == ()


def test_the_most_that_will_be_timed_is_known_before_the_searches_are_through(plan, stored):
    status = timed_status(plan, stored, {})
    searches, sources, adaptive = 2 * 3, 2 * 2, 2 * 3
    assert (status.trials, status.done, status.final) == (sources * (searches + adaptive), 0, False)


def test_timing_is_through_when_each_winner_has_its_time(plan, stored):
    missed = StoredTrial("run", Outcome.MISSED, None, 1.0, 0.9, True)
    stored = {trial.id: missed for trial in plan.trials} | stored
    trials = timed(plan, winners(plan, stored)).trials
    status = timed_status(plan, stored, {trial.id: missed for trial in trials[:5]})
    assert (status.trials, status.done, status.final) == (len(trials), 5, True)


def test_a_study_of_fresh_examples_keeps_its_trial_ids_when_time_is_measured_too(plan):
    without = make_plan(load_spec("study/specs/digits.yaml", SETTINGS[:-2]))
    assert list(plan.trial_by_id) == list(without.trial_by_id)


@pytest.fixture(scope="module")
def timed_jobs(plan, stored):
    timing = timed(plan, winners(plan, stored), {32: 1e-3})
    return [TrialJob.of(trial, timing.spec) for trial in timing.trials if trial.search.timing.burst == 1]


def test_a_timed_trial_takes_the_very_stream_of_its_winner(timed_jobs, workload):
    job = replace(timed_jobs[2], metaparameters={"learning_rate": 0.03, "momentum": 0.9})
    assert job.echo_factor == 2
    run, plain = TrialRun(job, workload), TrialRun(replace(job, timing=None), workload)
    assert [one.values for one in run.evaluations()] == [one.values for one in plain.evaluations()]
    assert run.clocks.input_wait_s > 0


def test_adaptive_trials_are_evaluated_on_the_grid_of_fresh_examples(timed_jobs, workload):
    job = next(one for one in timed_jobs if one.is_adaptive)
    job = replace(job, stop="exhaustive", timing=replace(job.timing, R=3.0))
    job = replace(job, metaparameters={"learning_rate": 0.03, "momentum": 0.9})
    run = TrialRun(job, workload)
    at = [one.fresh_examples for one in run.evaluations()]
    assert len(at) == 4
    assert all(point <= fresh < point + 32 for point, fresh in zip((256, 512, 768, 1024), at, strict=True))
    assert run.done[-1].values["examples_consumed"] > run.done[-1].fresh_examples, "it echoed"


def test_the_next_evaluation_tells_the_rank_it_would_give_at_the_best(timed_jobs):
    adaptive = EvaluationGrid(next(one for one in timed_jobs if one.is_adaptive))
    first = adaptive.after(0, 0)
    assert first.rank == Rank(256.0, 1, 0)
    assert [first.is_due(7, 255), first.is_due(8, 256)] == [False, True]
    assert adaptive.after(40, 1023).fresh_examples == 1024
    assert adaptive.after(41, 1025) is None
    fixed = EvaluationGrid(timed_jobs[2])
    assert fixed.after(0, 0).updates == 16
    assert fixed.after(64, 1024) is None


def test_a_budget_that_is_no_multiple_of_the_interval_ends_the_grid(timed_jobs):
    job = replace(timed_jobs[-1], evaluate_every=Fraction(300), budget_fresh_examples=Fraction(700))
    assert job.is_adaptive
    points = [EvaluationGrid(job).after(1, fresh).fresh_examples for fresh in (0, 299, 300, 650)]
    assert points == [300, 300, 600, 700]


def test_a_source_as_fast_as_it_comes_is_the_data_themselves(workload):
    source = slowed(workload.train_data(), Timing(0), 32, SourceClock())
    assert isinstance(source, MemorySource)
    assert slowed(source, Timing(0), 32, SourceClock()) is source


@pytest.mark.slow
def test_an_update_is_measured_in_a_process_of_its_own(plan, stored):
    seconds = update_seconds(plan, winners(plan, stored))
    assert list(seconds) == [32]
    assert 1e-4 < seconds[32] < 1
    assert np.isfinite(seconds[32])


def test_adaptive_echoing_needs_a_ceiling_and_a_table_of_points():
    for setting, sentence in (
        ("conditions.echo_factor=[1]", "'timing.adaptive' needs an echo factor above 1 for its ceiling"),
        ("search.sampler=tpe", "'timing.adaptive' needs a table of points, which tpe has not"),
    ):
        with pytest.raises(UserError, match=sentence):
            load_spec("study/specs/digits.yaml", [*SETTINGS, setting])
