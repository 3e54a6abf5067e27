"""Adaptive echoing: what has been read comes again where nothing fresh is ready.

Before each emission, fresh elements are taken in while there is room for them and they are ready: the first
takes the place of the element emitted last, the others free slots. Then a uniformly drawn slot is emitted.
An element stays in its slot until a fresh one takes its place, or until it has been emitted `ceiling` times.
Only with no element left does the buffer wait, and once at the start, for as many elements as a factor of
`ceiling` reads to fill it.

So each element is emitted at least once and at most `ceiling` times; whoever consumes waits, from then on,
only if all that was read has been used up; and while fresh elements are ready, all this is tf.data's shuffle,
and each comes once. The rule is ours; the paper (Choi et al., arXiv 1907.05550) has fixed factors only.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pipelines.echo import EchoSpec, Geometry
from pipelines.exchange import Ints
from pipelines.keys import random_halves
from pipelines.order import OrderBlock
from pipelines.trace import Trace

NEVER = -1
"""Stands for the update of an element's last emission where it has had none."""

Arrival = Callable[[bool], int | None]
"""Takes the next fresh element in and gives its mark; None if none is ready. Given True, it waits for one."""


@dataclass(frozen=True, slots=True)
class AdaptiveStage(Geometry):
    """An adaptive `EchoSpec` at a batch size; `trace` is what it replays, if it does."""

    ceiling: int
    trace: Trace | None

    @property
    def to_begin_with(self) -> int:
        """How many elements are waited for before the first emission.

        As many as a factor of `ceiling` reads to fill the echo buffer. Without them, the first batches would
        be few examples over and over, and at a source `ceiling` times as slow all later ones, too: as many
        come as are used up, so that the buffer never fills.
        """
        return self.slots // self.ceiling

    @classmethod
    def of(cls, spec: EchoSpec, batch_size: int) -> AdaptiveStage:
        """The stage that `spec` describes for batches of `batch_size`."""
        if isinstance(spec.factor, Trace):
            return cls(*Geometry.parts(spec, batch_size), spec.factor.ceiling, spec.factor)
        assert spec.ceiling is not None
        return cls(*Geometry.parts(spec, batch_size), spec.ceiling, None)


class Emission(NamedTuple):
    """One emission: the element, its copy number, its mark, and the update of its emission before."""

    element: int
    copy: int
    mark: int
    before: int


class AdaptiveBuffer:
    """The rule, element by element. Emission t draws by the 32 random bits that `EchoBuffer` has for it.

    Attributes:
        emitted, taken: how many emissions there were, and how many elements have been taken in.
        elements, counts, marks, updates: of the element in each slot its number, how often it has been
            emitted, its mark, and the update of its last emission.
        left: marks of the elements that have left; whoever reads it clears it.
    """

    def __init__(self, stage: AdaptiveStage, seed: int) -> None:
        self._room = max(1, stage.slots)
        self._ceiling = stage.ceiling
        self._per_batch = stage.elements_per_batch
        self._seed = seed
        self._draws = random_halves(seed, "echo buffer")
        self._last: int | None = None  # the slot emitted last, if a fresh element may take its place
        self.emitted = self.taken = 0
        self.elements: list[int] = []
        self.counts: list[int] = []
        self.marks: list[int] = []
        self.updates: list[int] = []
        self.left: list[int] = []

    def copy(self) -> AdaptiveBuffer:
        """Another one at the same place."""
        other = object.__new__(AdaptiveBuffer)
        other.__dict__.update(self.__dict__)
        for name in ("elements", "counts", "marks", "updates", "left"):
            setattr(other, name, list(getattr(self, name)))
        other._draws = random_halves(self._seed, "echo buffer", start=self.emitted)
        return other

    @property
    def last(self) -> int:
        """The slot emitted last, if a fresh element may take its place, else -1."""
        return -1 if self._last is None else self._last

    def restore(self, emitted: int, taken: int, last: int, slots: Iterable[Ints]) -> None:
        """Stand after so many emissions; `slots` are three columns: elements, counts and updates."""
        self.emitted, self.taken, self._last = emitted, taken, None if last < 0 else last
        self.elements, self.counts, self.updates = (column.tolist() for column in slots)
        self.marks, self.left = [NEVER] * len(self.elements), []
        self._draws = random_halves(self._seed, "echo buffer", start=emitted)

    def emit(self, arrival: Arrival) -> Emission:
        """Take in what is ready, and emit one element."""
        while self._last is not None or len(self.elements) < self._room:
            mark = arrival(not self.elements)
            if mark is None:
                break
            self._take_in(mark)
        slot = next(self._draws) * len(self.elements) >> 32
        emission = Emission(self.elements[slot], self.counts[slot], self.marks[slot], self.updates[slot])
        self.counts[slot] += 1
        self.updates[slot] = self.emitted // self._per_batch
        self.emitted += 1
        self._last = slot
        if self.counts[slot] == self._ceiling:
            self._remove(slot)
        return emission

    def _take_in(self, mark: int) -> None:
        element = self.taken, 0, mark, NEVER
        columns = self.elements, self.counts, self.marks, self.updates
        if self._last is None:
            for column, part in zip(columns, element, strict=True):
                column.append(part)
        else:
            self.left.append(self.marks[self._last])
            for column, part in zip(columns, element, strict=True):
                column[self._last] = part
        self._last = None
        self.taken += 1

    def _remove(self, slot: int) -> None:
        """The last one takes its place."""
        self.left.append(self.marks[slot])
        for column in (self.elements, self.counts, self.marks, self.updates):
            last = column.pop()
            if slot < len(column):
                column[slot] = last
        self._last = None


