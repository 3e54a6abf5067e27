"""Picking examples out of data in memory, batch after batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
import torch

from pipelines.exchange import Ints
from pipelines.pixels import Array, as_array_on_cpu

_SMALL_EXAMPLE_BYTES = 64
"""Examples up to this size are gathered a block of batches at a time."""


class Field:
    """One part of the data: examples along the first axis of an array or a tensor.

    NumPy picks examples faster than torch on the CPU, so tensors there lend it their memory. Data that are
    not contiguous in memory are copied once, as picking from them would copy them every time.
    """

    def __init__(self, data: Array) -> None:
        self._tensor_out = isinstance(data, torch.Tensor)
        source = as_array_on_cpu(data)
        self._source = (
            source.contiguous() if isinstance(source, torch.Tensor) else np.ascontiguousarray(source)
        )

    def batches(self, ids: Ints) -> Iterator[Array]:
        """For each row of `ids` [batches, batch size] its examples; none share memory with the data.

        Device tensors are picked on their device, which gets all the ids at once.
        """
        source = self._source
        if isinstance(source, torch.Tensor):
            return map(source.index_select, repeat(0), torch.from_numpy(ids).to(source.device).unbind())
        if source[0].nbytes <= _SMALL_EXAMPLE_BYTES:
            block = source.take(ids, axis=0)
            return iter(torch.from_numpy(block).unbind() if self._tensor_out else block)
        picked = map(source.take, ids, repeat(0))
        return map(torch.from_numpy, picked) if self._tensor_out else picked


def common_length(data: Any, name: str) -> int:
    """How many examples there are; a `ValueError` if `data` are no pair of equally long arrays or tensors."""
    if not isinstance(data, tuple) or len(data) != 2:
        raise ValueError(
            f"{name}: data are no pair, but of type {type(data).__name__}; give a tuple of inputs and "
            "targets, or a source, as DatasetSource(dataset) is one."
        )
    for part in data:
        if not isinstance(part, np.ndarray | torch.Tensor) or part.ndim == 0:
            raise ValueError(
                f"{name}: data hold a {type(part).__name__}; give arrays or tensors with one example a row."
            )
        if part.dtype == object:
            raise ValueError(f"{name}: data hold an array of objects; give numbers, with one example a row.")
    inputs, targets = map(len, data)
    if inputs != targets:
        raise ValueError(f"{name}: there are {inputs} inputs but {targets} targets; give as many of each.")
    if not inputs:
        raise ValueError(f"{name}: the data are empty; give at least one example.")
    return inputs
