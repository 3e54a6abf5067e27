"""What a workload is: data, augmentation, model, loss, metrics, optimizer family and schedule.

A new workload is one subclass in one file, and one card in `study.workloads.cards`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from pipelines import Augmentation, MapSource, StreamSource
from study.schedules import Schedule, constant
from study.workloads.card import NESTEROV, Metric
from study.workloads.options import WorkloadOptions

TrainData = tuple[Tensor, Tensor] | MapSource | StreamSource
"""A pair in memory goes to the index engine, a source to the streaming engine; the stream is the same."""

Loss = Callable[[nn.Module, Tensor, Tensor], Tensor]
"""model, inputs, targets -> the scalar mean training loss of one batch."""


class Workload(ABC):
    """A task to train: constructed once a process, then shared by all its trials; it must not change.

    Everything random a workload does (initialisation, dropout) draws from torch's global generator, which
    the trial seeds before `model` is called; augmentation draws come from the pipeline.

    Attributes:
        augment: the augmentation of training batches, an attribute of the class; None = there is none.
        summary, metrics, metaparameters, required_metaparameters: what a card says (`study.workloads.card`),
            for a user's own workload, which has no card. `metrics` must then be given.
        skipped: broken records left out so far, under `on_error: skip`; a stream's are in its ledger.
    """

    augment: Augmentation | None = None
    summary: ClassVar[str] = ""
    metrics: ClassVar[Mapping[str, Metric]] = {}
    metaparameters: ClassVar[Sequence[str]] = NESTEROV
    required_metaparameters: ClassVar[Sequence[str]] = ("learning_rate",)
    skipped: int = 0

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        self.options = options

    @abstractmethod
    def train_data(self) -> TrainData:
        """Training inputs and targets, examples on the first axis; or a source of them.

        Called once a trial; tensors and sources may be shared between trials.
        """

    @abstractmethod
    def model(self) -> nn.Module:
        """A freshly initialised model."""

    @abstractmethod
    def loss(self, model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
        """The scalar mean training loss of one batch."""

    @abstractmethod
    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """The metrics named on the workload's card, on the whole validation set."""

    @abstractmethod
    def optimizer(self, model: nn.Module, metaparameters: Mapping[str, float]) -> torch.optim.Optimizer:
        """The workload's optimizer at one metaparameter point."""

    def schedule(self, metaparameters: Mapping[str, float]) -> Schedule:
        """The factor on the optimizer's learning rate before each update; constant unless overridden."""
        return constant

    def loss_at(self, metaparameters: Mapping[str, float]) -> Loss:
        """The training loss at one metaparameter point; `loss` itself unless a metaparameter shapes it."""
        return self.loss
