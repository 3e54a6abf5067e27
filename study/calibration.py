"""What an update and an evaluation take here, measured in seconds of training and kept beside the results.

One entry a workload, batch size and kind of slot; the newest counts. Times are those of one slot, alone.
"""

from __future__ import annotations

import io
import json
import os
import platform
from dataclasses import asdict, dataclass, replace
from typing import Any

from study.clocks import Clocks
from study.folder import ResultsFolder
from study.plan import Condition, Plan
from study.spec import StudySpec

FILE = "calibration.json"
LONG_ENOUGH_S = 3.0
"""Seconds of training that a calibration takes at least, beside loading; it ends at an evaluation."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Seconds of an update (its wait for the batch included) and of an evaluation; bytes of a checkpoint."""

    update_s: float
    evaluation_s: float
    checkpoint_bytes: int


class Calibrations:
    """The calibrations kept in a results folder."""

    def __init__(self, results: ResultsFolder) -> None:
        self._file = results.root / FILE

    def find(self, spec: StudySpec, batch_size: int) -> Calibration | None:
        """The calibration of the study's workload at a batch size; None if there is none yet."""
        found = self._read().get(_key(spec, batch_size))
        return None if found is None else Calibration(**found)

    def keep(self, spec: StudySpec, batch_size: int, calibration: Calibration) -> None:
        """Add or replace an entry; the file is replaced in one step."""
        entries = self._read() | {_key(spec, batch_size): asdict(calibration)}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        part = self._file.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(entries, indent=2, sort_keys=True), encoding="utf-8")
        os.replace(part, self._file)

    def _read(self) -> dict[str, dict[str, Any]]:
        """The entries; none if the file is missing or damaged: it costs seconds to measure anew."""
        try:
            entries = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return entries if isinstance(entries, dict) else {}


def _key(spec: StudySpec, batch_size: int) -> str:
    """What the times depend on: workload, batch size, the slot, and the machine's kind of processor."""
    resources = spec.resources
    slot = f"cpu={resources.cpu:g} gpu={resources.gpu:g}"
    return f"{spec.workload} b={batch_size} {slot} {platform.machine()}"


def calibrate(plan: Plan, results: ResultsFolder) -> None:
    """Measure, and keep, what is missing for a plan: one baseline trial a batch size, for some seconds.

    Trains in this process, with the threads of a slot; leaves no result and no checkpoint behind.
    """
    kept = Calibrations(results)
    for condition in plan.conditions:
        if condition.is_baseline and kept.find(plan.spec, condition.batch_size) is None:
            kept.keep(plan.spec, condition.batch_size, _measure(plan, condition))


def _measure(plan: Plan, condition: Condition) -> Calibration:
    """Train the condition's first trial for some seconds; what comes before its first evaluation warms up."""
    import torch

    from study.job import TrialJob
    from study.trial import TrialRun
    from study.workloads.load import load_workload

    resources = plan.spec.resources
    torch.set_num_threads(max(1, int(resources.cpu)))
    search = next(one for one in plan.searches if one.condition == condition)
    job = TrialJob.of(plan.trials_of(search)[0], plan.spec)
    gpu = resources.gpu > 0 and torch.cuda.is_available()
    run = TrialRun(job, load_workload(job.workload, job.options), torch.device("cuda" if gpu else "cpu"))
    evaluations = run.evaluations()
    first = next(evaluations, None)
    before, updates = replace(run.clocks), first.updates if first else 0
    for _ in evaluations:
        if run.clocks.training_s - before.training_s >= LONG_ENOUGH_S:
            break
    evaluations.close()
    state = io.BytesIO()
    torch.save(run.state_dict(), state)
    done = run.done[1:]
    if not done:  # it ended at its first evaluation: the warm-up is all there is
        before, updates, done = Clocks(), 0, run.done
    spent = run.clocks.input_wait_s + run.clocks.update_s - before.input_wait_s - before.update_s
    return Calibration(
        update_s=spent / max(1, (done[-1].updates if done else next(job.evaluation_updates())) - updates),
        evaluation_s=(run.clocks.evaluation_s - before.evaluation_s) / max(1, len(done)),
        checkpoint_bytes=state.tell(),
    )
