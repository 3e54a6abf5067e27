"""What adaptive echoing did, in few numbers: enough to do it again exactly."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from pipelines.exchange import Ints


@dataclass(frozen=True, slots=True)
class Trace:
    """Before which emission each fresh element was taken in; the rest follows from the settings and the seed.

    Element 0 is taken in before emission 0, and each of the others some emissions after the one before it: 0
    where several were ready at once, 1 from a source that keeps up, up to `ceiling` and more from one that
    does not. These gaps are kept as runs of equal ones. Elements are examples, or batches after batching.

    `EchoSpec(factor=trace)` replays it. `dataclasses.asdict(trace)` can be written as JSON, and
    `Trace(**read)` makes a trace of it again.

    Args:
        ceiling: how often an element was emitted at most.
        emissions: how many the trace tells of.
        runs: pairs (gap, how many times in a row).

    Raises:
        ValueError: these are no such numbers.
    """

    ceiling: int
    emissions: int
    runs: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        try:
            runs = tuple((gap, times) for gap, times in self.runs)
        except (TypeError, ValueError):
            runs = ((-1, -1),)
        numbers = (self.ceiling - 1, self.emissions, *(gap for gap, _ in runs), *(n - 1 for _, n in runs))
        last = sum(gap * n for gap, n in runs)
        begins_late = bool(runs) and runs[0][0] != 0
        if begins_late or last > self.emissions or not all(type(n) is int and n >= 0 for n in numbers):
            raise ValueError("This is no trace of adaptive echoing; give what a pipeline's `trace` returned.")
        object.__setattr__(self, "runs", runs)

    @classmethod
    def of(cls, ceiling: int, emissions: int, arrivals: Ints) -> Trace:
        """The trace of so many emissions; `arrivals` may go beyond them."""
        known = arrivals[: np.searchsorted(arrivals, emissions)]
        gaps: Iterable[int] = np.diff(known, prepend=0).tolist()
        return cls(ceiling, emissions, tuple((gap, len(list(same))) for gap, same in groupby(gaps)))

    @property
    def arrivals(self) -> Ints:
        """[elements] the emission before which each element was taken in."""
        gaps, times = np.array(self.runs, np.int64).reshape(-1, 2).T
        return np.cumsum(np.repeat(gaps, times))
