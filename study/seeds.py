"""Seeds and ids by hashing: the same on every machine, and independent where any part differs.

The hash is BLAKE2b of the parts' canonical JSON, so no seed can be reached from another by adding to it.
"""

from __future__ import annotations

import hashlib
import json


def stable_digest(*parts: object) -> bytes:
    """8 bytes that depend on the JSON-able `parts` alone; `ValueError` or `TypeError` for others."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.blake2b(text.encode(), digest_size=8).digest()


def derived_seed(*parts: object) -> int:
    """A seed in [0, 2**64) from what it is for and what it belongs to: `derived_seed("stream", 0, 2)`."""
    return int.from_bytes(stable_digest(*parts), "big")
