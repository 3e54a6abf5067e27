"""The echo buffer: tf.data's shuffle, computed in blocks.

Keep `slots` slots full; emit what is in a uniformly drawn slot; refill it with the next incoming element.
"""

from __future__ import annotations

import numpy as np

from pipelines.exchange import Ints, exchange
from pipelines.keys import random_bits

_ONE_BACK = 2**128 - 1
"""As many steps forward take PCG64 one step back: its period is 2**128."""


class EchoBuffer:
    """Shuffles the echo stage's emissions 0, 1, 2, ... (its incoming elements), endlessly.

    Of k slots, slot s starts with incoming element s. Emission t empties slot s_t, and the slot is refilled
    with incoming element k + t. s_t is a pure function of (seed, t), uniform but for less than k / 2**32: 32
    random bits, scaled to [0, k). With one slot, or none, elements leave in the order in which they came.

    Attributes:
        emitted: how many elements have left the buffer so far.
        slots: [slots, at least one] the incoming element in each slot.
    """

    def __init__(self, slots: int, seed: int) -> None:
        self._seed = seed
        try:
            self.restore(0, np.arange(max(1, slots)))
        except MemoryError as error:
            raise ValueError(
                f"The echo buffer needs {8 * slots:,} bytes for the order of its {slots:,} slots alone, more "
                "than there are; make it smaller."
            ) from error

    def restore(self, emitted: int, slots: Ints) -> None:
        """Put the buffer where it was after `emitted` emissions."""
        self.emitted, self.slots = emitted, slots
        self._bits = random_bits(self._seed, "echo buffer")
        self._bits.advance(emitted // 2)

    @property
    def taken(self) -> int:
        """Incoming elements that have been put into a slot so far."""
        return len(self.slots) + self.emitted

    def emit(self, n: int) -> Ints:
        """The incoming elements [n] that leave the buffer next; n >= 1."""
        refills = np.arange(self.taken, self.taken + n)
        if len(self.slots) == 1:  # nothing to shuffle
            incoming, self.slots = refills - 1, refills[-1:].copy()
        else:
            incoming = exchange(self.slots, self._draw(n), refills)
        self.emitted += n
        return incoming

    def _draw(self, n: int) -> Ints:
        """The slots [n] that the next n emissions empty."""
        odd = self.emitted % 2
        halves = self._bits.random_raw((odd + n + 1) // 2).astype("<u8", copy=False).view("<u4")
        if (odd + n) % 2:
            self._bits.advance(_ONE_BACK)
        scaled = halves[odd : odd + n].astype(np.uint64)
        scaled *= np.uint64(len(self.slots))
        scaled >>= np.uint64(32)
        return scaled.view(np.int64)
