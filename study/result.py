"""The result rule: what one trial is worth, and which trial is its search's result.

Written once. The stop rule (`study.racing`), the record of a trial (`study.trial`) and every table and
figure (`analysis`) call these functions. Source of the measure: Choi et al., arXiv 1907.05550, section 3
(fresh examples until the target); the order of ties is ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

PROTOCOL_VERSION = 1
"""Raised whenever what is counted, what is random or what a search's result is changes."""


class Outcome(StrEnum):
    """How a trial ended. The last two are no results: such a trial is run again."""

    REACHED = "reached"
    MISSED = "missed"
    DIVERGED = "diverged"
    BEATEN = "beaten"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"

    @property
    def is_result(self) -> bool:
        """True if the trial need not be run again."""
        return self not in (Outcome.CRASHED, Outcome.OUT_OF_MEMORY)


@dataclass(frozen=True, slots=True)
class Target:
    """The value of a validation metric that a trial is to reach."""

    metric: str
    value: float
    higher_is_better: bool

    def is_reached_by(self, value: float) -> bool:
        """True if `value` is at or past the target; never for NaN."""
        return value >= self.value if self.higher_is_better else value <= self.value

    def better(self, first: float, second: float) -> float:
        """The better of two metric values; a number beats NaN."""
        if math.isnan(first) or math.isnan(second):
            return second if math.isnan(first) else first
        return max(first, second) if self.higher_is_better else min(first, second)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One look at the validation set, and the ledger, losses and clocks at that moment.

    `values` holds everything that is logged with `step = fresh_examples`: the validation metrics, the
    training loss since the evaluation before, and the ledger's numbers.
    """

    fresh_examples: float
    updates: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True, order=True)
class Rank:
    """The order of reached trials within a search: fresh examples, then updates, then point index."""

    fresh_examples: float
    updates: int
    point: int


def first_reached(evaluations: Sequence[Evaluation], target: Target) -> int | None:
    """Index of the first evaluation at or past the target, or None if there is none."""
    return next(
        (i for i, one in enumerate(evaluations) if target.is_reached_by(one.values[target.metric])), None
    )


def best_value(evaluations: Sequence[Evaluation], target: Target) -> float:
    """The best value of the target's metric over a curve; NaN for an empty or all-NaN curve."""
    best = math.nan
    for one in evaluations:
        best = target.better(best, one.values[target.metric])
    return best


def best_trial(reached: Iterable[Rank]) -> Rank | None:
    """The search's result among the trials that reached the target; None if the search is censored."""
    return min(reached, default=None)