class Arrivals:
    """The emission before which each element was taken in, for the elements from some number on.

    Args:
        first: that number.
        begins: how many emissions there had been when it was the next to arrive.
        emissions: what is known already, ascending.
    """

    def __init__(self, first: int = 0, begins: int = 0, emissions: Iterable[int] = ()) -> None:
        self.first, self.begins, self._emissions = first, begins, array("q", emissions)

    @classmethod
    def told_by(cls, trace: Trace | None) -> Arrivals:
        """All that a trace of a run from its start tells; without one, of nothing."""
        return cls(emissions=trace.arrivals.tolist() if trace else ())

    def append(self, emission: int) -> None:
        """The next element has been taken in before this emission."""
        self._emissions.append(emission)

    def of(self, element: int) -> int | None:
        """When it was taken in, if that is known."""
        at = element - self.first
        return self._emissions[at] if at < len(self._emissions) else None

    def forget_from(self, element: int) -> None:
        """Let it be the next to arrive."""
        del self._emissions[element - self.first :]

    def known(self) -> Ints:
        """[elements] all that is known."""
        return np.array(self._emissions, np.int64)


class AdaptiveOrder:
    """The order of a pipeline that echoes adaptively. It is known only as far as it has happened.

    Attributes:
        buffer: where it stands.
        arrivals: what has been taken in when; in a replay, all that the trace holds.
    """

    def __init__(self, stage: AdaptiveStage, seed: int) -> None:
        self.stage = stage
        self.restore(0, (AdaptiveBuffer(stage, seed), Arrivals.told_by(stage.trace)))

    def restore(self, updates: int, place: tuple[AdaptiveBuffer, Arrivals]) -> None:
        """Stand at `place`, which is after so many updates."""
        self.buffer, self.arrivals = place[0].copy(), place[1]

    def next_batch(self, arrival: Arrival) -> list[Emission]:
        """The emissions of the next batch, one for each of its elements."""
        if self.stage.trace is not None:
            self._require_told(self.stage.trace)
            return [self.buffer.emit(self._replayed(arrival)) for _ in range(self.stage.elements_per_batch)]
        return [self.buffer.emit(self._noted(arrival)) for _ in range(self.stage.elements_per_batch)]

    def next_block(self, batches: int) -> OrderBlock:
        """At most so many batches of a replay, without data."""
        oldest = min(self.buffer.elements, default=self.buffer.taken) * self.stage.examples_per_element
        assert self.stage.trace is not None
        self._require_told(self.stage.trace)
        left = (self.stage.trace.emissions - self.buffer.emitted) // self.stage.elements_per_batch
        emissions = [e for _ in range(min(batches, left)) for e in self.next_batch(lambda wait: NEVER)]
        return as_block(self.stage, emissions, oldest)

    def _noted(self, arrival: Arrival) -> Arrival:
        def noted(wait: bool) -> int | None:
            filling = self.buffer.emitted == 0 and self.buffer.taken < self.stage.to_begin_with
            mark = arrival(wait or filling)
            if mark is not None:
                self.arrivals.append(self.buffer.emitted)
            return mark

        return noted

    def _replayed(self, arrival: Arrival) -> Arrival:
        told = replay(self.arrivals, self.buffer)
        return lambda wait: None if told(wait) is None else arrival(True)

    def _require_told(self, trace: Trace) -> None:
        if self.buffer.emitted + self.stage.elements_per_batch > trace.emissions:
            raise ValueError(
                f"The trace to be replayed ends after {trace.emissions // self.stage.elements_per_batch} "
                "batches; stop there, or give the trace of a longer run."
            )


def as_block(stage: AdaptiveStage, emissions: list[Emission], oldest: int) -> OrderBlock:
    """The order of some batches that have been emitted."""
    elements, copies = (np.array(part) for part in list(zip(*emissions, strict=True))[:2])
    return OrderBlock(stage, len(emissions) // stage.elements_per_batch, oldest, elements, lambda: copies)


def replay(arrivals: Arrivals, buffer: AdaptiveBuffer) -> Arrival:
    """Lets elements arrive in `buffer` as `arrivals` tell.

    Raises, when called:
        ValueError: an element must arrive, and they tell of none.
    """

    def told(wait: bool) -> int | None:
        if arrivals.of(buffer.taken) == buffer.emitted:
            return NEVER
        if wait:
            raise ValueError(
                f"The trace does not fit: it leaves nothing to emit after {buffer.emitted} emissions; give "
                "the batch size, insertion point, echo buffer and seed of its run."
            )
        return None

    return told


def waiting(buffer: AdaptiveBuffer) -> Ints:
    """The elements in the buffer, ascending."""
    return np.sort(np.array(buffer.elements, np.int64))
