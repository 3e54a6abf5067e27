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
    `Trace(**read)` makes a trace of it again. A resumed run begins a trace of its own, which adds up with the
    one taken where it was interrupted: `before + after`.

    Args:
        ceiling: how often an element was emitted at most.
        emissions: how many the trace tells of.
        runs: pairs (gap, how many times in a row); the first gap counts from where the trace begins.
        begins: how many emissions there were before it.

    Raises:
        ValueError: these are no such numbers.
    """

    ceiling: int
    emissions: int
    runs: tuple[tuple[int, int], ...]
    begins: int = 0

    def __post_init__(self) -> None:
        try:
            runs = tuple((gap, times) for gap, times in self.runs)
        except (TypeError, ValueError):
            runs = ((-1, -1),)
        sizes = self.ceiling - 1, self.emissions, self.begins
        numbers = (*sizes, *(gap for gap, _ in runs), *(n - 1 for _, n in runs))
        last = sum(gap * n for gap, n in runs)
        begins_late = self.begins == 0 and bool(runs) and runs[0][0] != 0
        if begins_late or last > self.emissions or not all(type(n) is int and n >= 0 for n in numbers):
            raise ValueError("This is no trace of adaptive echoing; give what a pipeline's `trace` returned.")
        object.__setattr__(self, "runs", runs)

    @classmethod
    def of(cls, ceiling: int, begins: int, ends: int, arrivals: Ints) -> Trace:
        """The trace of the emissions from `begins` to before `ends`; `arrivals`, absolute, may go beyond."""
        known = arrivals[: np.searchsorted(arrivals, ends)]
        gaps: Iterable[int] = np.diff(known, prepend=begins).tolist()
        runs = tuple((gap, len(list(same))) for gap, same in groupby(gaps))
        return cls(ceiling, ends - begins, runs, begins)

    def __add__(self, later: Trace) -> Trace:
        """The trace of both; `ValueError` unless `later` begins where this one ends."""
        if later.begins != self.ends or later.ceiling != self.ceiling:
            raise ValueError(
                f"Trace: one that ends after {self.ends} emissions and one that begins after {later.begins} "
                "do not add up; add the one taken with a state to that of the run resumed from it."
            )
        arrivals = np.concatenate([self.arrivals, later.arrivals])
        return type(self).of(self.ceiling, self.begins, later.ends, arrivals)

    @property
    def ends(self) -> int:
        """How many emissions there were when it was taken."""
        return self.begins + self.emissions

    @property
    def arrivals(self) -> Ints:
        """[elements] the emission, counted from the run's first, before which each element was taken in."""
        gaps, times = np.array(self.runs, np.int64).reshape(-1, 2).T
        return self.begins + np.cumsum(np.repeat(gaps, times))
