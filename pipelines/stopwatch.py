"""Clocks around the parts of a pipeline: what each batch takes, and what a function inside takes of it."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

T = TypeVar("T")
Seconds = NDArray[np.float64]

SEGMENTS = 10
"""Parts that a measurement is cut into, to see how much it varies."""

LEAST_BATCHES = 6
"""Batches that are timed at least, however long they take."""

_WARM_SHARE = 0.25

_WAITED = 0.5
"""The share of the average time from which on an item counts as waited for."""


@dataclass(frozen=True, slots=True, eq=False)
class Durations:
    """What batches take, one after the other.

    Attributes:
        seconds: [batches], in the order in which they came.
    """

    seconds: Seconds

    def __repr__(self) -> str:
        return f"<{len(self.seconds)} batches, {self.mean:.3g} s each>"

    @property
    def mean(self) -> float:
        """Seconds a batch: what counts for the pace, bursts and pauses included."""
        return float(self.seconds.mean())

    @property
    def segments(self) -> Seconds:
        """[up to `SEGMENTS`] means of consecutive parts, about equally long."""
        parts = np.array_split(self.seconds, min(SEGMENTS, len(self.seconds)))
        return np.array([part.mean() for part in parts])

    @property
    def typical(self) -> float:
        """Seconds a batch of the same work over and over: the median of those parts.

        What makes a few of them longer is not the work's own.
        """
        return float(np.median(self.segments))

    @property
    def quartiles(self) -> tuple[float, float]:
        """Of the means of those parts."""
        low, high = np.quantile(self.segments, [0.25, 0.75])
        return float(low), float(high)

    @property
    def burst_batches(self) -> float:
        """How many batches come at once: 1 = evenly spaced, k = k together after the time of all of them.

        The mean of the squares over the square of the mean, which is exact for equal bursts.
        """
        return float(np.square(self.seconds).mean() / self.mean**2) if self.mean else 1.0

    def times(self, factor: float) -> Durations:
        """The same with every batch taking `factor` of its time."""
        return Durations(self.seconds * factor)


class Timed:
    """A function, and how much time has been spent in it: by this process and by those forked from it.

    For the functions that a data set or a loader calls for each example or batch: make the loader with
    `Timed(augment)` in place of `augment`, and `profile_loader` can tell the stages apart. Attributes other
    than those below are the function's.

    Args:
        function: anything that can be called.

    Attributes:
        function: as given.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._spent = multiprocessing.Array("d", 2)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives."""
        start = time.perf_counter()
        try:
            return self.function(*args, **kwargs)
        finally:
            took = time.perf_counter() - start
            with self._spent.get_lock():
                self._spent[0] += took
                self._spent[1] += 1

    @property
    def seconds(self) -> float:
        """Time spent in the function so far, summed over processes."""
        return float(self._spent[0])

    @property
    def calls(self) -> int:
        """How often it was called so far."""
        return int(self._spent[1])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "function":
            raise AttributeError(name)
        return getattr(self.function, name)


def durations(items: Iterable[Any], seconds: float, begin: Callable[[], None] = lambda: None) -> Durations:
    """How long each item of an endless iterable takes, if nobody uses it, for about so many seconds.

    The first items warm up and are not counted; `begin` is called after them.
    """
    coming = iter(items)
    warm(coming, seconds)
    begin()
    return Durations(np.diff(moments(coming, seconds, LEAST_BATCHES)))


def warm(coming: Iterator[Any], seconds: float) -> None:
    """Take what comes first and is slower than the rest, or faster where it was prepared in advance."""
    next(coming)
    moments(coming, _WARM_SHARE * seconds, 1)


def moments(coming: Iterator[Any], seconds: float, least: int) -> list[float]:
    """When items were taken, the start included, for about so many seconds and at least so many items.

    It ends with an item that was waited for and not amid a burst: bursts count with their pauses.
    """
    found = [time.perf_counter()]
    while True:
        next(coming)
        found.append(time.perf_counter())
        spent, last, items = found[-1] - found[0], found[-1] - found[-2], len(found) - 1
        if spent >= seconds and items >= least and last >= _WAITED * spent / items:
            return found


def repeated(function: Callable[[T], Any], given: Iterable[T]) -> Iterator[Any]:
    """`function` of each of these, over and over, each time to its end on the device."""
    kept = list(given)
    while True:
        for one in kept:
            yield function(one)
            finish()


def finish() -> None:
    """Wait until the accelerator has done what it was given, where there is one in use."""
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
