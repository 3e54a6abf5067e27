"""From a workload's name to the loaded workload."""

from __future__ import annotations

import importlib

from study.workloads.base import Workload
from study.workloads.options import WorkloadOptions
from study.workloads.own import load_own
from study.workloads.reference import is_own
from study.workloads.registry import workload_card


def load_workload(name: str, options: WorkloadOptions = WorkloadOptions()) -> Workload:
    """Import a workload and read its data.

    Raises:
        UserError: there is no such workload, its data are missing, or a user's own cannot be made.
    """
    if is_own(name):
        return load_own(name, options)
    module, _, attribute = workload_card(name).factory.partition(":")
    workload: Workload = getattr(importlib.import_module(module), attribute)(options)
    return workload
