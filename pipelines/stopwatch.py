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

_WARM_BATCHES, _WARM_SHARE = 2, 0.25


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
    moments = [time.perf_counter()]
    while moments[-1] - moments[0] < seconds or len(moments) <= LEAST_BATCHES:
        next(coming)
        moments.append(time.perf_counter())
    return Durations(np.diff(moments))


def warm(coming: Iterator[Any], seconds: float) -> None:
    """Take what comes first and is slower than the rest, or faster where it was prepared in advance."""
    start, batches = time.perf_counter(), 0
    while batches < _WARM_BATCHES or time.perf_counter() - start < _WARM_SHARE * seconds:
        next(coming)
        batches += 1


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
