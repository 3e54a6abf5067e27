"""Where the echo stage keeps payloads: rows of memory, written and picked many at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from pipelines.exchange import Ints
from pipelines.pixels import Array, as_array_on_cpu


class Rows:
    """Room for a fixed number of elements, each in a row of its own; what is picked is a copy.

    Memory is claimed when first written to, and rows given back are the first to be used again: the number of
    rows in use at one time decides how much there is.
    """

    def __init__(self, rows: int) -> None:
        self._free = np.arange(rows)[::-1].copy()
        self._left = rows
        self._columns: list[_Column] = []

    def add(self, fields: Sequence[Array], n: int) -> Ints:
        """Put n elements, which the first axis of each field holds one after the other; their rows [n]."""
        if not self._columns:
            self._columns = [_Column(field, n, len(self._free)) for field in fields]
        self._left -= n
        rows = self._free[self._left : self._left + n].copy()
        for column, field in zip(self._columns, fields, strict=True):
            column.write(rows, field)
        return rows

    def pick(self, rows: Ints) -> list[Array]:
        """The elements in `rows`, one after the other along the first axis of each field."""
        return [column.pick(rows) for column in self._columns]

    def give_back(self, rows: Ints) -> None:
        """Let `rows` be used again."""
        self._free[self._left : self._left + len(rows)] = rows
        self._left += len(rows)

    @property
    def in_use(self) -> int:
        """How many rows hold an element."""
        return len(self._free) - self._left


class _Column:
    """One field of all elements: [rows, numbers an element], flat because NumPy copies flat rows faster."""

    def __init__(self, first: Array, elements: int, rows: int) -> None:
        self._tensor_out = isinstance(first, torch.Tensor)
        self._shape, self._type = tuple(first.shape[1:]), first.dtype
        first = as_array_on_cpu(first)
        shape = (rows, len(first) // elements * math.prod(self._shape))
        try:
            self._memory: Array = (
                first.new_empty(shape) if isinstance(first, torch.Tensor) else np.empty(shape, first.dtype)
            )
        except (MemoryError, torch.OutOfMemoryError) as error:
            raise ValueError(
                f"The echo buffer needs {rows} x {first.nbytes // elements:,} bytes, more than there are; "
                "make it smaller, or echo at a point where examples are smaller."
            ) from error

    def write(self, rows: Ints, field: Array) -> None:
        if tuple(field.shape[1:]) != self._shape or field.dtype != self._type:
            raise ValueError(
                f"Examples of shape {tuple(field.shape[1:])} and type {field.dtype} follow some of shape "
                f"{self._shape} and type {self._type}; let source and augmentation give all alike."
            )
        elements = as_array_on_cpu(field).reshape(len(rows), self._memory.shape[1])
        if isinstance(self._memory, torch.Tensor):
            self._memory[torch.from_numpy(rows).to(self._memory.device)] = torch.as_tensor(elements)
        else:
            self._memory[rows] = elements

    def pick(self, rows: Ints) -> Array:
        if isinstance(self._memory, torch.Tensor):
            picked: Array = self._memory.index_select(0, torch.from_numpy(rows).to(self._memory.device))
        else:
            picked = self._memory.take(rows, axis=0)
        examples = picked.reshape(-1, *self._shape)
        tensor_out = self._tensor_out and isinstance(examples, np.ndarray)
        return torch.from_numpy(examples) if tensor_out else examples
