"""Reader of Fashion-MNIST: four gzipped idx files, images and labels of 60,000 + 10,000 articles of clothing.

Source: Xiao, Rasul, Vollgraf, arXiv 1708.07747. The idx format (LeCun's, of MNIST): two zero bytes, a type
byte (8 = unsigned byte), the number of axes, the axes' lengths as big-endian 32-bit numbers, then the data.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from study.data.root import data_folder, require
from study.errors import UserError

NAME = "fashion_mnist"

CLASSES = (
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
)
"""What the labels 0..9 stand for."""

SIZE = 28
"""Height and width of an image, in pixels."""

Bytes: TypeAlias = NDArray[np.uint8]


def read_fashion_mnist(part: Literal["train", "t10k"], folder: Path | None = None) -> tuple[Bytes, Bytes]:
    """The images uint8 [examples, 28, 28] and labels uint8 [examples] of one part, in the files' order.

    `folder` holds the `.gz` files; by default it is the data set's own.

    Raises:
        UserError: a file is missing, cut or of another shape, a label is none of the ten, or there are not as
            many labels as images; names file and record.
    """
    folder = data_folder(NAME) if folder is None else folder
    images_file = require(folder / f"{part}-images-idx3-ubyte.gz", NAME)
    labels_file = require(folder / f"{part}-labels-idx1-ubyte.gz", NAME)
    images, labels = read_idx(images_file, axes=3), read_idx(labels_file, axes=1)
    if images.shape[1:] != (SIZE, SIZE):
        height, width = images.shape[1:]
        raise _broken(images_file, f"holds images of {height}x{width} pixels, not {SIZE}x{SIZE}")
    if len(images) != len(labels):
        raise _broken(
            labels_file, f"holds {len(labels)} labels for {len(images)} images in {images_file.name}"
        )
    wrong = np.flatnonzero(labels >= len(CLASSES))
    if len(wrong):
        raise _broken(labels_file, f"has the label {labels[wrong[0]]} at record {wrong[0]}; they are 0 to 9")
    return images, labels


def read_idx(file: Path, axes: int) -> Bytes:
    """The unsigned bytes of a gzipped idx file with so many axes.

    Raises:
        UserError: the file is no such file, or its data end too early or too late; names file and record.
    """
    try:
        with gzip.open(file) as stream:
            content = stream.read()
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise _broken(file, f"cannot be unpacked ({error})") from error
    start = 4 + 4 * axes
    if content[:4] != bytes([0, 0, 8, axes]) or len(content) < start:
        raise _broken(file, f"is no idx file of unsigned bytes with {axes} axes")
    shape = struct.unpack(f">{axes}I", content[4:start])
    wanted, found = math.prod(shape), len(content) - start
    if found < wanted:
        record = found // math.prod(shape[1:])
        raise _broken(file, f"ends within record {record} of {shape[0]}")
    if found > wanted:
        raise _broken(file, f"holds {found - wanted} bytes more than its {shape[0]} records")
    return np.frombuffer(content, dtype=np.uint8, offset=start).reshape(shape).copy()  # writable


def _broken(file: Path, what: str) -> UserError:
    return UserError(f"{file} {what}; move {file.parent} away and run 'echostudy data fetch {NAME}'.")
