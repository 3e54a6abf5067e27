"""A sweep in this very process, a trial at a time: for studies that are over before a Ray has started."""

from __future__ import annotations

from study.job import TrialJob
from study.slot import Slot
from study.sweep import Sweep


def run_trials_here(sweep: Sweep) -> None:
    """Run all waiting trials of a sweep; a GPU is used if the study asks for one and there is one.

    Raises:
        LimitError: a limit of the study ends the run.
    """
    spec = sweep.plan.spec
    slot = Slot(sweep.storage, threads=max(1, int(spec.resources.cpu)), gpu=spec.resources.gpu > 0)
    while (turn := sweep.next()) is not None:
        trial, until = turn
        slot.begin(TrialJob.of(trial, spec), sweep.race.best(trial.search.id), until)
        over = False
        while not over:
            report = slot.step()
            over = report.outcome is not None or report.paused
            beaten = not over and sweep.is_beaten(report)
            sweep.add(report, stopped=beaten)
            over = over or beaten
