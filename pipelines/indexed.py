"""The index engine: data in memory, gathered and augmented in whole batches where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipelines.adaptive import AdaptiveOrder
from pipelines.augment import Augmentation, augmented
from pipelines.batch import Batch, Origins
from pipelines.draws import Draws
from pipelines.engine import Books
from pipelines.fresh import FreshStream
from pipelines.gather import Field
from pipelines.order import Order
from pipelines.pixels import Array


class IndexEngine:
    """Batches picked out of `data` by number. Keeps nothing but the numbers."""

    def __init__(
        self,
        data: tuple[Array, Array],
        fresh: FreshStream,
        augment: Augmentation | None,
        seed: int,
        batches_per_block: int,
    ) -> None:
        self._fields = [Field(part) for part in data]
        self._fresh = fresh
        self._augment = augment
        self._seed = seed
        self._batches_per_block = batches_per_block

    def batches(self, order: Order | AdaptiveOrder, ahead: int = 0) -> Iterator[Batch]:
        """See `Engine`. Nothing is upstream."""
        augment, size = self._augment, order.stage.examples_per_element * order.stage.elements_per_batch
        while True:
            block = order.next_block(self._batches_per_block)
            ids = self._fresh.example_ids(block.ordinals, block.oldest)
            origins = Origins(block, ids)
            gathered = zip(range(block.batches), *(field.batches(ids) for field in self._fields), strict=True)
            if augment is None:
                for row, inputs, targets in gathered:
                    yield Batch(inputs, targets, origins, row)
                continue
            draws = Draws(self._seed, block.ordinals.reshape(-1), block.draw_copies.reshape(-1))
            for row, inputs, targets in gathered:
                own = draws.rows(slice(row * size, (row + 1) * size))
                inputs, targets = augmented(augment, inputs, targets, own)
                yield Batch(inputs, targets, origins, row)

    def ledger_entries(self, books: Books, updates: int) -> dict[str, Any]:
        """See `Engine`: none."""
        return {}

    def state_dict(self, books: Books, updates: int) -> dict[str, Any]:
        """See `Engine`: nothing."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any], read: int) -> None:
        """See `Engine`."""
