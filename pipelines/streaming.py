"""The streaming engine: examples are read when their turn comes, and kept until their last emission.

The order is that of the index engine, so the stream is too. What is kept is the payload at the insertion
point: as read, before augmentation; augmented, after it; in whole batches, after batching.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

from pipelines.augment import Augmentation, augmented
from pipelines.batch import Batch, Origins
from pipelines.draws import Draws
from pipelines.echo import EchoStage
from pipelines.exchange import Ints
from pipelines.from_source import FromSource, in_groups
from pipelines.order import Order, OrderBlock
from pipelines.prefetch import Prefetch
from pipelines.readers import Examples, Reader
from pipelines.rows import Rows
from pipelines.sources import Pair


class StreamingEngine(FromSource):
    """Batches from a reader.

    Memory: of the echo buffer's elements, each once, and of what one batch needs beside them. Payloads are
    picked out of it as copies, so neither an augmentation nor a consumer can change what is kept.
    """

    def __init__(
        self, reader: Reader, augment: Augmentation | None, seed: int, batches_per_block: int
    ) -> None:
        super().__init__(reader, augment, seed)
        self._batches_per_block = batches_per_block

    def batches(self, order: Order, ahead: int = 0) -> Iterator[Batch]:
        """See `Engine`. First reads again what had been kept where `order` stands."""
        groups, is_echoed = to_read(order.stage, order.updates, order.held), order.stage.ratio > 1
        arriving = self.arriving(groups, order.stage.copies_differ or not is_echoed)
        follow = self._echoed if is_echoed else self._straight
        if not ahead:
            yield from follow(order, arriving)
            return
        with Prefetch(arriving, ahead) as read:
            yield from follow(order, read)

    def _straight(self, order: Order, arriving: Iterator[Examples]) -> Iterator[Batch]:
        """Without an echo stage, groups are batches."""
        while True:
            block = order.next_block(self._batches_per_block)
            origins = Origins(block, np.empty_like(block.ordinals))
            augment = self._augmenting(block)
            for row in range(block.batches):
                origins.example_ids[row], inputs, targets = next(arriving)
                yield Batch(*augment(row, inputs, targets), origins, row)

    def _echoed(self, order: Order, arriving: Iterator[Examples]) -> Iterator[Batch]:
        stage, width = order.stage, order.stage.examples_per_element
        memory = Rows(_most_elements(stage))
        held, rows = order.held, np.empty(0, np.int64)
        while len(rows) < len(held):
            rows = np.append(rows, self.keep(memory, width, next(arriving)))
        while True:
            emitted = order.buffer.emitted
            block = order.next_block(self._batches_per_block)
            stay = _Stay(stage, emitted, held, rows, block, order.held)
            origins = Origins(block, np.empty_like(block.ordinals))
            augment = self._augmenting(block)
            for row in range(block.batches):
                while stay.arrived < stay.needed[row]:
                    stay.arrive(self.keep(memory, width, next(arriving)))
                ids, inputs, targets = memory.pick(stay.rows_of_batch(row))
                memory.give_back(stay.rows_to_leave(row))
                if stage.copies_differ:
                    inputs, targets = augment(row, inputs, targets)
                origins.example_ids[row] = ids
                yield Batch(inputs, targets, origins, row)
            held, rows = stay.remaining()

    def _augmenting(self, block: OrderBlock) -> Callable[[int, Any, Any], Pair]:
        """Augments a batch of the block, given its number there."""
        if self._augment is None:
            return lambda row, inputs, targets: (inputs, targets)
        augment, size = self._augment, block.ordinals.shape[1]
        draws = Draws(self._seed, block.ordinals.reshape(-1), block.copies.reshape(-1))

        def augmenting(row: int, inputs: Any, targets: Any) -> Pair:
            return augmented(augment, inputs, targets, draws.rows(slice(row * size, (row + 1) * size)))

        return augmenting


class _Stay:
    """Which elements are in memory during a block of batches, in which rows, and when they may leave."""

    def __init__(
        self, stage: EchoStage, emitted: int, held: Ints, rows: Ints, block: OrderBlock, staying: Ints
    ) -> None:
        ends = emitted + np.arange(block.batches + 1) * stage.elements_per_batch
        read = stage.elements_read(ends)
        self.needed = (len(held) + read[1:] - read[0]).tolist()  # elements in memory, for each batch
        self.arrived = len(held)
        self._elements = np.concatenate([held, np.arange(read[0], read[-1])])
        self._rows = np.concatenate([rows, np.empty(len(self._elements) - len(rows), np.int64)])
        places = np.searchsorted(self._elements, block.elements)
        self._places = places.reshape(block.batches, -1)
        self._remain = np.isin(self._elements, staying, assume_unique=True)
        last_batch = np.full(len(self._elements), -1)
        last_batch[places] = np.repeat(np.arange(block.batches), stage.elements_per_batch)
        leaving = np.flatnonzero(~self._remain)
        self._leaving = leaving[np.argsort(last_batch[leaving], kind="stable")]
        self._bounds = np.searchsorted(last_batch[self._leaving], np.arange(block.batches + 1)).tolist()

    def arrive(self, rows: Ints) -> None:
        """The next elements are now in `rows`."""
        self._rows[self.arrived : self.arrived + len(rows)] = rows
        self.arrived += len(rows)

    def rows_of_batch(self, batch: int) -> Ints:
        """Where the elements of a batch are."""
        rows: Ints = self._rows[self._places[batch]]
        return rows

    def rows_to_leave(self, batch: int) -> Ints:
        """Where the elements are whose last emission is in that batch."""
        return self._rows[self._leaving[self._bounds[batch] : self._bounds[batch + 1]]]

    def remaining(self) -> tuple[Ints, Ints]:
        """The elements still in memory after the block, and their rows."""
        return self._elements[self._remain], self._rows[self._remain]


def to_read(stage: EchoStage, updates: int, held: Ints) -> Iterator[Ints]:
    """The ordinals to be read, in groups of at most a batch: what was held after `updates`, then fresh ones.

    Each batch begins a group, so that nothing is read before the batch that needs it.
    """
    at_once, width = stage.elements_per_batch, stage.examples_per_element
    yield from in_groups(held, at_once, width)
    for batch in count(updates):
        read, needed = (stage.elements_read(end * at_once) for end in (batch, batch + 1))
        yield from in_groups(np.arange(read, needed), at_once, width)


def _most_elements(stage: EchoStage) -> int:
    """The most elements in memory at one time: what waits, and what a batch brings in beside it."""
    fresh = stage.elements_per_batch * stage.ratio.denominator // stage.ratio.numerator + 1
    return max(stage.slots, 1) + fresh
