"""What is known of every workload without loading it: cheap enough for `plan`, `status` and editors.

The workload itself (data, model, loss) is imported from `factory` only where a trial runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from study.errors import UserError
from study.nearest import did_you_mean


@dataclass(frozen=True, slots=True)
class WorkloadCard:
    """A workload's card: `factory` is `module:Class`, `metrics` maps name -> whether higher is better.

    `metaparameters` are the names the workload understands; a study must search the required ones and
    leaves the others at the workload's own values.
    """

    name: str
    factory: str
    summary: str
    train_examples: int
    metrics: Mapping[str, bool]
    metaparameters: tuple[str, ...]
    required_metaparameters: tuple[str, ...] = ("learning_rate",)


_CLASSIFICATION = {"valid_accuracy": True, "valid_loss": False}

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
