"""The ledger: what a pipeline has read, handed out and repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pipelines.exchange import Ints, exchange, take_back

NEVER = -1
"""Stands for the last emission of an ordinal that has not been emitted yet."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """What had been read and handed out at one moment. All numbers are exact; examples are the unit.

    Attributes:
        ratio: the echo factor, as the fraction the echo stage works with.
        updates: batches handed out.
        examples_read: fresh examples read from the source, those waiting in the echo buffer included.
        examples_consumed: examples handed out in batches, repeats included.
        duplicates: consumed examples that had already occurred in the same batch, as the same fresh example.
        repeats: consumed examples that had been consumed before, in the same batch or an earlier one.
        lag_updates: updates from one emission of a fresh example to its next, summed over the repeats.
        buffer_examples: examples the echo buffer can hold; 0 = none.
        buffer_fill: examples now waiting in it. The slot emitted last is refilled on the next demand, so a
            running buffer of examples has one place free.
    """

    ratio: Fraction
    updates: int
    examples_read: int
    examples_consumed: int
    duplicates: int
    repeats: int
    lag_updates: int
    buffer_examples: int
    buffer_fill: int

    @property
    def fresh_examples(self) -> float:
        """`examples_consumed / e`: the paper's measure, and the x-axis of every curve."""
        return float(self.examples_consumed / self.ratio)

    @property
    def duplicate_share(self) -> float:
        """Share of the consumed examples that are duplicates within their batch; 0 before the first batch."""
        return self.duplicates / self.examples_consumed if self.examples_consumed else 0.0

    @property
    def mean_lag_updates(self) -> float:
        """Mean number of updates between an example's emission and its next; 0 if there are no repeats."""
        return self.lag_updates / self.repeats if self.repeats else 0.0

    def as_dict(self) -> dict[str, float]:
        """The numbers worth logging, flat."""
        return {
            "examples_read": self.examples_read,
            "examples_consumed": self.examples_consumed,
            "updates": self.updates,
            "fresh_examples": self.fresh_examples,
            "duplicate_share": self.duplicate_share,
            "mean_lag_updates": self.mean_lag_updates,
            "buffer_examples": self.buffer_examples,
            "buffer_fill": self.buffer_fill,
        }


class Repeats:
    """Knows of every element that may be emitted again when it was emitted last.

    A table over the elements from `oldest` onwards. No element before `oldest` is emitted again; it moves up,
    and the table with it, only when the table is full.
    """

    def __init__(self) -> None:
        self.restore(np.zeros(1, np.int64), np.full(1, NEVER))

    def restore(self, elements: Ints, last: Ints) -> None:
        """Start from the elements that may be emitted again and their last emissions."""
        self.oldest = int(elements.min())
        self._last = np.full(int(elements.max()) + 1 - self.oldest, NEVER)
        self._last[elements - self.oldest] = last

    def make_room(self, newest: int, oldest: Callable[[], int]) -> None:
        """Make room for elements up to `newest`; `oldest()` is the first that may be emitted again."""
        if newest - self.oldest < len(self._last):
            return
        start = oldest()
        known = self._last[start - self.oldest :]
        room = newest + 1 - start
        self._last = np.full(room + max(room // 4, 1024), NEVER)
        self._last[: len(known)] = known
        self.oldest = start

    def record(self, elements: Ints, start: int) -> Ints:
        """Book emissions `start`, `start + 1`, ... of `elements` [n]; return the emission [n] before each."""
        return exchange(self._last, elements - self.oldest, start)

    def last(self, elements: Ints, undone: Ints, previous: Ints) -> Ints:
        """The last emissions of `elements`, had those booked last (`undone`, with `previous`) not been."""
        table = self._last.copy()
        take_back(table, undone - self.oldest, previous)
        return table[elements - self.oldest]


def counts_by_batch(previous: Ints, first_update: int) -> Ints:
    """Duplicates, repeats and their lags in updates, summed over the first 0, 1, ... batches of a block.

    Args:
        previous: [batches, elements a batch] the emission of each element before this one, or `NEVER`.
        first_update: the update that the first batch is.

    Returns:
        [batches + 1, 3] running totals, counted in elements.
    """
    batches, width = previous.shape
    updates = np.arange(first_update, first_update + batches)
    counts = np.zeros((batches + 1, 3), np.int64)
    counts[1:, 0] = np.count_nonzero(previous >= updates[:, None] * width, axis=1)
    counts[1:, 1] = repeats = np.count_nonzero(previous != NEVER, axis=1)
    counts[1:, 2] = updates * repeats - ((previous // width).sum(axis=1) - NEVER * (width - repeats))
    return counts.cumsum(axis=0)
