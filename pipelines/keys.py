"""The one road from a seed and a few names to random numbers.

Every random choice of a pipeline starts here, so that no two purposes share a stream of numbers, and nothing
ever reads a global generator.
"""

from __future__ import annotations

import hashlib

import numpy as np


def key(seed: int, *names: str | int, bits: int = 64) -> int:
    """A `bits` wide integer, the same on every machine, that is specific to the seed and the names."""
    text = repr((seed, *names)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=bits // 8).digest(), "big")


def random_bits(seed: int, *names: str | int) -> np.random.PCG64:
    """Random 64-bit words for one purpose, with `advance` to jump ahead."""
    return np.random.PCG64(key(seed, *names, bits=128))
