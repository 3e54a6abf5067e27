"""What workloads that tell classes apart have in common: loss, metrics, optimizer and schedule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn

from study.schedules import Schedule, linear_decay
from study.workloads.base import Loss, Workload
from study.workloads.optimizers import nesterov


class ClassificationWorkload(Workload):
    """Cross entropy, Nesterov momentum, linear decay of the learning rate if the study asks for it.

    Understands `card.CLASSIFICATION_METAPARAMETERS`. Subclasses add the data, `model`, and `evaluate`, for
    which `classification_metrics` and `metrics_over` are at hand.
    """

    def loss(self, model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
        """Mean cross entropy in nats."""
        return nn.functional.cross_entropy(model(inputs), targets)

    def loss_at(self, metaparameters: Mapping[str, float]) -> Loss:
        """Cross entropy, with the metaparameter `label_smoothing` if it is given."""
        smoothing = metaparameters.get("label_smoothing", 0.0)
        if smoothing == 0:
            return self.loss

        def smoothed(model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
            return nn.functional.cross_entropy(model(inputs), targets, label_smoothing=smoothing)

        return smoothed

    def optimizer(self, model: nn.Module, metaparameters: Mapping[str, float]) -> torch.optim.Optimizer:
        """Nesterov momentum."""
        return nesterov(model, metaparameters)

    def schedule(self, metaparameters: Mapping[str, float]) -> Schedule:
        """Linear decay by `decay_updates` and `end_factor`; constant where the study does not search them."""
        return linear_decay(metaparameters)


def classification_metrics(
    model: nn.Module, inputs: Tensor, targets: Tensor, *, at_once: int = 4096
) -> dict[str, float]:
    """`metrics_over` data in memory, so many examples at a time."""
    starts = range(0, len(inputs), at_once)
    return metrics_over(model, ((inputs[i : i + at_once], targets[i : i + at_once]) for i in starts))


def metrics_over(model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]]) -> dict[str, float]:
    """`valid_accuracy` (share of right answers) and `valid_loss` (mean cross entropy, nats) over all batches.

    Raises:
        ValueError: there are no batches.
    """
    was_training = model.training
    model.eval()
    examples = 0
    right, loss = torch.zeros((), dtype=torch.int64), torch.zeros((), dtype=torch.float64)
    with torch.inference_mode():
        for inputs, targets in batches:
            logits = model(inputs).float()
            examples += len(targets)
            right = right.to(targets.device) + (logits.argmax(1) == targets).sum()
            loss = loss.to(targets.device) + nn.functional.cross_entropy(logits, targets, reduction="sum")
    model.train(was_training)
    if not examples:
        raise ValueError("The validation set is empty; give it at least one example.")
    return {"valid_accuracy": right.item() / examples, "valid_loss": loss.item() / examples}
