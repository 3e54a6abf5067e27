"""A source held to a pace: what a slow one would do, on a machine that has a fast one."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from pipelines.checks import real_number, whole_number
from pipelines.exchange import Ints
from pipelines.pixels import Array
from pipelines.sources import MapSource, MemorySource, Pair, StreamSource

_LEAST = sys.float_info.min


def throttle(
    source: MapSource | StreamSource | tuple[Array, Array],
    *,
    R: float,  # noqa: N803 - the paper's name
    update_s: float,
    batch_size: int,
    burst: int = 1,
    clock: SourceClock | None = None,
) -> MapSource | StreamSource:
    """`source`, but a batch of fresh examples takes it `R` times as long as an update.

    Whoever reads waits by a clock that goes on while others work: the source makes the next examples while
    the last are being used, but no more ahead than that. So a consumer that takes longer than the source
    waits for nothing, and one that does not gets exactly the pace. What the source itself takes counts
    towards it; if that alone is more, it stays as slow as it is. The stream and the saved states are those
    of `source`.

    Args:
        source: data in memory, or a source of either kind.
        R: t_upstream / t_downstream (Choi et al., arXiv 1907.05550, section 3), more than 0.
        update_s: seconds that an update takes with input at hand, as measured.
        batch_size: examples of an update.
        burst: so many examples come at once, after the time of all of them.
        clock: the source's, for who wants to stop it for a while.

    Raises:
        ValueError: one of these is not as described.
    """
    ratio = real_number(R, "throttle: R", _LEAST, "give a number above 0")
    batch_s = ratio * real_number(update_s, "throttle: update_s", _LEAST, "give seconds, more than 0")
    examples = whole_number(batch_size, "throttle: batch_size", 1, "give a number of examples, 1 or more")
    at_once = whole_number(burst, "throttle: burst", 1, "give a number of examples, 1 or more")
    pace = Pace(batch_s / examples, at_once, clock)
    if isinstance(source, tuple):
        return _SlowMap(MemorySource(*source), pace)
    return _SlowMap(source, pace) if isinstance(source, MapSource) else _SlowStream(source, pace)


class SourceClock:
    """A clock that can be stopped: while it stands, a source with a pace makes nothing.

    For measurements: what is timed apart from training, such as an evaluation, gives the source no lead.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._stopped_at: float | None = None
        self._stood_s = 0.0

    def now(self) -> float:
        """Seconds that it has run."""
        return (time.monotonic() if self._stopped_at is None else self._stopped_at) - self._stood_s

    def sleep_until(self, moment: float) -> None:
        """Return when `now` is `moment` or later."""
        with self._changed:
            while (left := moment - self.now()) > 0:
                self._changed.wait(left if self._stopped_at is None else None)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """It stands while the block runs."""
        with self._changed:
            begin = self._stopped_at = time.monotonic()
        try:
            yield
        finally:
            with self._changed:
                self._stood_s += time.monotonic() - begin
                self._stopped_at = None
                self._changed.notify_all()


class Pace:
    """Says when examples are due.

    The next burst is begun when the last one is done, or when that one's turn came if this was later.

    Args:
        example_s: seconds an example takes.
        burst: examples that are done at once.
        clock: whose seconds they are; one of its own, if none is given.
    """

    def __init__(self, example_s: float, burst: int = 1, clock: SourceClock | None = None) -> None:
        self._clock = clock or SourceClock()
        self._burst = burst
        self._burst_s = example_s * burst
        self._at_hand = 0
        self._done = self._asked = -math.inf

    def wait_for(self, examples: int) -> None:
        """Sleep until so many more are due."""
        now = self._clock.now()
        if self._asked == -math.inf:
            self._asked = now
        bursts = max(0, math.ceil((examples - self._at_hand) / self._burst))
        if bursts:
            self._done = max(self._done, self._asked) + bursts * self._burst_s
            self._asked = now
        self._at_hand += bursts * self._burst - examples
        self._clock.sleep_until(self._done)


class _SlowMap:
    def __init__(self, source: MapSource, pace: Pace) -> None:
        self._source, self._pace = source, pace
        self.examples = source.examples

    def read(self, groups: Iterable[Ints]) -> Iterator[Pair]:
        """See `MapSource`."""
        for pair in self._source.read(groups):
            self._pace.wait_for(len(pair[0]))
            yield pair


class _SlowStream:
    def __init__(self, source: StreamSource, pace: Pace) -> None:
        self._source, self._pace = source, pace
        self.identity, self.skips_damage = source.identity, source.skips_damage

    def read_pass(
        self, number: int, seed: int, rank: int, world_size: int
    ) -> Iterator[tuple[int, Callable[[], Pair]]]:
        """See `StreamSource`."""
        for example in self._source.read_pass(number, seed, rank, world_size):
            self._pace.wait_for(1)
            yield example
