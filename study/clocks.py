"""Clocks that keep training, evaluation and waiting apart, and that survive a restart."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil


@dataclass
class Clocks:
    """Seconds a trial has spent: waiting for its input, updating the model, evaluating it.

    `others_s` is apart: processor seconds that other processes took while a timed trial trained (`others_s`).
    """

    input_wait_s: float = 0.0
    update_s: float = 0.0
    evaluation_s: float = 0.0
    others_s: float = 0.0

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


BUSY = ("user", "nice", "system", "irq", "softirq", "steal")


def others_s() -> float:
    """Processor seconds that all processes but this one have taken, since some moment: for differences.

    As the system counts them, in steps of some hundredths of a second.
    """
    now = psutil.cpu_times()
    return float(sum(getattr(now, kind, 0.0) for kind in BUSY)) - time.process_time()
