"""Fashion-MNIST's training images as tar shards of PNG files, to be served over HTTP.

    python benchmarks/fashion_shards.py FOLDER

Fetch the data first: `echostudy data fetch fashion_mnist`.
"""

from __future__ import annotations

import argparse
import io
import tarfile
from pathlib import Path

from PIL import Image
from torch import Tensor

from study.workloads.fashion_mnist import FashionMnistConvnet

A_SHARD = 2_500
"""Examples a shard: 22 shards of about 4 MB."""


def write_shards(images: Tensor, labels: Tensor, folder: Path) -> list[Path]:
    """Write `A_SHARD` examples a shard, in the order given: `.png` and `.cls` files named by their number.

    `images` [n, 1, height, width] uint8, `labels` [n].
    """
    folder.mkdir(parents=True, exist_ok=True)
    shards = []
    for begin in range(0, len(images), A_SHARD):
        path = folder / f"train-{begin // A_SHARD:03}.tar"
        with tarfile.open(path, "w") as shard:
            for number in range(begin, min(begin + A_SHARD, len(images))):
                png = io.BytesIO()
                Image.fromarray(images[number, 0].numpy()).save(png, "png")
                _add(shard, f"{number:06}.png", png.getvalue())
                _add(shard, f"{number:06}.cls", str(int(labels[number])).encode())
        shards.append(path)
    return shards


def _add(shard: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    shard.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    print(*write_shards(*FashionMnistConvnet().train_data(), parser.parse_args().folder), sep="\n")
