"""The echo buffer: tf.data's shuffle, computed in blocks.

Keep `slots` slots full; emit what is in a uniformly drawn slot; refill it with the next incoming element.
"""

from __future__ import annotations

import numpy as np

from pipelines.exchange import Ints, exchange
from pipelines.keys import generator


class EchoBuffer:
    """Shuffles the echo stage's emissions 0, 1, 2, ... (its incoming elements), endlessly.

    Slot s starts with incoming element s, and the slot that emission t empties is refilled with incoming
    element `size + t`. So the emission that last emptied a slot (`s - size` if none did) tells what is in it.
    Which slot emission t empties is a pure function of (seed, t). With one slot, or none, elements leave in
    the order in which they came.

    Attributes:
        size: slots, at least one.
        emitted: how many elements have left the buffer so far.
        emptied: [size] the emission that last emptied each slot.
    """

    def __init__(self, slots: int, seed: int) -> None:
        self.size = max(1, slots)
        self._seed = seed
        self.restore(np.arange(-self.size, 0), 0)

    def restore(self, emptied: Ints, emitted: int) -> None:
        """Put the buffer where it was after `emitted` emissions."""
        self.emptied, self.emitted = emptied, emitted
        self._generator = generator(self._seed, "echo buffer")
        self._generator.bit_generator.advance(emitted)  # type: ignore[attr-defined]

    def emit(self, n: int) -> tuple[Ints, Ints]:
        """The slots [n] that the next n emissions draw, and the incoming elements [n] they emit."""
        drawn = (self._generator.random(n) * self.size).astype(np.int64)
        incoming = exchange(self.emptied, drawn, self.emitted) + self.size
        self.emitted += n
        return drawn, incoming
