"""CIFAR-10 in its official Python format: five training files and one for testing, each a pickled dict.

Data: Krizhevsky, "Learning multiple layers of features from tiny images", 2009: 60,000 colour images of 32x32
in ten classes. A pickle can run any code, so these are read without running any: what a file names is never
imported, and the only thing rebuilt is an array of bytes.
"""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from study.data.root import data_folder, require
from study.errors import UserError

NAME = "cifar10"
CLASSES = 10
SHAPE = (3, 32, 32)
TRAINING_FILES = tuple(f"data_batch_{i}" for i in range(1, 6))
TEST_FILES = ("test_batch",)

_ADVICE = f"fetch it anew with 'echostudy data fetch {NAME}'"


class LabelledImages(NamedTuple):
    """Images [n, 3, 32, 32] uint8, and labels [n] int64 from 0 to 9."""

    images: NDArray[np.uint8]
    labels: NDArray[np.int64]


class Split(NamedTuple):
    """What a study trains on and what it measures on; `skipped` records were broken and are in neither."""

    train: LabelledImages
    valid: LabelledImages
    skipped: int


def folder() -> Path:
    """Where the official files lie: `cifar10/cifar-10-batches-py` under the data root."""
    return data_folder(NAME) / "cifar-10-batches-py"


def read_split(*, skip: bool = False) -> Split:
    """The training files, split once and for all into nine parts for training and one for validation.

    Stratified: of the 50,000 images, 45,000 and 5,000, with as many of each class. With `skip`, records with
    a wrong label are left out and counted.

    Raises:
        UserError: a file is missing or damaged, or (without `skip`) a record has a wrong label.
    """
    whole, skipped = _read(TRAINING_FILES, skip)
    train, valid = split(whole.labels)
    return Split(_chosen(whole, train), _chosen(whole, valid), skipped)


def split(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which records are for training and which, a tenth, for validation; the same for the same labels."""
    train, valid = train_test_split(
        np.arange(len(labels)), test_size=len(labels) // 10, random_state=0, stratify=labels
    )
    return train, valid


def read_test(*, skip: bool = False) -> LabelledImages:
    """The 10,000 images that no study looks at; errors as `read_split`."""
    return _read(TEST_FILES, skip)[0]


def _chosen(whole: LabelledImages, records: NDArray[np.int64]) -> LabelledImages:
    return LabelledImages(whole.images[records], whole.labels[records])


def _read(names: Iterable[str], skip: bool) -> tuple[LabelledImages, int]:
    """The records of some files one after the other, and how many were left out."""
    files = [read_file(require(folder() / name, NAME), skip=skip) for name in names]
    images, labels, skipped = zip(*files, strict=True)
    return LabelledImages(np.concatenate(images), np.concatenate(labels)), sum(skipped)


def read_file(path: Path, *, skip: bool = False) -> tuple[NDArray[np.uint8], NDArray[np.int64], int]:
    """Images and labels of one official file, and how many records were left out; errors as `read_split`."""
    pixels, labels = _content(path)
    sound = [type(label) is int and 0 <= label < CLASSES for label in labels]
    if not all(sound) and not skip:
        record = sound.index(False)
        raise UserError(
            f"CIFAR-10: record {record} of {path} has the label {labels[record]!r}, which is none of "
            f"0 to {CLASSES - 1}; {_ADVICE}, or leave such records out with 'options: {{on_error: skip}}'."
        )
    images = pixels.reshape(-1, *SHAPE)[sound]
    kept = [label for label, good in zip(labels, sound, strict=True) if good]
    return images, np.array(kept, np.int64), len(labels) - len(kept)


def _content(path: Path) -> tuple[NDArray[np.uint8], list[Any]]:
    """The pixels of a file's images, a row an image, and the labels as they are."""
    try:
        with path.open("rb") as file:
            entries = _HarmlessUnpickler(file, encoding="bytes").load()
        array, labels = entries[b"data"], entries[b"labels"]
        if not isinstance(array, _Array) or not isinstance(labels, list):
            raise ValueError("'data' is no array or 'labels' no list")
        pixels = np.frombuffer(array.content, np.uint8).reshape(array.shape, order=array.order)
        if pixels.shape != (expected := (len(labels), math.prod(SHAPE))):
            raise ValueError(f"for {len(labels)} labels the pixels are {pixels.shape}, not {expected}")
    except Exception as error:  # whatever a damaged pickle makes its reader stumble over
        raise UserError(f"CIFAR-10: {path} is damaged ({error}); {_ADVICE}.") from error
    return pixels, labels


class _Dtype:
    """Takes the place of a pickled array's type."""

    def __init__(self, code: bytes, *_: Any) -> None:
        self.code = code

    def __setstate__(self, state: Any) -> None:
        """Byte order and the like, which bytes do not have."""


class _Array:
    """Takes the place of a pickled array of bytes: NumPy's own trusts what a pickle tells it."""

    shape: tuple[int, ...]
    order: Literal["C", "F"]
    content: bytes

    def __init__(self, *_: Any) -> None:
        """Called with NumPy's class and the beginnings of an array, which do not matter."""

    def __setstate__(self, state: tuple[Any, tuple[int, ...], _Dtype, bool, bytes]) -> None:
        _, self.shape, dtype, in_fortran_order, self.content = state
        self.order = "F" if in_fortran_order else "C"
        if dtype.code != b"u1":
            raise pickle.UnpicklingError(f"it holds an array of {dtype.code!r}, not of bytes")


_HARMLESS = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
}


class _HarmlessUnpickler(pickle.Unpickler):
    """Imports nothing: the names that an array needs stand for the classes above, and others are refused."""

    def find_class(self, module: str, name: str) -> Any:
        """See `pickle.Unpickler`."""
        if (module, name) not in _HARMLESS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which has not been run")
        return _HARMLESS[module, name]
