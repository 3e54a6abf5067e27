"""What a workload is: data, augmentation, model, loss, metrics and optimizer family.

A new workload is one subclass in one file and one card in `study.workloads.registry`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor, nn

from pipelines import Augmentation


class Workload(ABC):
    """A task to train: constructed once a process, then shared by all its trials; it must not change.

    Everything random a workload does (initialisation, dropout) draws from torch's global generator, which
    the trial seeds before `model` is called; augmentation draws come from the pipeline.
    """

    augment: Augmentation | None = None

    @abstractmethod
    def train_data(self) -> tuple[Tensor, Tensor]:
        """Training inputs and targets, examples on the first axis."""

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


def nesterov(model: nn.Module, metaparameters: Mapping[str, float]) -> torch.optim.Optimizer:
    """SGD with Nesterov momentum at a constant learning rate (plain SGD where momentum is 0 or not given)."""
    momentum = metaparameters.get("momentum", 0.0)
    return torch.optim.SGD(
        model.parameters(),
        lr=metaparameters["learning_rate"],
        momentum=momentum,
        weight_decay=metaparameters.get("weight_decay", 0.0),
        nesterov=momentum > 0,
        fused=True,
    )


def classification_metrics(model: nn.Module, inputs: Tensor, targets: Tensor) -> dict[str, float]:
    """`valid_accuracy` (share of right answers) and `valid_loss` (mean cross entropy, nats)."""
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        logits = model(inputs)
        metrics = {
            "valid_accuracy": (logits.argmax(1) == targets).double().mean().item(),
            "valid_loss": nn.functional.cross_entropy(logits, targets).item(),
        }
    model.train(was_training)
    return metrics
