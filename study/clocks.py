"""Clocks that keep training, evaluation and waiting apart, and that survive a restart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Clocks:
    """Seconds a trial has spent: waiting for its input, updating the model, evaluating it."""

    input_wait_s: float = 0.0
    update_s: float = 0.0
    evaluation_s: float = 0.0

    @property
    def training_s(self) -> float:
        """All of it: what the trial itself needed, without the sweep's overhead."""
        return self.input_wait_s + self.update_s + self.evaluation_s

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Counts the time inside the block as evaluation."""
        start = time.perf_counter()
        yield
        self.evaluation_s += time.perf_counter() - start
