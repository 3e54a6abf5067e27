"""Small samples of Fashion-MNIST in the official format, written under a data root."""

import gzip
import struct
from pathlib import Path

import numpy as np


def write_idx(file: Path, values: np.ndarray) -> None:
    """`values` as a gzipped idx file of unsigned bytes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    header = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    file.write_bytes(gzip.compress(header + values.astype(np.uint8).tobytes(), mtime=0))


def articles(number: int) -> tuple[np.ndarray, np.ndarray]:
    """`number` images and labels, the classes in turn: a bar, further down the higher the label."""
    labels = np.arange(number) % 10
    noise = np.random.default_rng(0).integers(0, 40, size=(number, 28, 28))
    rows = np.arange(28)[None, :, None]
    top = 4 + 2 * labels[:, None, None]
    bars = (rows >= top) & (rows < top + 3)
    return np.where(bars, 200, noise), labels


def write_fashion_mnist(root: Path, train: int = 240, test: int = 40) -> None:
    """Both parts, small, in the folder `fashion_mnist`."""
    for part, number in (("train", train), ("t10k", test)):
        images, labels = articles(number)
        write_idx(root / "fashion_mnist" / f"{part}-images-idx3-ubyte.gz", images)
        write_idx(root / "fashion_mnist" / f"{part}-labels-idx1-ubyte.gz", labels)


SAMPLES = {
    "fashion_mnist_convnet": write_fashion_mnist,
    "fashion_mnist_resnet8": write_fashion_mnist,
}
"""What each workload of this family reads."""
