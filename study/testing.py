"""Checks for tests, of this project and of yours: what a trial of any workload must hold."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from study.job import TrialJob
from study.plan import make_plan
from study.result import Outcome, Target
from study.specmodel import StudySpec
from study.trial import TrialRun
from study.workloads.base import Workload

UNREACHABLE = float("inf")


def short_jobs(
    spec: StudySpec, *, updates: int, evaluations: int = 2, metaparameters: dict[str, float] | None = None
) -> Iterator[TrialJob]:
    """One short trial of each of a study's conditions, which spends its whole budget.

    Args:
        spec: the study; each job is the first point of the first repeat, of one of its conditions.
        updates: how many the baseline makes; echoing makes more.
        evaluations: how many there are, evenly spaced.
        metaparameters: a point that trains well; None = the study's own first point.
    """
    for trial in make_plan(spec).trials:
        if trial.point or trial.search.repeat:
            continue
        job = TrialJob.of(trial, spec)
        fresh = updates * job.batch_size
        sign = 1 if job.target.higher_is_better else -1
        yield replace(
            job,
            metaparameters=metaparameters or job.metaparameters,
            target=Target(job.target.metric, sign * UNREACHABLE, job.target.higher_is_better),
            budget_fresh_examples=fresh,
            evaluate_every=max(1, fresh // evaluations),
            stop="exhaustive",
        )


def finished(workload: Workload, job: TrialJob) -> TrialRun:
    """The trial, run to its end."""
    run = TrialRun(job, workload)
    list(run.evaluations())
    return run


def assert_loss_falls(run: TrialRun) -> None:
    """`AssertionError` unless the trial spent its budget, and its training loss fell."""
    losses = [evaluation.values["train_loss"] for evaluation in run.done]
    _require(run.outcome is Outcome.MISSED, f"ended as {run.outcome} and not at its budget")
    _require(losses[-1] < losses[0], f"has a training loss that does not fall: {losses}")


def assert_resumes_exactly(workload: Workload, job: TrialJob) -> TrialRun:
    """`AssertionError` unless an interrupted trial ends bit for bit as an uninterrupted one.

    Takes its state after every evaluation but the last, through a file's bytes. The uninterrupted trial.
    """
    whole = TrialRun(job, workload)
    states = [_bytes(whole.state_dict()) for _ in whole.evaluations()]
    theirs = whole.state_dict()["model"]
    for number, state in enumerate(states[:-1], start=1):
        torch.rand(7)
        resumed = TrialRun(job, workload)
        resumed.load_state_dict(torch.load(io.BytesIO(state), weights_only=True))
        list(resumed.evaluations())
        after = f"resumed after evaluation {number}"
        _require(resumed.done == whole.done, f"{after} has another curve")
        _require(resumed.outcome is whole.outcome, f"{after} has another outcome")
        for name, weights in resumed.state_dict()["model"].items():
            _require(torch.equal(weights, theirs[name]), f"{after} has other weights: {name}")
    return whole


def _bytes(state: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(f"The trial {what}.")
