"""What a pipeline hands out."""

from __future__ import annotations

from typing import Any

from pipelines.exchange import Ints
from pipelines.order import OrderBlock


class Batch:
    """One training batch. Every field has the batch as its first axis.

    Attributes:
        inputs: tensors where the data are tensors, else arrays; the caller's own, to change at will.
        targets: likewise.
    """

    __slots__ = ("_block", "_ids", "_row", "inputs", "targets")

    def __init__(self, inputs: Any, targets: Any, ids: Ints, block: OrderBlock, row: int) -> None:
        self.inputs = inputs
        self.targets = targets
        self._ids = ids
        self._block = block
        self._row = row

    def __len__(self) -> int:
        return int(self._ids.shape[1])

    @property
    def example_ids(self) -> Ints:
        """[batch] the place of each example in the data."""
        example_ids: Ints = self._ids[self._row]
        return example_ids

    @property
    def ordinals(self) -> Ints:
        """[batch] when each example was read: 0 for the first fresh example of all, then 1, 2, ..."""
        ordinals: Ints = self._block.ordinals[self._row]
        return ordinals

    @property
    def copies(self) -> Ints:
        """[batch] copy number: 0 for the first emission of an example by the echo stage, then 1, 2, ..."""
        copies: Ints = self._block.copies[self._row]
        return copies
