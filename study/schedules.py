"""Learning-rate schedules: pure functions from the number of an update, from 0, to a factor on the rate.

The trial loop sets the rate before every update, so a schedule has no state to save or to restore. Updates
count as the optimizer's: with an echo factor of 2 there are twice as many for the same fresh examples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Schedule = Callable[[int], float]


def constant(update: int) -> float:
    """Always 1: the optimizer's own rate."""
    return 1.0


@dataclass(frozen=True)
class Linear:
    """From 1 to `end_factor` over `decay_updates` updates, and `end_factor` from there on."""

    decay_updates: float
    end_factor: float = 0.0

    def __post_init__(self) -> None:
        _require(self.decay_updates > 0, "Linear: decay_updates", self.decay_updates, "above 0")
        _require(self.end_factor >= 0, "Linear: end_factor", self.end_factor, "of at least 0")

    def __call__(self, update: int) -> float:
        """The factor before update number `update`."""
        done = min(update / self.decay_updates, 1.0)
        return 1.0 - (1.0 - self.end_factor) * done


@dataclass(frozen=True)
class Cosine:
    """Half a cosine from 1 to `end_factor` over `decay_updates` updates (Loshchilov, Hutter 1608.03983)."""

    decay_updates: float
    end_factor: float = 0.0

    def __post_init__(self) -> None:
        _require(self.decay_updates > 0, "Cosine: decay_updates", self.decay_updates, "above 0")
        _require(self.end_factor >= 0, "Cosine: end_factor", self.end_factor, "of at least 0")

    def __call__(self, update: int) -> float:
        """The factor before update number `update`."""
        done = min(update / self.decay_updates, 1.0)
        return self.end_factor + (1.0 - self.end_factor) * (1.0 + math.cos(math.pi * done)) / 2


@dataclass(frozen=True)
class WarmupExponential:
    """A linear warm-up, then steps: times `decay_factor` after every `decay_every` updates.

    Update number u of the warm-up has the factor (u + 1) / `warmup_updates`, so that none is wasted at 0.
    """

    warmup_updates: float
    decay_every: float
    decay_factor: float

    def __post_init__(self) -> None:
        what = "WarmupExponential: "
        _require(self.warmup_updates >= 0, f"{what}warmup_updates", self.warmup_updates, "of at least 0")
        _require(self.decay_every > 0, f"{what}decay_every", self.decay_every, "above 0")
        _require(self.decay_factor > 0, f"{what}decay_factor", self.decay_factor, "above 0")

    def __call__(self, update: int) -> float:
        """The factor before update number `update`."""
        if update < self.warmup_updates:
            return min((update + 1) / self.warmup_updates, 1.0)
        return float(self.decay_factor ** ((update - self.warmup_updates) // self.decay_every))


def linear_decay(metaparameters: Mapping[str, float]) -> Schedule:
    """`Linear` by the metaparameters `decay_updates` and `end_factor`; constant where there is no decay."""
    if "decay_updates" not in metaparameters:
        return constant
    return Linear(metaparameters["decay_updates"], metaparameters.get("end_factor", 0.0))


def _require(holds: bool, name: str, value: float, bound: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {value!r}; give a number {bound}.")
