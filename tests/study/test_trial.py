"""The training loop on real digits: its evaluation grid, its outcomes, its stop rules, and exact resume."""

import itertools
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from study.job import TrialJob
from study.plan import make_plan
from study.result import Outcome, Rank
from study.spec import load_spec
from study.trial import TrialRun
from study.workloads.digits import DigitsConvnet

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def workload():
    return DigitsConvnet()


@pytest.fixture(scope="module")
def jobs() -> dict[str, TrialJob]:
    """Point 0 of repeat 0 at a sound metaparameter point, by insertion point."""
    spec = load_spec("study/specs/digits.yaml", ["budget.fresh_examples=2048", "budget.evaluate_every=512"])
    plan = make_plan(spec)
    return {
        trial.search.condition.insertion_point: replace(
            TrialJob.of(trial, spec), metaparameters={"learning_rate": 0.035, "momentum": 0.954}
        )
        for trial in plan.trials
        if trial.point == 0 and trial.search.repeat == 0
    }


def finish(job, workload, **options) -> TrialRun:
    run = TrialRun(job, workload, **options)
    assert list(run.evaluations()) == run.done
    return run


@given(
    batch_size=st.integers(1, 300),
    factor=st.sampled_from([1.0, 1.5, 2.0, 3.0, 2.7, 16.0]),
    every=st.integers(10, 400),
    budget=st.integers(300, 3000),
)
def test_evaluations_come_first_at_or_past_each_point_of_a_grid_of_fresh_examples(
    jobs, batch_size, factor, every, budget
):
    job = replace(
        jobs["before_augmentation"],
        batch_size=batch_size,
        echo_factor=factor,
        evaluate_every=every,
        budget_fresh_examples=budget,
    )
    expected, updates = [], 0
    for point in [*range(every, budget, every), budget]:
        while updates * batch_size < job.echo.ratio * point:
            updates += 1
        if updates not in expected[-1:]:
            expected.append(updates)
    assert list(job.evaluation_updates()) == expected


def test_seeds_do_not_depend_on_the_echo_settings(jobs):
    seeds = {(job.initialisation_seed, job.stream_seed) for job in jobs.values()}
    assert len(jobs) == 4
    assert len(seeds) == 1


def test_loss_falls_and_the_ledger_is_kept_at_every_insertion_point(jobs, workload):
    for job in jobs.values():
        run = finish(replace(job, stop="exhaustive"), workload)
        values = [evaluation.values for evaluation in run.done]
        assert values[-1]["train_loss"] < values[0]["train_loss"]
        assert [evaluation.fresh_examples for evaluation in run.done] == [512.0, 1024.0, 1536.0, 2048.0]
        assert values[-1]["examples_consumed"] == 2048 * job.echo_factor
        assert values[-1]["updates"] == 2048 * job.echo_factor / 32


def test_broken_records_that_were_left_out_are_on_the_curve_and_nothing_is_where_there_were_none(jobs):
    class Damaged(DigitsConvnet):
        def __init__(self):
            super().__init__()
            self.skipped = 3

    for workload, expected in ((Damaged(), 3), (DigitsConvnet(), None)):
        run = finish(jobs["none"], workload)
        assert [one.values.get("skipped") for one in run.done] == [expected] * 4


def test_a_trial_that_spends_its_budget_has_missed(jobs, workload):
    run = finish(jobs["none"], workload)
    assert run.outcome is Outcome.MISSED
    assert run.done[-1].fresh_examples == 2048


def test_a_trial_stops_where_it_reaches_the_target_unless_the_study_is_exhaustive(jobs, workload):
    easy = replace(jobs["none"], target=replace(jobs["none"].target, value=0.09))
    racing = finish(easy, workload)
    everything = finish(replace(easy, stop="exhaustive"), workload)
    assert racing.outcome is everything.outcome is Outcome.REACHED
    assert racing.done == everything.done[: len(racing.done)]
    assert len(racing.done) < len(everything.done)


def test_a_trial_that_can_no_longer_win_is_beaten(jobs, workload):
    bound = Rank(512.0, 16, point=3)
    run = finish(jobs["none"], workload, bound=bound)
    assert run.outcome is Outcome.BEATEN
    assert run.done[-1].fresh_examples == 512
    patient = finish(replace(jobs["none"], stop="at_target"), workload, bound=bound)
    assert patient.outcome is Outcome.MISSED


def test_a_learning_rate_far_too_high_diverges(jobs, workload):
    job = replace(jobs["none"], metaparameters={"learning_rate": 1e12, "momentum": 0.9})
    run = finish(job, workload)
    assert run.outcome is Outcome.DIVERGED
    assert all(torch.isfinite(torch.tensor(list(e.values.values()))).all() for e in run.done)


@pytest.mark.parametrize(
    "insertion_point", ["none", "before_augmentation", "after_augmentation", "after_batching"]
)
def test_an_interrupted_trial_ends_bit_for_bit_as_an_uninterrupted_one(
    jobs, workload, insertion_point, tmp_path
):
    job = replace(jobs[insertion_point], stop="exhaustive")
    whole = finish(job, workload)
    for stop_after in range(1, len(whole.done)):
        first = TrialRun(job, workload)
        for _ in itertools.islice(first.evaluations(), stop_after):
            pass
        torch.save(first.state_dict(), tmp_path / "state.pt")
        torch.rand(7)
        second = TrialRun(job, workload)
        second.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
        list(second.evaluations())
        assert second.done == whole.done
        assert second.outcome is whole.outcome
        for ours, theirs in zip(
            second.state_dict()["model"].values(), whole.state_dict()["model"].values(), strict=True
        ):
            assert torch.equal(ours, theirs)


def test_the_state_of_another_trial_is_refused(jobs, workload):
    state = TrialRun(jobs["none"], workload).state_dict()
    with pytest.raises(ValueError, match=f"state of trial {jobs['none'].trial_id}, not of"):
        TrialRun(jobs["after_batching"], workload).load_state_dict(state)
