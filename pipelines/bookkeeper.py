"""Who keeps the ledger: a second walk over the same order, only as far as somebody asks.

The order is integers alone: following it a second time takes less than a microsecond for ten examples, and
handing out batches costs nothing extra. And while the engine is up to a block ahead, the bookkeeper stands
exactly behind the last batch handed out: its position is the pipeline's state.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from pipelines.echo import EchoStage
from pipelines.exchange import Ints, exchange
from pipelines.ledger import Ledger
from pipelines.order import Order
from pipelines.state import damaged_state

_NEVER = -1
"""Stands for the update of an element's last emission where it has had none."""

_ELEMENTS_AT_ONCE = 16_384


class Bookkeeper:
    """Ledger and state of a pipeline, for any number of updates not below the number asked for before."""

    def __init__(self, stage: EchoStage, seed: int) -> None:
        self.stage = stage
        self.width = stage.examples_per_element
        self._order = Order(stage, seed)
        self._duplicates = self._repeats = self._lag_updates = 0  # in elements
        self._oldest = 0  # no element before this one will be emitted again
        self._last_update = np.full(1, _NEVER)  # [elements from the oldest on]
        self._make_room(0)

    def ledger(self, updates: int) -> Ledger:
        """The ledger after `updates` updates."""
        self._follow(updates)
        stage = self.stage
        width = stage.examples_per_element
        emitted = updates * stage.elements_per_batch
        waiting = max(stage.slots, 1) - 1 if emitted else 0
        return Ledger(
            ratio=stage.ratio,
            updates=updates,
            examples_read=self.examples_read(updates),
            examples_consumed=emitted * width,
            duplicates=self._duplicates * width,
            repeats=self._repeats * width,
            lag_updates=self._lag_updates * width,
            buffer_examples=stage.slots * width,
            buffer_fill=waiting * width,
        )

    def examples_read(self, updates: int) -> int:
        """How many fresh examples have been read after `updates` updates, any number."""
        elements = self.stage.elements_read(updates * self.stage.elements_per_batch)
        return elements * self.stage.examples_per_element

    def held(self, updates: int) -> Ints:
        """The elements that have been read and will be emitted again after `updates` updates, ascending."""
        self._follow(updates)
        return self._order.held

    def state_dict(self, updates: int) -> dict[str, Any]:
        """Where the order stands after `updates` updates: a few integers, and two for each slot.

        `slots` [2, slots, at least one] holds how many incoming elements have followed the one in each slot,
        and how many updates ago another copy of what it repeats was emitted last; 0 = never.
        """
        self._follow(updates)
        buffer = self._order.buffer
        last = self._last_update[self._order.waiting - self._oldest]
        slots = np.stack([buffer.taken - 1 - buffer.slots, np.where(last == _NEVER, 0, updates - last)])
        return {
            "updates": updates,
            "counts": [self._duplicates, self._repeats, self._lag_updates],
            "slots": torch.from_numpy(slots.astype(np.min_scalar_type(-1 - int(slots.max())))),
        }

    def place(self, updates: int) -> Ints:
        """What `Order.restore` is to find in the echo buffer after `updates` updates."""
        self._follow(updates)
        return self._order.buffer.slots.copy()

    def load_state_dict(self, state: Mapping[str, Any]) -> int:
        """Stand where `state` was taken: after how many updates.

        Raises:
            ValueError: `state` cannot be a state of this order; nothing has changed.
        """
        updates, counts, (behind, ago) = self._checked(state)
        slots = len(behind) + updates * self.stage.elements_per_batch - 1 - behind
        self._order.restore(updates, slots)
        self._duplicates, self._repeats, self._lag_updates = counts
        self._oldest, self._last_update = int(self._order.waiting.min()), np.full(1, _NEVER)
        self._make_room(0)
        self._last_update[self._order.waiting - self._oldest] = np.where(ago == 0, _NEVER, updates - ago)
        return updates

    def _checked(self, state: Mapping[str, Any]) -> tuple[int, list[int], Ints]:
        """The parts of a state that could be one."""
        try:
            updates, counts = state["updates"], state["counts"]
            behind, ago = slots = state["slots"].numpy().astype(np.int64)
            ordered = np.sort(behind)
            emitted = updates * self.stage.elements_per_batch
            sound = (
                all(type(number) is int and number >= 0 for number in (updates, *counts))
                and len(counts) == 3
                and len(behind) == len(self._order.buffer.slots)
                and 0 == ordered[0] <= ordered[-1] < len(behind) + emitted
                and (np.diff(ordered) > 0).all()
                and 0 <= ago.min() <= ago.max() <= updates < 1 << 48
            )
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError):
            sound = False
        if not sound:
            raise damaged_state()
        return updates, counts, slots

    def _follow(self, updates: int) -> None:
        """Walk on to `updates`, counting."""
        width = self.stage.elements_per_batch
        at_once = max(1, _ELEMENTS_AT_ONCE // width)
        while (done := self._order.updates) < updates:
            batches = min(at_once, updates - done)
            self._make_room(batches * width)
            now = np.repeat(np.arange(done, done + batches), width)
            before = exchange(self._last_update, self._order.next_block(batches).elements - self._oldest, now)
            lags = (now - before)[before != _NEVER]
            self._duplicates += int(np.count_nonzero(lags == 0))
            self._repeats += len(lags)
            self._lag_updates += int(lags.sum())

    def _make_room(self, emissions: int) -> None:
        """Let the table hold every element that waits after so many more emissions; drop the rest."""
        newest = self.stage.elements(self._order.buffer.taken + emissions - 1)
        if newest - self._oldest < len(self._last_update):
            return
        oldest = int(self._order.waiting.min())
        kept, needed = self._last_update[oldest - self._oldest :], newest + 1 - oldest
        self._oldest, self._last_update = oldest, np.full(needed + max(needed // 4, 1024), _NEVER)
        self._last_update[: len(kept)] = kept
