"""Small tar shards of pictures, sound and damaged, for the tests of those who read them."""

from __future__ import annotations

import io
import tarfile
from typing import Any

import numpy as np

from pipelines import Pipeline

SIZES = (7, 4, 9, 5)
ALL = [shard * 2**32 + place for shard, size in enumerate(SIZES) for place in range(size)]


def picture(shard: int, place: int) -> np.ndarray:
    return np.full((3, 3), 20 * shard + place, np.uint8)


def tar_bytes(files: list[tuple[str, bytes]], mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def shard_bytes(shard: int, size: int, spoilt: int = -1, mode: str = "w") -> bytes:
    files = []
    for place in range(size):
        raw = b"spoilt" if place == spoilt else picture(shard, place).tobytes()
        files += [(f"data/{place:03}.raw", raw), (f"data/{place:03}.cls.txt", str(place).encode())]
    return tar_bytes(files, mode)


def decode(files: dict[str, bytes]) -> tuple[Any, Any]:
    return np.frombuffer(files["raw"], np.uint8).reshape(3, 3).copy(), int(files["cls.txt"])


def pipeline(source: Any, **settings: Any) -> Pipeline:
    return Pipeline(source, **({"batch_size": 6, "seed": 3, "_block_examples": 40} | settings))


def ids_by_ordinal(stream: Pipeline, examples: int) -> list[int]:
    ids: dict[int, int] = {}
    while not ids.keys() >= set(range(examples)):
        batch = next(stream)
        ids.update(zip(batch.ordinals.tolist(), batch.example_ids.tolist(), strict=True))
    return [ids[ordinal] for ordinal in range(examples)]
