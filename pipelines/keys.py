"""The one road from a seed and a few names to random numbers.

Every random choice of a pipeline starts here, so that no two purposes share a stream of numbers, and nothing
ever reads a global generator.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from itertools import chain, count, islice

import numpy as np

_WORDS_AT_ONCE = 1024


def key(seed: int, *names: str | int, bits: int = 64) -> int:
    """A `bits` wide integer, the same on every machine, that is specific to the seed and the names."""
    text = repr((seed, *names)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=bits // 8).digest(), "big")


def random_bits(seed: int, *names: str | int) -> np.random.PCG64:
    """Random 64-bit words for one purpose, with `advance` to jump ahead."""
    return np.random.PCG64(key(seed, *names, bits=128))


def random_halves(seed: int, *names: str | int, start: int = 0) -> Iterator[int]:
    """The low and high halves of `random_bits`, 32 bits each, one by one from number `start` on."""
    bits = random_bits(seed, *names)
    bits.advance(start // 2)
    words = (bits.random_raw(_WORDS_AT_ONCE).astype("<u8", copy=False) for _ in count())
    return islice(chain.from_iterable(block.view("<u4").tolist() for block in words), start % 2, None)
