"""What a pipeline hands out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipelines.checks import described
from pipelines.exchange import Ints
from pipelines.order import OrderBlock


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the examples of a block of batches come from; its batches share it.

    Attributes:
        order: which fresh example is emitted when, as which copy.
        example_ids: [batches, batch size] the place of each example in the data.
    """

    order: OrderBlock
    example_ids: Ints


class Batch:
    """One training batch. Every field has the batch as its first axis.

    Attributes:
        inputs: tensors where the data are tensors, else arrays; the caller's own, to change at will.
        targets: likewise.
    """

    __slots__ = ("_origins", "_row", "inputs", "targets")

    def __init__(self, inputs: Any, targets: Any, origins: Origins, row: int) -> None:
        self.inputs = inputs
        self.targets = targets
        self._origins = origins
        self._row = row

    def __repr__(self) -> str:
        return f"<Batch of inputs {described(self.inputs)} and targets {described(self.targets)}>"

    def __len__(self) -> int:
        return len(self.example_ids)

    @property
    def example_ids(self) -> Ints:
        """[batch] the place of each example in the data."""
        ids: Ints = self._origins.example_ids[self._row]
        return ids

    @property
    def ordinals(self) -> Ints:
        """[batch] when each example was read: 0 for the first fresh example of all, then 1, 2, ..."""
        ordinals: Ints = self._origins.order.ordinals[self._row]
        return ordinals

    @property
    def copies(self) -> Ints:
        """[batch] copy number: 0 for the first emission of an example by the echo stage, then 1, 2, ..."""
        copies: Ints = self._origins.order.copies[self._row]
        return copies
