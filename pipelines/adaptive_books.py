"""Who keeps the ledger of adaptive echoing: a second walk, along what has been recorded."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from pipelines.adaptive import NEVER, AdaptiveBuffer, AdaptiveStage, recorded, replay, waiting
from pipelines.exchange import Ints
from pipelines.ledger import Ledger
from pipelines.state import damaged_state
from pipelines.trace import Trace


class AdaptiveBookkeeper:
    """Ledger, trace and state, for any number of updates not below the number asked for before.

    The state is the trace: walking along it leads to where the pipeline stood.

    Args:
        stage: the echo stage.
        seed: of the pipeline.
        arrivals: what the order notes down, or replays.
    """

    def __init__(self, stage: AdaptiveStage, seed: int, arrivals: array[int]) -> None:
        self.width = stage.examples_per_element
        self._stage = stage
        self._seed = seed
        self._begin(arrivals)

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
        """What was done in the first `updates` updates."""
        emissions = updates * self._stage.elements_per_batch
        return Trace.of(self._stage.ceiling, emissions, np.array(self._arrivals, np.int64))

    def examples_read(self, updates: int) -> int:
        """How many fresh examples have been taken in after `updates` updates."""
        return self._at(updates).taken * self.width

    def held(self, updates: int) -> Ints:
        """The elements that may be emitted again after `updates` updates, ascending."""
        return waiting(self._at(updates))

    def state_dict(self, updates: int) -> dict[str, Any]:
        """The trace of the first `updates` updates, as one tensor [runs, 2]."""
        runs = np.array(self.trace(updates).runs, np.int64).reshape(-1, 2)
        most = int(runs.max(initial=0))
        return {"updates": updates, "trace": torch.from_numpy(runs.astype(np.min_scalar_type(-1 - most)))}

    def load_state_dict(self, state: Mapping[str, Any]) -> tuple[int, tuple[AdaptiveBuffer, array[int]]]:
        """Stand where `state` was taken: after how many updates, and where `AdaptiveOrder` is to stand.

        Raises:
            ValueError: `state` cannot be a state of this order; nothing has changed but this bookkeeper.
        """
        try:
            updates = state["updates"]
            trace = Trace(
                self._stage.ceiling, updates * self._stage.elements_per_batch, state["trace"].tolist()
            )
            arrivals = recorded(trace)
            self._begin(recorded(self._stage.trace or trace))
            buffer = self._at(updates)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise damaged_state() from error
        if buffer.taken != len(arrivals) or self._arrivals[: len(arrivals)] != arrivals:
            raise damaged_state()
        return updates, (buffer, self._arrivals)

    def _begin(self, arrivals: array[int]) -> None:
        self._arrivals = arrivals
        self._buffer = AdaptiveBuffer(self._stage, self._seed)
        self._arrival = replay(arrivals, self._buffer)
        self._duplicates = self._repeats = self._lag_updates = 0  # in elements

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
