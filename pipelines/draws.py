"""Random choices of an augmentation: pure functions of (seed, operation, fresh ordinal, copy number).

A counter-based generator has no state to save, to share or to seed anew: Philox4x32-10 of Salmon et al.,
"Parallel random numbers: as easy as 1, 2, 3" (SC 2011), here over whole arrays of counters.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipelines.exchange import Ints
from pipelines.keys import key

Words = NDArray[np.uint64]
"""32-bit words, kept in 64-bit integers so that products do not overflow."""

_MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85
_LOW, _HALF = np.uint64(0xFFFFFFFF), np.uint64(32)


def philox4x32(counter: tuple[Words, Words, Words, Words], key: tuple[int, int]) -> tuple[Words, ...]:
    """Four random words for each counter, by ten rounds of Philox; parts of a counter broadcast together."""
    c0, c1, c2, c3 = np.broadcast_arrays(*counter)
    for turn in range(10):
        k0, k1 = (
            np.uint64((part + turn * step) & 0xFFFFFFFF) for part, step in zip(key, _KEY_STEPS, strict=True)
        )
        low0, low1 = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        high0, high1 = low0 >> _HALF, low1 >> _HALF
        for changed, by in ((high1, c1), (high1, k0), (high0, c3), (high0, k1)):
            changed ^= by
        low0 &= _LOW
        low1 &= _LOW
        c0, c1, c2, c3 = high1, low1, high0, low0
    return c0, c1, c2, c3


class Draws:
    """The draws of some examples, each known by its fresh ordinal and its copy number.

    Asking for the same name again gives the same numbers, whatever was asked in between and whichever other
    examples there are. Two operations must use two names; `within` keeps parts of a whole apart.
    """

    def __init__(self, seed: int, ordinals: Ints, copies: Ints) -> None:
        self._seed = seed
        self._ordinals, self._copies = ordinals, copies
        self._known: dict[str, Words] = {}
        self._scope = ""
        self._rows = slice(None)

    def __len__(self) -> int:
        return len(self._ordinals[self._rows])

    def rows(self, rows: slice) -> Draws:
        """The draws of a part of the examples. What one part computes, it computes for all of them."""
        return self._derived(self._scope, rows)

    def within(self, scope: str | int) -> Draws:
        """The same examples with names of their own."""
        return self._derived(f"{self._scope}{scope}/", self._rows)

    def uniform(self, name: str, n: int = 1) -> NDArray[np.float64]:
        """[examples, n] numbers in [0, 1), multiples of 2**-32."""
        return np.multiply(self._words(name, n), 2.0**-32, dtype=np.float64)

    def integers(self, name: str, low: int, high: int, n: int = 1) -> Ints:
        """[examples, n] integers in low..high - 1; uniform but for less than (high - low) / 2**32."""
        if not 0 < high - low <= 1 << 32:
            raise ValueError(
                f"Draws.integers: {low}..{high} is no range; give low < high, at most 2**32 apart."
            )
        return low + (self._words(name, n) * np.uint64(high - low) >> _HALF).astype(np.int64)

    def _derived(self, scope: str, rows: slice) -> Draws:
        derived = Draws(self._seed, self._ordinals, self._copies)
        derived._known, derived._scope, derived._rows = self._known, scope, rows
        return derived

    def _words(self, name: str, n: int) -> Words:
        name = self._scope + name
        words = self._known.get(name)
        if words is None or words.shape[1] < n:
            words = self._known[name] = self._philox(name, n)
        return words[self._rows, :n]

    def _philox(self, name: str, n: int) -> Words:
        """[all examples, n rounded up to fours]."""
        number = key(self._seed, "draw", name)
        ordinals = self._ordinals.astype(np.uint64)[:, None]
        copies = self._copies.astype(np.uint64)[:, None]
        index = np.arange((n + 3) // 4, dtype=np.uint64)
        counter = (ordinals & _LOW, ordinals >> _HALF, copies, index)
        words = philox4x32(counter, (number & 0xFFFFFFFF, number >> 32))
        return np.stack(words, axis=-1).reshape(len(ordinals), -1)
