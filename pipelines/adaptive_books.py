"""Who keeps the ledger of adaptive echoing: a second walk, along what has been recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from pipelines.adaptive import NEVER, AdaptiveBuffer, AdaptiveStage, Arrivals, replay, waiting
from pipelines.exchange import Ints
from pipelines.ledger import Ledger
from pipelines.state import damaged_state
from pipelines.trace import Trace


class AdaptiveBookkeeper:
    """Ledger, trace and state, for any number of updates not below the number asked for before.

    Args:
        stage: the echo stage.
        seed: of the pipeline.
        arrivals: what the order notes down, or replays.
    """

    def __init__(self, stage: AdaptiveStage, seed: int, arrivals: Arrivals) -> None:
        self.width = stage.examples_per_element
        self._stage = stage
        self._duplicates = self._repeats = self._lag_updates = 0  # in elements
        self._begin(AdaptiveBuffer(stage, seed), arrivals)

    def ledger(self, updates: int) -> Ledger:
        """The ledger after `updates` updates."""
        buffer, width = self._at(updates), self.width
        return Ledger(
            ratio=None,
            updates=updates,
            examples_read=buffer.taken * width,
            examples_consumed=buffer.emitted * width,
            duplicates=self._duplicates * width,
            repeats=self._repeats * width,
            lag_updates=self._lag_updates * width,
            buffer_examples=self._stage.slots * width,
            buffer_fill=len(buffer.elements) * width,
        )

    def trace(self, updates: int) -> Trace:
        """What was done until `updates` updates: from the start, or from where a state was loaded."""
        emissions = updates * self._stage.elements_per_batch
        return Trace.of(self._stage.ceiling, self._arrivals.begins, emissions, self._arrivals.known())

    def examples_read(self, updates: int) -> int:
        """How many fresh examples have been taken in after `updates` updates."""
        return self._at(updates).taken * self.width

    def held(self, updates: int) -> Ints:
        """The elements that may be emitted again after `updates` updates, ascending."""
        return waiting(self._at(updates))

    def place(self, updates: int) -> tuple[AdaptiveBuffer, Arrivals]:
        """Where `AdaptiveOrder` is to stand after `updates` updates."""
        buffer = self._at(updates)
        if self._stage.trace is None:
            self._arrivals.forget_from(buffer.taken)
        return buffer, self._arrivals

    def state_dict(self, updates: int) -> dict[str, Any]:
        """Where the order stands after `updates` updates: a few integers, and one for each slot.

        The one of a slot is three, see `numpy.ravel_multi_index` and `sizes`: how many elements have been
        taken in after the one in it, how often that has been emitted, and how many updates ago; 0 = never.
        """
        buffer = self._at(updates)
        last = np.array(buffer.updates, np.int64)
        columns = (
            buffer.taken - 1 - np.array(buffer.elements, np.int64),
            np.array(buffer.counts, np.int64),
            np.where(last == NEVER, 0, updates - last),
        )
        sizes = [int(column.max(initial=0)) + 1 for column in columns]
        return {
            "updates": updates,
            "counts": [self._duplicates, self._repeats, self._lag_updates],
            "taken": buffer.taken,
            "last": buffer.last,
            "sizes": sizes,
            "slots": torch.from_numpy(np.ravel_multi_index(columns, sizes).astype(np.int64)),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> int:
        """Stand where `state` was taken: after how many updates.

        Raises:
            ValueError: `state` cannot be a state of this order; nothing has changed.
        """
        updates, taken, counts, slots = self._checked(state)
        emitted = updates * self._stage.elements_per_batch
        self._duplicates, self._repeats, self._lag_updates = counts
        self._buffer.restore(emitted, taken, state["last"], slots)
        replayed = self._stage.trace
        self._begin(self._buffer, Arrivals.told_by(replayed) if replayed else Arrivals(taken, emitted))
        return updates

    def _checked(self, state: Mapping[str, Any]) -> tuple[int, int, list[int], tuple[Ints, Ints, Ints]]:
        """The parts of a state that could be one: updates, elements taken in, counts, columns."""
        try:
            updates, taken, last, counts = (state[name] for name in ("updates", "taken", "last", "counts"))
            behind, emissions, ago = np.unravel_index(state["slots"].numpy(), state["sizes"])
            elements, emitted = taken - 1 - behind, updates * self._stage.elements_per_batch
            told = Arrivals.told_by(self._stage.trace).known()
            sound = (
                all(type(number) is int and number >= 0 for number in (updates, taken, last + 1, *counts))
                and len(counts) == 3
                and last < len(elements) <= max(1, self._stage.slots)
                and len(set(elements.tolist())) == len(elements)
                and elements.min(initial=0) >= 0
                and emissions.max(initial=0) < self._stage.ceiling
                and ((emissions == 0) == (ago == 0)).all()
                and ago.max(initial=0) <= updates
                # whatever has been emitted was emitted for the first time, or again
                and emitted == taken - np.count_nonzero(emissions == 0) + counts[1]
                and (self._stage.trace is None or taken == np.searchsorted(told, emitted))
            )
        except (AttributeError, KeyError, OverflowError, RuntimeError, TypeError, ValueError):
            sound = False
        if not sound:
            raise damaged_state()
        return updates, taken, counts, (elements, emissions, np.where(ago == 0, NEVER, updates - ago))

    def _begin(self, buffer: AdaptiveBuffer, arrivals: Arrivals) -> None:
        self._buffer, self._arrivals = buffer, arrivals
        self._arrival = replay(arrivals, buffer)

    def _at(self, updates: int) -> AdaptiveBuffer:
        """The buffer after `updates` updates, counting on the way there."""
        buffer, per_batch = self._buffer, self._stage.elements_per_batch
        while buffer.emitted < updates * per_batch:
            now = buffer.emitted // per_batch
            before = buffer.emit(self._arrival).before
            if before != NEVER:
                self._repeats += 1
                self._duplicates += before == now
                self._lag_updates += now - before
        buffer.left.clear()
        return buffer
