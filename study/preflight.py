"""What needs the workload itself before a sweep may write anything: checks, and the data's provenance."""

from __future__ import annotations

from collections.abc import Sequence

import psutil
import torch

from pipelines import MapSource
from study.data.reading import readable
from study.errors import SettingError
from study.job import TrialJob
from study.memory import check_gpu_memory, check_memory
from study.provenance import provenance
from study.rehearsal import rehearse, train_data_of
from study.spec import Resources
from study.trial import TrialRun
from study.workloads.base import TrainData, Workload
from study.workloads.load import load_workload
from study.workloads.reference import is_own, workload_name
from study.workloads.registry import workload_card


@readable()
def preflight(jobs: Sequence[TrialJob]) -> dict[str, str]:
    """Load the workload of some trials, check it and their settings; the study's provenance tags.

    The target is checked where the data are in memory. Behind a source lie large data: there, the first
    evaluation of the first trial tells.

    Raises:
        UserError: data are missing or cannot be read, a user's own workload fails, or a setting cannot be.
    """
    first = jobs[0]
    workload = load_workload(first.workload, first.options)
    data = train_data_of(workload, first.workload)
    for job in jobs:
        check_batch_size(job, data)
    if is_own(first.workload):
        rehearse(workload, data, first, workload_card(first.workload))
    if isinstance(data, tuple):
        for job in jobs:
            check_target(job, workload)
    return provenance(data)


def check_room(largest: TrialJob, resources: Resources, at_a_time: int) -> None:
    """See that memory is enough, after a `preflight` in this process.

    On the machine, for so many processes like this one `at_a_time`; and on the GPU, where the study asks for
    one and it is there, for an update of the `largest` trial.

    Raises:
        SettingError: it is not.
    """
    used = psutil.Process().memory_full_info().uss
    check_memory(used, at_a_time, psutil.virtual_memory().total)
    if resources.gpu and torch.cuda.is_available():
        device = torch.device("cuda")
        workload = load_workload(largest.workload, largest.options)
        torch.cuda.reset_peak_memory_stats(device)
        TrialRun(largest, workload, device).rehearse()
        peak = torch.cuda.max_memory_reserved(device)
        total = torch.cuda.get_device_properties(device).total_memory
        check_gpu_memory(peak, largest.batch_size, resources.gpu, total)


def check_batch_size(job: TrialJob, data: TrainData) -> None:
    """`SettingError` if there are fewer examples than in a batch; streams are not counted beforehand."""
    if isinstance(data, tuple):
        examples = len(data[0])
    elif isinstance(data, MapSource):
        examples = data.examples
    else:
        return
    if job.batch_size > examples:
        raise SettingError(
            ("conditions", "batch_size"),
            f"is {job.batch_size}, but {workload_name(job.workload)} has {examples} training examples here; "
            "lower it, or get all of the data.",
        )


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
