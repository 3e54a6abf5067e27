"""The one road from a seed and a few names to random numbers.

Every random choice of a pipeline starts here, so no two purposes share a stream of numbers and nothing
ever reads a global generator.
"""

from __future__ import annotations

import hashlib

import numpy as np


def key(seed: int, *names: str | int, bits: int = 64) -> int:
    """A `bits` wide integer, the same on every machine, that is specific to the seed and the names."""
    return int.from_bytes(
        hashlib.blake2b(repr((seed, *names)).encode(), digest_size=bits // 8).digest(), "big"
    )


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A generator of its own for one purpose. PCG64: one step per float64, and `advance` jumps ahead."""
    return np.random.Generator(np.random.PCG64(key(seed, *names, bits=128)))
