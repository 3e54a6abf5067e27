"""The order: which fresh example is emitted when, as which copy. Integers only; no data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pipelines.buffer import EchoBuffer
from pipelines.echo import EchoStage, Geometry
from pipelines.exchange import Ints


@dataclass(frozen=True)
class OrderBlock:
    """Consecutive batches, computed in one go.

    Attributes:
        stage: says what an element is.
        batches: how many there are.
        oldest: no ordinal before this one occurs in this block or after it.
        elements: [batches * elements a batch] the elements, as they leave the echo buffer.
        element_copies: gives their copy numbers, which are computed only if somebody asks.
    """

    stage: Geometry
    batches: int
    oldest: int
    elements: Ints
    element_copies: Callable[[], Ints]

    @cached_property
    def ordinals(self) -> Ints:
        """[batches, batch size] the fresh ordinal of each example."""
        width = self.stage.examples_per_element
        ordinals = self.elements if width == 1 else self.elements[:, None] * width + np.arange(width)
        return ordinals.reshape(self.batches, -1)

    @cached_property
    def copies(self) -> Ints:
        """[batches, batch size] the copy number of each example."""
        return np.repeat(self.element_copies(), self.stage.examples_per_element).reshape(self.batches, -1)

    @property
    def draw_copies(self) -> Ints:
        """[batches, batch size] the copy whose draws each example is augmented with."""
        return self.copies if self.stage.copies_differ else np.zeros_like(self.ordinals)


class Order:
    """The endless order of a pipeline: fresh ordinals -> echo -> echo buffer -> batches.

    A pure function of the echo stage and the seed. How many batches are computed at a time changes nothing.
    """

    def __init__(self, stage: EchoStage, seed: int) -> None:
        self.stage = stage
        self.buffer = EchoBuffer(stage.slots, seed)

    @property
    def updates(self) -> int:
        """Batches computed so far."""
        return self.buffer.emitted // self.stage.elements_per_batch

    @property
    def newest(self) -> int:
        """The newest element in the echo buffer, its next refill done: the last one to have been read."""
        return self.stage.elements(self.buffer.taken - 1)

    @property
    def waiting(self) -> Ints:
        """[slots, at least one] the elements in the echo buffer, its next refill done."""
        return self.stage.elements(self.buffer.slots)

    @property
    def held(self) -> Ints:
        """The elements that have been read and will be emitted again, ascending."""
        waiting = np.unique(self.waiting)
        return waiting[waiting < self.stage.elements_read(self.buffer.emitted)]

    def restore(self, updates: int, slots: Ints) -> None:
        """Stand after so many updates, with these incoming elements in the echo buffer."""
        self.buffer.restore(updates * self.stage.elements_per_batch, slots)

    def next_block(self, batches: int) -> OrderBlock:
        """The next batches."""
        oldest = self.stage.elements(int(self.buffer.slots.min()))
        incoming = self.buffer.emit(batches * self.stage.elements_per_batch)
        elements = self.stage.elements(incoming)
        oldest *= self.stage.examples_per_element
        return OrderBlock(self.stage, batches, oldest, elements, lambda: self.stage.copies(incoming))
