"""How long an update takes with its input at hand: what the pace of a timed trial's source is a multiple of.

Measured right before, in a process like a slot's that does nothing else: the machine's pace changes.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from dataclasses import replace
from statistics import median

from study.job import TrialJob
from study.plan import Plan, Trial
from study.timing import Timing

LONG_ENOUGH_S = 4.0
"""Seconds of updating that are measured at a batch size, at least; what comes before the first evaluation
warms up."""


def update_seconds(plan: Plan, winners: Mapping[str, Trial]) -> dict[int, float]:
    """Seconds of an update, by batch size: the median over the intervals between evaluations.

    Trains the first winner of each batch size as a timed trial does, with its source as fast as it comes; it
    leaves no result behind. Takes some seconds.
    """
    firsts: dict[int, Trial] = {}
    for trial in winners.values():
        firsts.setdefault(trial.search.condition.batch_size, trial)
    jobs = {
        size: replace(TrialJob.of(trial, plan.spec), stop="exhaustive", timing=Timing(0))
        for size, trial in firsts.items()
    }
    resources = plan.spec.resources
    with multiprocessing.get_context("spawn").Pool(1) as process:
        return {
            size: process.apply(_measure, (job, max(1, int(resources.cpu)), resources.gpu > 0))
            for size, job in jobs.items()
        }


def _measure(job: TrialJob, threads: int, gpu: bool) -> float:
    """Train in this process until it has been long enough, over and over if a trial is short."""
    from study.slot import prepare
    from study.trial import TrialRun
    from study.workloads.load import load_workload

    device = prepare(threads, gpu=gpu)
    workload = load_workload(job.workload, job.options)
    seconds: list[float] = []
    spent = 0.0
    while spent < LONG_ENOUGH_S:
        run = TrialRun(job, workload, device)
        before, updates = 0.0, 0
        for i, evaluation in enumerate(run.evaluations()):
            took, done = run.clocks.update_s - before, evaluation.updates - updates
            before, updates = run.clocks.update_s, evaluation.updates
            if i or len(seconds):
                seconds.append(took / done)
                spent += took
            elif run.outcome is not None:  # a trial of one evaluation: the next round is warm
                seconds.append(took / done)
    return median(seconds)
