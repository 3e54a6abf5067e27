"""What workloads that tell classes apart have in common: loss, metrics, optimizer and schedule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import torch
from torch import Tensor, nn

from pipelines import Augmentation
from study.schedules import Schedule, linear_decay
from study.workloads.base import Loss, Workload
from study.workloads.card import CLASSIFICATION_METAPARAMETERS, CLASSIFICATION_METRICS
from study.workloads.optimizers import nesterov
from study.workloads.options import WorkloadOptions


class ClassificationWorkload(Workload):
    """Cross entropy, Nesterov momentum, linear decay of the learning rate if the study asks for it.

    Understands `card.CLASSIFICATION_METAPARAMETERS`. Subclasses add the data, `model`, and `evaluate`, for
    which `classification_metrics` and `metrics_over` are at hand.
    """

    metrics = CLASSIFICATION_METRICS
    metaparameters = CLASSIFICATION_METAPARAMETERS

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


class TensorClassification(ClassificationWorkload):
    """Classes of examples in memory, told by any model.

    Args:
        train, valid: inputs, examples on the first axis, and labels [examples] int64; for training, and for
            validation.
        model: gives a freshly initialised model, inputs -> logits [batch, classes].
        augment: the augmentation of training batches.
    """

    def __init__(
        self,
        train: tuple[Tensor, Tensor],
        valid: tuple[Tensor, Tensor],
        model: Callable[[], nn.Module],
        augment: Augmentation | None = None,
        options: WorkloadOptions = WorkloadOptions(),
    ) -> None:
        super().__init__(options)
        self.augment = augment
        self._train, self._valid, self._model = train, valid, model

    def train_data(self) -> tuple[Tensor, Tensor]:
        """The training inputs and labels."""
        return self._train

    def model(self) -> nn.Module:
        """A freshly initialised model."""
        return self._model()

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Accuracy and cross entropy on all validation examples."""
        inputs, labels = self._valid
        return classification_metrics(model, inputs.to(device), labels.to(device))


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
