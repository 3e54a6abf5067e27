"""The fresh stream: which example is read when, before any echoing."""

from __future__ import annotations

import numpy as np

from pipelines.exchange import Ints
from pipelines.keys import random_bits


class FreshStream:
    """Ordinal 0, 1, 2, ... -> example id, through a new permutation of all examples each pass.

    Depends on the number of examples and the seed alone: pipelines that differ only in echo factor, insertion
    point, buffer or batch size read the same fresh examples in the same order. The permutations at hand are a
    cache: any pass can be made again at any time.

    Data parallel, rank r of n reads every n-th example of each permutation, beginning with the r-th: together
    the ranks read every example exactly once a pass. Where n does not divide the number of examples, the
    first ranks have passes one example longer; no rank waits for another. Each numbers its own ordinals.

    Attributes:
        examples: how many a pass has.
    """

    def __init__(self, examples: int, seed: int, rank: int = 0, world_size: int = 1) -> None:
        self._all = examples
        self._share = slice(rank, None, world_size)
        self.examples = len(range(examples)[self._share])
        self._seed = seed
        self._passes: dict[int, Ints] = {}
        self._window: Ints = np.empty(0, np.int64)

    def permutation(self, number: int) -> Ints:
        """The example ids [examples] of pass `number`, in the order in which they are read."""
        return np.random.Generator(random_bits(self._seed, "pass", number)).permutation(self._all)[
            self._share
        ]

    def example_ids(self, ordinals: Ints, oldest: int) -> Ints:
        """The example ids of `ordinals`, any shape; passes before that of ordinal `oldest` are forgotten."""
        first, last = oldest // self.examples, int(ordinals.max()) // self.examples
        if not (first in self._passes and last in self._passes):
            self._passes = {
                number: self._passes[number] if number in self._passes else self.permutation(number)
                for number in range(first, last + 1)
            }
            self._window = np.concatenate(list(self._passes.values()))
        return self._window.take(ordinals - min(self._passes) * self.examples)
