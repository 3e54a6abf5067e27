"""The source of a timed trial."""

from __future__ import annotations

from pipelines import MapSource, MemorySource, SourceClock, StreamSource, throttle
from study.timing import Timing
from study.workloads.base import TrainData


def slowed(data: TrainData, timing: Timing, batch_size: int, clock: SourceClock) -> MapSource | StreamSource:
    """A workload's training data as a source that is held to a pace by a clock; the stream stays the same.

    Data in memory become a source, too: whatever has to be waited for is read by a thread of its own.
    """
    if timing.R == 0:
        return MemorySource(*data) if isinstance(data, tuple) else data
    return throttle(
        data, R=timing.R, update_s=timing.update_s, batch_size=batch_size, burst=timing.burst, clock=clock
    )
