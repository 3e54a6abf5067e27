"""The index engine: data in memory, gathered and augmented in whole batches where they lie."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import torch

from pipelines.augment import Augmentation
from pipelines.batch import Batch
from pipelines.checks import whole_number
from pipelines.draws import Draws
from pipelines.echo import EchoSpec
from pipelines.exchange import Ints
from pipelines.fresh import FreshStream
from pipelines.ledger import Ledger
from pipelines.order import BLOCK_EXAMPLES, Order, OrderBlock
from pipelines.pixels import Array, as_array_on_cpu
from pipelines.state import fingerprint, require_same

_SMALL_EXAMPLE_BYTES = 64
"""Examples up to this size are gathered a block of batches at a time."""


class Pipeline:
    """Endless training batches from data in memory: fresh stream -> echo -> augmentation -> batches.

    There is one position: iterating goes on where the pipeline stands, and `ledger` and `state_dict` tell of
    that place. Batches run across the ends of passes over the data.

    Args:
        data: inputs and targets, equally long tensors (on any device) or arrays; first axis = examples.
        batch_size: examples per batch, at most those there are.
        echo: where and how often data are repeated, and how the repeats are shuffled.
        augment: called on every batch, see `Augmentation`; None = none.
        seed: decides the fresh stream, the echo buffer's shuffling and all draws of the augmentation.

    Raises:
        ValueError: the data or the settings cannot make a pipeline.
    """

    def __init__(
        self,
        data: tuple[Array, Array],
        *,
        batch_size: int,
        echo: EchoSpec = EchoSpec(),  # noqa: B008 - it is immutable
        augment: Augmentation | None = None,
        seed: int = 0,
        _block_examples: int = BLOCK_EXAMPLES,
    ) -> None:
        examples = _common_length(data)
        advice = f"give a whole number from 1 to the number of examples, {examples}"
        batch_size = whole_number(batch_size, "Pipeline: batch_size", 1, advice)
        if batch_size > examples:
            raise ValueError(f"Pipeline: batch_size is {batch_size}; {advice}.")
        self._data = data
        self._augment = augment
        self._seed = whole_number(seed, "Pipeline: seed", -math.inf, "give a whole number")
        self._settings = fingerprint(examples, batch_size, echo, augment, self._seed)
        self._order = Order(echo, batch_size, self._seed, _block_examples)
        self._fresh = FreshStream(examples, self._seed)
        self._block: OrderBlock | None = None

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        block, row = self._order.step()
        if block is not self._block:
            self._open(block)
        inputs, targets = next(self._gathered)
        if self._augment is not None:
            size = self._ids.shape[1]
            draws = self._draws.rows(slice(row * size, (row + 1) * size))
            inputs, targets = self._augment(inputs, targets, draws)
        return Batch(inputs, targets, self._ids, block, row)

    def _open(self, block: OrderBlock) -> None:
        """Get ready to hand out the block's batches, from its first row on."""
        self._ids = self._fresh.example_ids(block.ordinals, block.oldest)
        self._gathered = zip(*(_gather(field, self._ids) for field in self._data), strict=True)
        self._draws = Draws(self._seed, block.ordinals.reshape(-1), block.draw_copies.reshape(-1))
        self._block = block

    @property
    def ledger(self) -> Ledger:
        """What has been read, handed out and repeated so far."""
        return self._order.ledger

    def state_dict(self) -> dict[str, Any]:
        """Where the pipeline stands, between the last batch and the next: small, and no data.

        A plain dict of integers, strings and one integer tensor (8 bytes a slot of the echo buffer), so that
        `torch.save` and `torch.load(weights_only=True)` can carry it.
        """
        return {"pipeline": self._settings, **self._order.state_dict()}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Stand where `state` was taken. Reads no data.

        Raises:
            ValueError: `state` is damaged, or that of a pipeline with other settings; nothing has changed.
        """
        require_same(self._settings, state)
        self._order.load_state_dict(state)
        self._fresh = FreshStream(self._fresh.examples, self._seed)
        self._block = None


def _gather(field: Array, ids: Ints) -> Iterator[Array]:
    """The batches that the rows of `ids` name, one after the other, none sharing memory with the data."""
    source = as_array_on_cpu(field)
    if isinstance(source, torch.Tensor):
        return map(partial(source.index_select, 0), torch.from_numpy(ids).to(source.device).unbind())
    if source[0].nbytes <= _SMALL_EXAMPLE_BYTES:
        batches = iter(source.take(ids, axis=0))
    else:
        batches = map(partial(source.take, axis=0), ids)
    return map(torch.from_numpy, batches) if isinstance(field, torch.Tensor) else batches


def _common_length(data: tuple[Array, Array]) -> int:
    if len(data) != 2:
        raise ValueError(f"Pipeline: data has {len(data)} parts; give a tuple of inputs and targets.")
    inputs, targets = (len(part) for part in data)
    if inputs != targets:
        raise ValueError(
            f"Pipeline: there are {inputs} inputs but {targets} targets; give as many of one as of the other."
        )
    if not inputs:
        raise ValueError("Pipeline: the data are empty; give at least one example.")
    return inputs
