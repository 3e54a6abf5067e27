"""What is known of every workload without loading it: cheap enough for `plan`, `status` and editors.

The workload itself (data, model, loss) is imported from `factory` only where a trial runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from study.errors import UserError
from study.nearest import did_you_mean


@dataclass(frozen=True, slots=True)
class Metric:
    """A validation metric: which direction is better, and the values it can have."""

    higher_is_better: bool
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class WorkloadCard:
    """A workload's card: `factory` is `module:Class`, `metrics` are what it measures on its validation set.

    `metaparameters` are the names the workload understands; a study must search the required ones and
    leaves the others at the workload's own values.
    """

    name: str
    factory: str
    summary: str
    train_examples: int
    metrics: Mapping[str, Metric]
    metaparameters: tuple[str, ...]
    required_metaparameters: tuple[str, ...] = ("learning_rate",)


_CLASSIFICATION = {
    "valid_accuracy": Metric(higher_is_better=True, low=0, high=1),
    "valid_loss": Metric(higher_is_better=False, low=0, high=math.inf),
}

WORKLOADS: Mapping[str, WorkloadCard] = {
    card.name: card
    for card in (
        WorkloadCard(
            name="digits_convnet",
            factory="study.workloads.digits:DigitsConvnet",
            summary="scikit-learn's 8x8 digits (1,400 / 397), random shift, a conv net of 14k weights",
            train_examples=1400,
            metrics=_CLASSIFICATION,
            metaparameters=("learning_rate", "momentum", "weight_decay"),
        ),
    )
}


def workload_card(name: str) -> WorkloadCard:
    """The card of a workload; `UserError` with the nearest name if there is none."""
    if name not in WORKLOADS:
        raise UserError(f"There is no workload '{name}'; {did_you_mean(name, WORKLOADS)}")
    return WORKLOADS[name]
