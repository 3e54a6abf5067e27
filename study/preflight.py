"""What needs the workload itself before a sweep may write anything: checks, and the data's provenance."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from study.errors import SettingError
from study.job import TrialJob
from study.provenance import provenance
from study.workloads.base import Workload
from study.workloads.load import load_workload


def preflight(jobs: Sequence[TrialJob]) -> dict[str, str]:
    """Load the workload of some trials, check their target, and return the study's provenance tags."""
    workload = load_workload(jobs[0].workload)
    for job in jobs:
        check_target(job, workload)
    return provenance(workload.train_data())


def check_target(job: TrialJob, workload: Workload) -> None:
    """Evaluate the untrained model of a trial; `SettingError` if it passes the target already."""
    rule = job.target
    torch.manual_seed(job.initialisation_seed)
    value = workload.evaluate(workload.model(), torch.device("cpu"))[rule.metric]
    if rule.is_reached_by(value):
        side = "above" if rule.higher_is_better else "below"
        raise SettingError(
            ("target", "value"),
            f"is {rule.value:g}, but the untrained model already has {rule.metric} {value:.4g}; "
            f"choose a value {side} that.",
        )
