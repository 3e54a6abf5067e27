"""The sweep as a Ray Tune experiment: a searcher, a scheduler and a callback, each a few lines.

Tune asks the searcher for the next trial, runs it in a reused process (`study.worker`), and shows every
report first to the scheduler, which stops beaten trials, then to the callback, which keeps the report.
"""

from __future__ import annotations

import logging
import shutil
import tempfile
from pathlib import Path
from typing import Any

from ray import tune
from ray.tune import Callback
from ray.tune.experiment import Trial as TuneTrial
from ray.tune.schedulers import FIFOScheduler, TrialScheduler
from ray.tune.search import ConcurrencyLimiter, Searcher

from study.clientside import fit_here
from study.job import TrialJob
from study.record import TrialReport
from study.sweep import LimitError, Sweep
from study.worker import TrialWorker
from study.workloads.carried import carried_text

SCRATCH = ".tune-"
"""Begins the name of Tune's own folder; one that is there before we begin is of a driver that died."""

NODE_IS_GONE = (
    "node has died",
    "node died",
    "node was preempted",
    "ActorUnschedulableError",
    "NodeDiedError",
)
"""Parts of what Ray says where the machine, and not the trial, is to blame."""


class PlanSearcher(Searcher):
    """Hands out the sweep's waiting trials in turn, each with its search's best rank at that moment.

    A trial that is raced in rungs is a Tune trial in every rung: it goes on from its own checkpoint.
    """

    def __init__(self, sweep: Sweep) -> None:
        super().__init__()
        self._sweep = sweep

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """The next trial's config; None if there is none until a running one reports; or that all is over."""
        turn = self._sweep.next()
        if turn is None:
            return str(Searcher.FINISHED) if self._sweep.is_over else None
        trial, until = turn
        return {
            "job": TrialJob.of(trial, self._sweep.plan.spec),
            "bound": self._sweep.race.best(trial.search.id),
            "until": until,
        }

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Nothing to learn: the order is the plan's."""

    def save(self, checkpoint_path: str) -> None:
        """Nothing to save: a sweep is rebuilt from its plan and the store."""


class RacingScheduler(FIFOScheduler):
    """Stops a trial once it is beaten; see `study.racing` for why that is exact."""

    def __init__(self, sweep: Sweep) -> None:
        super().__init__()
        self._sweep = sweep

    def on_trial_result(self, tune_controller: object, trial: TuneTrial, result: dict[str, Any]) -> str:
        """Tune's question after every report of a trial that goes on."""
        beaten = self._sweep.is_beaten(result["report"])
        return str(TrialScheduler.STOP if beaten else TrialScheduler.CONTINUE)


class ReportKeeper(Callback):
    """Passes reports and dead processes on to the sweep."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep

    def on_trial_result(
        self, iteration: int, trials: list[TuneTrial], trial: TuneTrial, result: dict[str, Any], **info: Any
    ) -> None:
        """Called after the scheduler, which marks a trial it stops as done."""
        report: TrialReport = result.pop("report")
        self._sweep.add(report, stopped=result["done"] and report.outcome is None and not report.paused)

    def on_trial_error(self, iteration: int, trials: list[TuneTrial], trial: TuneTrial, **info: Any) -> None:
        """The trial's process or node died (a trial that raises reports it as its outcome instead)."""
        trial_id, text = trial.config["job"].trial_id, str(trial.get_error() or "no reason given").strip()
        if any(sign in text for sign in NODE_IS_GONE):
            self._sweep.lost(trial_id)
        else:
            self._sweep.crash(trial_id, f"its process died: {text.splitlines()[-1]}")


def run_trials(sweep: Sweep, slots: int) -> None:
    """Run all waiting trials of a sweep on the connected Ray, `slots` at a time."""
    if sweep.is_over:
        return
    resources = sweep.plan.spec.resources
    logging.getLogger("ray.tune").setLevel(logging.CRITICAL)  # what it says of lost processes, the sweep says
    for left_behind in sweep.folder.glob(f"{SCRATCH}*"):
        shutil.rmtree(left_behind, ignore_errors=True)
    scratch = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=sweep.folder))
    try:
        fit_here(
            scratch,
            trainable=tune.with_resources(TrialWorker, {"cpu": resources.cpu, "gpu": resources.gpu}),
            param_space={
                "storage": sweep.storage,
                "text": carried_text(sweep.plan.spec.workload),
                "threads": max(1, int(resources.cpu)),
                "gpu": resources.gpu > 0,
            },
            tune_config=tune.TuneConfig(
                search_alg=ConcurrencyLimiter(PlanSearcher(sweep), max_concurrent=slots),
                scheduler=RacingScheduler(sweep),
                num_samples=-1,
                reuse_actors=True,
                trial_name_creator=_job_id,
                trial_dirname_creator=_folder_name,
            ),
            run_config=tune.RunConfig(
                name=scratch.name,
                storage_path=str(scratch),
                verbose=0,
                callbacks=[ReportKeeper(sweep)],
                checkpoint_config=tune.CheckpointConfig(checkpoint_at_end=False),
            ),
        )
    except Exception:
        if sweep.stop_reason:
            raise LimitError(sweep.stop_reason) from None
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _job_id(trial: TuneTrial) -> str:
    return str(trial.config["job"].trial_id)


def _folder_name(trial: TuneTrial) -> str:
    return f"{_job_id(trial)}-{trial.config['until']}"
