"""When was this cell last written? A table that is read and overwritten in sequence, without a loop.

Both the echo buffer (slot -> when it was last refilled) and the ledger (element -> when it was last emitted)
are a table of times. At time t one cell is read, and t is written into it. So what time t reads is the last
time before it with the same key, or what the table held: a stable sort by key puts the two side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

_HALF = 1 << 16


def exchange(table: Ints, keys: Ints, start: int) -> Ints:
    """Read `table[keys[i]]` and write `start + i` there, for i = 0, 1, ... in turn; return what was read.

    Args:
        table: [cells] times, all before `start`; updated in place.
        keys: [n] cells of the table.
        start: the time of the first read and write.

    Returns:
        [n]: equal to `for i, key in enumerate(keys): previous[i], table[key] = table[key], start + i`.
    """
    previous = table.take(keys)
    order = stable_order(keys)
    in_order = keys.astype(np.uint16).take(order) if len(table) <= _HALF else keys.take(order)
    again = np.flatnonzero(in_order[1:] == in_order[:-1])
    previous[order[1:].take(again)] = order.take(again) + start
    np.maximum.at(table, keys, np.arange(start, start + len(keys)))
    return previous


def take_back(table: Ints, keys: Ints, previous: Ints) -> None:
    """Undo an `exchange` that returned `previous`: each cell gets back what its first reader read."""
    cells, first = np.unique(keys, return_index=True)
    table[cells] = previous[first]


def stable_order(keys: Ints) -> NDArray[np.intp]:
    """`np.argsort(keys, kind="stable")` for keys in [0, 2**32), several times faster.

    NumPy sorts 16-bit integers by radix and wider ones by merging: two passes over halves beat one merge.
    """
    order = np.argsort(keys.astype(np.uint16), kind="stable")
    if keys.size == 0 or keys.max() < _HALF:
        return order
    return order[np.argsort((keys >> 16).astype(np.uint16)[order], kind="stable")]
