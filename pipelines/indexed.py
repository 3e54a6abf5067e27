"""The index engine: data in memory, gathered and augmented in whole batches where they lie."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from pipelines.augment import Augmentation
from pipelines.batch import Batch, Origins
from pipelines.bookkeeper import Bookkeeper
from pipelines.checks import whole_number
from pipelines.draws import Draws
from pipelines.echo import EchoSpec, EchoStage
from pipelines.fresh import FreshStream
from pipelines.gather import Field
from pipelines.ledger import Ledger
from pipelines.order import Order
from pipelines.pixels import Array
from pipelines.state import fingerprint, require_same

_BLOCK_EXAMPLES = 32_768
_BLOCK_EXAMPLES_WITH_DRAWS = 8_192
"""Examples whose order, and draws, are computed at a time, about. Any number gives the same stream."""


class Pipeline:
    """Endless training batches from data in memory: fresh stream -> echo -> augmentation -> batches.

    There is one position: iterating goes on where the pipeline stands, and `ledger` and `state_dict` tell of
    that place. Batches run across the ends of passes over the data.

    Args:
        data: inputs and targets, equally long arrays or tensors (on any device); first axis = examples.
        batch_size: examples per batch, at most those there are.
        echo: where and how often data are repeated, and how the repeats are shuffled.
        augment: called on every batch, see `Augmentation`; None = none.
        seed: decides the fresh stream, the echo buffer's shuffling and all draws of the augmentation.

    Raises:
        ValueError: the data or the settings cannot make a pipeline.
    """

    _rows: Iterator[tuple[int, Any, Any]]
    _handed_out: int

    def __init__(
        self,
        data: tuple[Array, Array],
        *,
        batch_size: int,
        echo: EchoSpec = EchoSpec(),  # noqa: B008 - it is immutable
        augment: Augmentation | None = None,
        seed: int = 0,
        _block_examples: int | None = None,
    ) -> None:
        examples = _common_length(data)
        advice = f"give a whole number from 1 to the number of examples, {examples}"
        batch_size = whole_number(batch_size, "Pipeline: batch_size", 1, advice)
        if batch_size > examples:
            raise ValueError(f"Pipeline: batch_size is {batch_size}; {advice}.")
        self._fields = [Field(part) for part in data]
        self._augment = augment
        self._seed = whole_number(seed, "Pipeline: seed", -math.inf, "give a whole number")
        self._settings = fingerprint(examples, batch_size, echo, augment, self._seed)
        self._batch_size = batch_size
        stage = EchoStage.of(echo, batch_size)
        self._order = Order(stage, self._seed)
        self._books = Bookkeeper(stage, self._seed)
        self._fresh = FreshStream(examples, self._seed)
        at_once = _block_examples or (_BLOCK_EXAMPLES if augment is None else _BLOCK_EXAMPLES_WITH_DRAWS)
        self._batches_per_block = max(1, at_once // batch_size)
        self._close_block()

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        step = next(self._rows, None)
        if step is None:
            self._open_block()
            step = next(self._rows)
        row, inputs, targets = step
        self._handed_out = row + 1
        if self._augment is not None:
            size = self._batch_size
            draws = self._draws.rows(slice(row * size, (row + 1) * size))
            inputs, targets = self._augment(inputs, targets, draws)
        return Batch(inputs, targets, self._origins, row)

    def _open_block(self) -> None:
        """Get ready to hand out the next batches."""
        block = self._order.next_block(self._batches_per_block)
        ids = self._fresh.example_ids(block.ordinals, block.oldest)
        self._origins = Origins(block, ids)
        self._rows = zip(range(block.batches), *(field.batches(ids) for field in self._fields), strict=True)
        if self._augment is not None:
            self._draws = Draws(self._seed, block.ordinals.reshape(-1), block.draw_copies.reshape(-1))
        self._in_block, self._handed_out = block.batches, 0

    def _close_block(self) -> None:
        """Stand where the order stands, with nothing prepared."""
        self._rows = iter(())
        self._in_block = self._handed_out = 0

    @property
    def updates(self) -> int:
        """Batches handed out so far."""
        return self._order.updates - self._in_block + self._handed_out

    @property
    def ledger(self) -> Ledger:
        """What has been read, handed out and repeated so far."""
        return self._books.ledger(self.updates)

    def state_dict(self) -> dict[str, Any]:
        """Where the pipeline stands, between the last batch and the next: small, and no data.

        A plain dict of integers, strings and one integer tensor (8 bytes a slot of the echo buffer), so that
        `torch.save` and `torch.load(weights_only=True)` can carry it.
        """
        return {"pipeline": self._settings, **self._books.state_dict(self.updates)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Stand where `state` was taken. Reads no data.

        Raises:
            ValueError: `state` is damaged, or that of a pipeline with other settings; nothing has changed.
        """
        require_same(self._settings, state)
        self._order.restore(*self._books.load_state_dict(state))
        self._fresh = FreshStream(self._fresh.examples, self._seed)
        self._close_block()


def _common_length(data: Any) -> int:
    """How many examples there are, if `data` are what they should be."""
    if not isinstance(data, tuple) or len(data) != 2:
        raise ValueError("Pipeline: data are no pair; give a tuple of inputs and targets.")
    for part in data:
        if not isinstance(part, np.ndarray | torch.Tensor) or part.ndim == 0:
            raise ValueError(
                f"Pipeline: data hold a {type(part).__name__}; give arrays or tensors with one example a row."
            )
    inputs, targets = map(len, data)
    if inputs != targets:
        raise ValueError(f"Pipeline: there are {inputs} inputs but {targets} targets; give as many of each.")
    if not inputs:
        raise ValueError("Pipeline: the data are empty; give at least one example.")
    return inputs
