"""The order: which fresh example is emitted when, as which copy. Integers only; no data.

Every engine follows it; its ledger and its state are theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from pipelines.buffer import EchoBuffer
from pipelines.echo import EchoSpec, EchoStage
from pipelines.exchange import Ints, take_back
from pipelines.ledger import NEVER, Ledger, Repeats, counts_by_batch

BLOCK_EXAMPLES = 16_384
"""Examples whose order is computed at a time, about; any number gives the same order."""


@dataclass(frozen=True)
class OrderBlock:
    """Consecutive batches, computed in one go. Rows are batches; all else is flat, [rows * elements a batch].

    Attributes:
        stage: the echo stage, which says what an element is.
        first_update: the update that row 0 is.
        oldest: no ordinal before this one occurs in this block or after it.
        drawn: slots drawn from the echo buffer.
        incoming: the emissions of the echo stage that leave the buffer from those slots.
        elements: the elements that those repeat.
        previous: the update in which each element was emitted before, or `ledger.NEVER`.
        counts: [rows + 1, 3] running totals after each row, see `ledger.counts_by_batch`.
    """

    stage: EchoStage
    first_update: int
    oldest: int
    drawn: Ints
    incoming: Ints
    elements: Ints
    previous: Ints
    counts: Ints

    @property
    def rows(self) -> int:
        """Batches in the block."""
        return len(self.counts) - 1

    @cached_property
    def ordinals(self) -> Ints:
        """[rows, batch size] the fresh ordinal of each example."""
        width = self.stage.examples_per_element
        ordinals = self.elements if width == 1 else self.elements[:, None] * width + np.arange(width)
        return ordinals.reshape(self.rows, -1)

    @cached_property
    def copies(self) -> Ints:
        """[rows, batch size] the copy number of each example."""
        copies = self.stage.copies(self.incoming)
        return np.repeat(copies, self.stage.examples_per_element).reshape(self.rows, -1)

    @property
    def draw_copies(self) -> Ints:
        """[rows, batch size] the copy whose draws each example is augmented with."""
        return self.copies if self.stage.copies_differ else np.zeros_like(self.ordinals)


class Order:
    """The endless order of a pipeline: fresh ordinals -> echo -> echo buffer -> batches.

    A pure function of the echo settings, the batch size and the seed; `block_examples` is only how much of it
    is computed at a time.
    """

    def __init__(
        self, echo: EchoSpec, batch_size: int, seed: int, block_examples: int = BLOCK_EXAMPLES
    ) -> None:
        self.stage = EchoStage.of(echo, batch_size)
        self._rows_per_block = max(1, block_examples // batch_size)
        self._buffer = EchoBuffer(self.stage.slots, seed)
        self._repeats = Repeats()
        self._rest_at(0, np.zeros(3, np.int64))

    def _rest_at(self, updates: int, counts: Ints) -> None:
        """Stand between two blocks, after so many updates."""
        none = np.empty(0, np.int64)
        self._block = OrderBlock(self.stage, updates, 0, none, none, none, none, counts[None])
        self._row = 0

    @property
    def updates(self) -> int:
        """Batches handed out."""
        return self._block.first_update + self._row

    def step(self) -> tuple[OrderBlock, int]:
        """The next batch, as a row of a block."""
        row = self._row
        if row == self._block.rows:
            self._block = self._next_block()
            row = 0
        self._row = row + 1
        return self._block, row

    def _next_block(self) -> OrderBlock:
        stage, buffer = self.stage, self._buffer
        rows, width = self._rows_per_block, stage.elements_per_batch
        start, n = buffer.emitted, rows * width
        waiting = buffer.emptied.min
        self._repeats.make_room(
            newest=stage.elements(start + n + buffer.size - 1),
            oldest=lambda: stage.elements(int(waiting()) + buffer.size),
        )
        drawn, incoming = buffer.emit(n)
        elements = stage.elements(incoming)
        previous = self._repeats.record(elements, start)
        counts = counts_by_batch(previous.reshape(rows, width), self.updates) + self._block.counts[-1]
        oldest = self._repeats.oldest * stage.examples_per_element
        return OrderBlock(stage, self.updates, oldest, drawn, incoming, elements, previous, counts)

    @property
    def ledger(self) -> Ledger:
        """What has been read, handed out and repeated up to the last batch handed out."""
        stage = self.stage
        width = stage.examples_per_element
        emitted = self.updates * stage.elements_per_batch
        incoming = emitted + max(stage.slots, 1) - 1 if emitted else 0
        read = stage.elements(incoming - 1) + 1 if incoming else 0
        duplicates, repeats, lag_updates = (width * int(count) for count in self._block.counts[self._row])
        return Ledger(
            ratio=stage.ratio,
            updates=self.updates,
            examples_read=read * width,
            examples_consumed=emitted * width,
            duplicates=duplicates,
            repeats=repeats,
            lag_updates=lag_updates,
            buffer_examples=stage.slots * width,
            buffer_fill=(incoming - emitted) * width,
        )

    def state_dict(self) -> dict[str, Any]:
        """Where the order stands: a few integers, and two for each slot of the echo buffer.

        `slots` [2, slots, at least one] holds how many emissions ago each slot was emptied, and how many
        updates ago the element that is in it was emitted last, as an earlier copy; 0 = never.
        """
        block, buffer, width = self._block, self._buffer, self.stage.elements_per_batch
        done = self._row * width
        emptied = buffer.emptied.copy()
        take_back(emptied, block.drawn[done:], block.incoming[done:] - buffer.size)
        waiting = self.stage.elements(emptied + buffer.size)
        last = self._repeats.last(waiting, block.elements[done:], block.previous[done:])
        updates_ago = np.where(last == NEVER, 0, self.updates - last // width)
        slots = np.stack([self.updates * width - emptied, updates_ago]).astype(np.int32)
        return {
            "updates": self.updates,
            "counts": block.counts[self._row].tolist(),
            "slots": torch.from_numpy(slots),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Stand where `state` was taken; `ValueError` if it cannot be a state of this order."""
        updates, counts, slots = state["updates"], state["counts"], state["slots"]
        width, size = self.stage.elements_per_batch, self._buffer.size
        emitted = updates * width
        emissions_ago, updates_ago = slots.numpy().astype(np.int64)
        emptied = emitted - emissions_ago
        last = np.where(updates_ago == 0, NEVER, (updates - updates_ago) * width)
        self._buffer.restore(emptied, emitted)
        self._repeats.restore(self.stage.elements(emptied + size), last)
        self._rest_at(updates, np.array(counts, np.int64))
