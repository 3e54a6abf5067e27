"""A source held to a pace: what a slow one would do, on a machine that has a fast one."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator

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

    Raises:
        ValueError: one of these is not as described.
    """
    ratio = real_number(R, "throttle: R", _LEAST, "give a number above 0")
    batch_s = ratio * real_number(update_s, "throttle: update_s", _LEAST, "give seconds, more than 0")
    examples = whole_number(batch_size, "throttle: batch_size", 1, "give a number of examples, 1 or more")
    at_once = whole_number(burst, "throttle: burst", 1, "give a number of examples, 1 or more")
    pace = Pace(batch_s / examples, at_once)
    if isinstance(source, tuple):
        return _SlowMap(MemorySource(*source), pace)
    return _SlowMap(source, pace) if isinstance(source, MapSource) else _SlowStream(source, pace)


class Pace:
    """Says when examples are due.

    The next burst is begun when the last one is done, or when that one's turn came if this was later.

    Args:
        example_s: seconds an example takes.
        burst: examples that are done at once.
    """

    def __init__(self, example_s: float, burst: int = 1) -> None:
        self._burst = burst
        self._burst_s = example_s * burst
        self._at_hand = 0
        self._done = self._asked = -math.inf

    def wait_for(self, examples: int) -> None:
        """Sleep until so many more are due."""
        now = time.monotonic()
        if self._asked == -math.inf:
            self._asked = now
        bursts = max(0, math.ceil((examples - self._at_hand) / self._burst))
        if bursts:
            self._done = max(self._done, self._asked) + bursts * self._burst_s
            self._asked = now
        self._at_hand += bursts * self._burst - examples
        if self._done > now:
            time.sleep(self._done - now)


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
