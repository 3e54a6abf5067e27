"""Picking examples out of data in memory, batch after batch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

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
