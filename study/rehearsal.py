"""One update and one evaluation of a user's own workload, part by part: each fault has its sentence."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from pipelines import MapSource, Pipeline, StreamSource
from study.job import TrialJob
from study.wording import kind
from study.workloads.base import TrainData, Workload
from study.workloads.card import WorkloadCard
from study.workloads.own import WorkloadError, blamed_on
from study.workloads.reference import workload_name


def train_data_of(workload: Workload, name: str) -> TrainData:
    """What `train_data` gives, if a pipeline can take it.

    Raises:
        UserError: it cannot, or the data cannot be read.
    """
    with blamed_on(name, "train_data"):
        data = workload.train_data()
    _check_data(name, data)
    return data


def rehearse(workload: Workload, data: TrainData, job: TrialJob, card: WorkloadCard) -> None:
    """Do once on the CPU what a trial does again and again.

    Raises:
        WorkloadError: a part fails, or gives what no trial could use.
    """
    own, metaparameters = card.factory, job.metaparameters
    late = not card.augments and workload.augment is not None
    _require(own, not late, "augment is set in __init__", "set it in the class, where plan can see it.")
    torch.manual_seed(job.initialisation_seed)
    with blamed_on(own, "model"):
        model = workload.model()
    _require(own, isinstance(model, nn.Module), f"model gives {kind(model)}", "return a torch.nn.Module.")
    model.train()
    with blamed_on(own, "optimizer"):
        optimizer = workload.optimizer(model, metaparameters)
    is_optimizer = isinstance(optimizer, torch.optim.Optimizer)
    _require(own, is_optimizer, f"optimizer gives {kind(optimizer)}", "return a torch.optim.Optimizer.")
    with blamed_on(own, "schedule"):
        factor = workload.schedule(metaparameters)(0)
    _require(own, isinstance(factor, float | int), f"schedule gives {kind(factor)}", "let it give a number.")
    with (
        blamed_on(own, "reading and augmenting a first batch"),
        Pipeline(data, batch_size=job.batch_size, augment=workload.augment, seed=job.stream_seed) as pipeline,
    ):
        batch = next(pipeline)
    shapes = f"inputs {_shape(batch.inputs)} and targets {_shape(batch.targets)}"
    with blamed_on(own, f"loss of {shapes}"):
        loss = workload.loss_at(metaparameters)(model, batch.inputs, batch.targets)
    is_scalar = isinstance(loss, Tensor) and loss.ndim == 0
    _require(own, is_scalar, f"loss gives {kind(loss)} {_shape(loss)}", "return the mean, a scalar tensor.")
    with blamed_on(own, "the update"):
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with blamed_on(own, "evaluate"):
        measured = workload.evaluate(model, torch.device("cpu"))
    _check_metrics(own, card, measured)


def _check_data(own: str, data: TrainData) -> None:
    if isinstance(data, MapSource | StreamSource):
        return
    is_pair = isinstance(data, tuple) and len(data) == 2 and all(isinstance(part, Tensor) for part in data)
    _require(own, is_pair, f"train_data gives {kind(data)}", "return a tuple of two tensors, or a source.")
    inputs, targets = data
    sizes = f"train_data gives inputs {_shape(inputs)} and targets {_shape(targets)}"
    alike = inputs.ndim > 0 and targets.ndim > 0 and len(inputs) == len(targets) > 0
    _require(own, alike, sizes, "give as many of both, at least one, on the first axis.")


def _check_metrics(own: str, card: WorkloadCard, measured: Any) -> None:
    is_dict = isinstance(measured, dict)
    _require(own, is_dict, f"evaluate gives {kind(measured)}", "return a dict from metric to number.")
    for name in card.metrics:
        _require(
            own, name in measured, f"evaluate leaves out {name}", "return it, or take it out of metrics."
        )
        value = measured[name]
        is_number = isinstance(value, float | int) and not isinstance(value, bool)
        _require(own, is_number, f"evaluate gives {kind(value)} as {name}", "return a float (.item()).")


def _require(own: str, holds: bool, what: str, remedy: str) -> None:
    if not holds:
        raise WorkloadError(workload_name(own), f"{what}; {remedy}")


def _shape(value: object) -> str:
    return str(list(getattr(value, "shape", [])))
