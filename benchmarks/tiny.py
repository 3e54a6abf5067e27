"""A workload of next to nothing, for `bench_sweep.py`: a linear model, milliseconds a trial."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from study.workloads.base import Workload
from study.workloads.card import Metric


class Tiny(Workload):
    """Regression on 256 points; what it learns is of no interest."""

    metrics = {"valid_loss": Metric(higher_is_better=False, low=0, high=float("inf"))}  # noqa: RUF012

    def train_data(self) -> tuple[Tensor, Tensor]:
        """Inputs [256, 4], targets [256, 1]."""
        inputs = torch.linspace(-1, 1, 1024).reshape(256, 4)
        return inputs, inputs.sum(dim=1, keepdim=True)

    def model(self) -> nn.Module:
        """Five weights."""
        return nn.Linear(4, 1)

    def loss(self, model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
        """Mean squared error."""
        return nn.functional.mse_loss(model(inputs), targets)

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """The loss on the training data."""
        inputs, targets = self.train_data()
        with torch.no_grad():
            return {"valid_loss": self.loss(model, inputs.to(device), targets.to(device)).item()}

    def optimizer(self, model: nn.Module, metaparameters: Mapping[str, float]) -> torch.optim.Optimizer:
        """Gradient descent."""
        return torch.optim.SGD(model.parameters(), lr=metaparameters["learning_rate"])
