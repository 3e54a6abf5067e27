"""One trial after another in one process: what a slot's worker does, whoever started the process.

A trial that raises does not take the process down: the error becomes its outcome.
"""

from __future__ import annotations

import math
import os
import time
import traceback
from collections.abc import Generator
from dataclasses import replace

import torch

from study.checkpoint import Checkpoint
from study.clocks import Clocks
from study.job import TrialJob
from study.memory import ADVICE, is_out_of_memory
from study.record import TrialReport
from study.result import Evaluation, Outcome, Rank
from study.storage import Storage
from study.trial import TrialRun
from study.workloads.base import Workload
from study.workloads.load import load_workload
from study.workloads.options import WorkloadOptions

REPORT_EVERY_S = 1.0
"""A report costs milliseconds of the driver's time, and tells a trial that it is beaten."""

CHECKPOINT_EVERY_S = 20.0

LEAST_TURN_S = 2.0
"""Laying a trial aside and going on with it costs about 0.06 s: too much for trials of a second or two."""


def prepare(threads: int, *, gpu: bool) -> torch.device:
    """Prepare a process for training, with so many CPU threads and reproducible kernels; the device to use.

    `gpu`: use the one that is visible (some GPU kernels have no reproducible form: those are used all the
    same).
    """
    device = torch.device("cuda" if gpu and torch.cuda.is_available() else "cpu")
    torch.set_num_threads(threads)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # without it, cuBLAS is not reproducible
    torch.use_deterministic_algorithms(True, warn_only=device.type == "cuda")
    return device


class Slot:
    """A process's trials: they share the loaded workloads, and what it cost to load them.

    Prepares the process (`prepare`). `storage` is for checkpoints. No trial is laid aside before it has had
    its slot for `least_turn_s`, and a timed one keeps no checkpoint.
    """

    def __init__(
        self, storage: Storage, *, threads: int, gpu: bool, least_turn_s: float = LEAST_TURN_S
    ) -> None:
        self._device = prepare(threads, gpu=gpu)
        self._storage = storage
        self._least_turn_s = least_turn_s
        self._workloads: dict[tuple[str, WorkloadOptions], Workload] = {}
        self._slot_since = time.perf_counter()
        self._trials = 0

    def begin(self, job: TrialJob, bound: Rank | None, until: int | None = None) -> None:
        """Take the next trial; `bound` is the best rank of its search so far.

        After `until` evaluations (or more, see `least_turn_s`) it is laid aside with its checkpoint, and
        another slot may go on with it.
        """
        self._until = math.inf if until is None else until
        self._lay_aside_from = time.perf_counter() + self._least_turn_s
        self._trials += 1
        self._job, self._bound = job, bound
        self._checkpoint = Checkpoint(self._storage, job.trial_id)
        self._checkpoint_at = time.perf_counter() + CHECKPOINT_EVERY_S
        self._run: TrialRun | None = None
        self._evaluations = _nothing()
        self._reported = 0
        self._slot_s = 0.0

    def step(self) -> TrialReport:
        """Train until there is something to report: the end, or `REPORT_EVERY_S` later."""
        report_at = time.perf_counter() + REPORT_EVERY_S
        try:
            run = self._run or self._start()
            while run.outcome is None and not self._is_over(run) and time.perf_counter() < report_at:
                if next(self._evaluations, None) is not None:
                    self._checkpoint_if_due(run)
            return self._report(run, run.outcome)
        except Exception as error:  # whatever a workload raises is its trial's outcome, not the sweep's end
            said = traceback.format_exception_only(error)[-1].strip()
            if is_out_of_memory(said):
                report = self._report(self._run, Outcome.OUT_OF_MEMORY, f"{said}; {ADVICE}")
                self._run = None  # the next trial needs the room
                return report
            return self._report(self._run, Outcome.CRASHED, said, traceback.format_exc())

    def _report(
        self, run: TrialRun | None, outcome: Outcome | None, error: str = "", log: str = ""
    ) -> TrialReport:
        paused = run is not None and outcome is None and self._is_over(run) and self._laid_aside(run)
        now = time.perf_counter()
        self._slot_s += now - self._slot_since
        self._slot_since = now
        evaluations = run.done[self._reported :] if run else []
        report = TrialReport(
            trial_id=self._job.trial_id,
            first=self._reported,
            evaluations=tuple(evaluations),
            outcome=outcome,
            earliest=run.earliest if run and outcome in (None, Outcome.DIVERGED) else None,
            clocks=replace(run.clocks) if run else Clocks(),
            slot_s=self._slot_s,
            warm=self._trials > 1,
            error=error,
            log=log,
            paused=paused,
        )
        self._reported += len(evaluations)
        return report

    def _is_over(self, run: TrialRun) -> bool:
        """True if the trial's turn is over, and the trial itself is not."""
        return len(run.done) >= self._until and time.perf_counter() >= self._lay_aside_from

    def _start(self) -> TrialRun:
        """Build the run, or pick it up where its checkpoint left it."""
        wanted = (self._job.workload, self._job.options)
        if wanted not in self._workloads:
            self._workloads[wanted] = load_workload(*wanted)
        run = TrialRun(self._job, self._workloads[wanted], self._device, self._bound)
        state = self._checkpoint.load()
        if state is not None:
            run.load_state_dict(state)
        self._run, self._evaluations = run, run.evaluations()
        return run

    def _laid_aside(self, run: TrialRun) -> bool:
        """Keep the trial's state, and end what reads ahead for it; if it cannot be kept, go on to the end."""
        if not self._checkpoint.save(run.state_dict()):
            self._until = math.inf
            return False
        self._evaluations.close()
        return True

    def _checkpoint_if_due(self, run: TrialRun) -> None:
        if run.outcome is None and time.perf_counter() >= self._checkpoint_at and not self._job.timing:
            self._checkpoint.save(run.state_dict())
            self._checkpoint_at = time.perf_counter() + CHECKPOINT_EVERY_S


def _nothing() -> Generator[Evaluation, None, None]:
    yield from ()
