"""What a card says of a workload: all that can be known without importing PyTorch or reading data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

LOOP_OPTIONS = ("autocast", "channels_last", "compile")
"""Options that the trial loop itself applies, whatever the workload."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A validation metric: which direction is better, and the values it can have."""

    higher_is_better: bool
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class WorkloadCard:
    """A workload's card.

    Attributes:
        name: what a study file calls it, and part of every trial's id.
        factory: `module:Class`, or `path/to/file.py:Class` for a user's own.
        summary: one line: data, augmentation, model.
        train_examples: how many there are; None = not known beforehand, `run` counts them.
        metrics: what the workload measures on its validation set.
        metaparameters: the names it understands; a study leaves the others at the workload's own values.
        required_metaparameters: those a study must search.
        options: names of the `WorkloadOptions` that make sense for it.
        augments: False = it has no augmentation, so that echoing before and after it coincide.
        data_set: the name of its data in `echostudy data list`; "" = no data set to fetch.
        target_note: how sure the paper's target is, for instance "recalled"; "" = nothing to say.
    """

    name: str
    factory: str
    summary: str
    train_examples: int | None
    metrics: Mapping[str, Metric]
    metaparameters: tuple[str, ...]
    required_metaparameters: tuple[str, ...] = ("learning_rate",)
    options: tuple[str, ...] = LOOP_OPTIONS
    augments: bool = True
    data_set: str = ""
    target_note: str = ""


CLASSIFICATION_METRICS: Mapping[str, Metric] = {
    "valid_accuracy": Metric(higher_is_better=True, low=0, high=1),
    "valid_loss": Metric(higher_is_better=False, low=0, high=math.inf),
}

NESTEROV = ("learning_rate", "momentum", "weight_decay")
"""Metaparameters of `study.workloads.optimizers.nesterov`."""

LINEAR_DECAY = ("decay_updates", "end_factor")
"""Metaparameters of `study.schedules.linear_decay`."""

CLASSIFICATION_METAPARAMETERS = (*NESTEROV, *LINEAR_DECAY, "label_smoothing")
"""What every `study.workloads.classification.ClassificationWorkload` understands."""
