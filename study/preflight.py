"""What needs the workload itself before a sweep may write anything: checks, and the data's provenance."""

from __future__ import annotations

import torch

from study.errors import SettingError
from study.plan import Plan
from study.provenance import provenance
from study.trial import TrialJob
from study.workloads.base import Workload
from study.workloads.load import load_workload


def preflight(plan: Plan) -> dict[str, str]:
    """Load the plan's workload, check its target, and return the study's provenance tags."""
    workload = load_workload(plan.spec.workload)
    check_target(plan, workload)
    return provenance(workload.train_data())


def check_target(plan: Plan, workload: Workload) -> None:
    """Evaluate the untrained model of every repeat's first point; `SettingError` if one passes."""
    rule = plan.spec.rule
    for trial in plan.trials:
        if trial.point or not trial.search.condition.is_baseline:
            continue
        torch.manual_seed(TrialJob.of(trial, plan.spec).initialisation_seed)
        value = workload.evaluate(workload.model(), torch.device("cpu"))[rule.metric]
        if rule.is_reached_by(value):
            side = "above" if rule.higher_is_better else "below"
            raise SettingError(
                ("target", "value"),
                f"is {rule.value:g}, but the untrained model already has {rule.metric} {value:.4g}; "
                f"choose a value {side} that.",
            )
