"""Tiny samples of the image data sets in their official formats, cut out of two real photos."""

import io
import pickle
import tarfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

STRIPS = 10
"""A crop's class is the strip it was cut from: five upright strips of each photo."""


@cache
def photos() -> list[np.ndarray]:
    """Two photos [427, 640, 3], a temple and a flower (scikit-learn's samples, CC BY)."""
    return load_sample_images().images


def crops(size: int, count: int, seed: int) -> Iterator[tuple[np.ndarray, int]]:
    """`count` random crops [size, size, 3] uint8 and their classes, which take turns."""
    random = np.random.default_rng(seed)
    for number in range(count):
        label = number % STRIPS
        photo = photos()[label // 5]
        width = photo.shape[1] // 5
        left = min(label % 5 * width + random.integers(max(width - size, 1)), photo.shape[1] - size)
        top = random.integers(photo.shape[0] - size + 1)
        yield photo[top : top + size, left : left + size], label


class Name:
    """A global name, written and not looked up; pickle wants it to be callable."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self) -> None:
        raise TypeError(f"{self.module}.{self.name} is a name to be written, not called")


class PythonTwoPickler(pickle._Pickler):
    """Writes as Python 2 did: protocol 2, all text as byte strings, NumPy's arrays under its old names."""

    dispatch = pickle._Pickler.dispatch.copy()

    def save_text(self, text: str | bytes) -> None:
        content = text.encode() if isinstance(text, str) else text
        self.write(pickle.BINSTRING + len(content).to_bytes(4, "little") + content)

    def save_name(self, name: Name) -> None:
        self.write(pickle.GLOBAL + f"{name.module}\n{name.name}\n".encode())

    def save_dtype(self, dtype: np.dtype) -> None:
        self.save_reduce(
            Name("numpy", "dtype"), (dtype.str[1:], 0, 1), (3, "|", None, None, None, -1, -1, 0), obj=dtype
        )

    def save_array(self, array: np.ndarray) -> None:
        self.save_reduce(
            Name("numpy.core.multiarray", "_reconstruct"),
            (Name("numpy", "ndarray"), (0,), "b"),
            (1, array.shape, array.dtype, np.isfortran(array), array.tobytes("A")),
            obj=array,
        )

    dispatch |= {str: save_text, bytes: save_text, Name: save_name, np.ndarray: save_array}
    dispatch[type(np.dtype("u1"))] = save_dtype


def python_two_pickle(content: object) -> bytes:
    """`content` as the official files are written."""
    file = io.BytesIO()
    PythonTwoPickler(file, protocol=2).dump(content)
    return file.getvalue()


def cifar10_file(count: int, seed: int) -> dict[str, object]:
    """The content of one official file."""
    images, labels = zip(*crops(32, count, seed), strict=True)
    return {
        "batch_label": f"training batch {seed} of 5",
        "labels": list(labels),
        "data": np.stack(images).transpose(0, 3, 1, 2).reshape(count, -1).copy(),
        "filenames": [f"photo_s_{number:06}.png" for number in range(count)],
    }


def write_cifar10(root: Path) -> None:
    """5 x 40 training images and 20 for testing."""
    folder = root / "cifar10" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    for number in range(1, 6):
        (folder / f"data_batch_{number}").write_bytes(python_two_pickle(cifar10_file(40, number)))
    (folder / "test_batch").write_bytes(python_two_pickle(cifar10_file(20, 6)))


PHOTO_CLASSES = ("n01440764", "n01443537", "n02086240")


def jpeg(pixels: np.ndarray, mode: str = "RGB") -> bytes:
    """Pixels [height, width, 3] as a JPEG file: "RGB", grey ("L") or for printing ("CMYK")."""
    file = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(file, "JPEG", quality=90)
    return file.getvalue()


def labelled_jpegs(count: int, seed: int) -> Iterator[tuple[bytes, int]]:
    """Crops of different sizes as JPEG files, some grey or for printing, and their classes, 0 to 2."""
    random = np.random.default_rng(seed)
    for number, (pixels, label) in enumerate(crops(300, count, seed)):
        mode = "L" if number == 3 else "CMYK" if number == 4 else "RGB"
        height, width = random.integers(200, 301, 2)
        yield jpeg(pixels[:height, :width], mode), label % len(PHOTO_CLASSES)


def write_imagenet_folders(root: Path) -> None:
    """12 photos for training and 6 for validation in folders of three of the official classes."""
    for part, count, seed in (("train", 12, 1), ("val", 6, 2)):
        for number, (content, label) in enumerate(labelled_jpegs(count, seed)):
            folder = root / "imagenet" / part / PHOTO_CLASSES[label]
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{PHOTO_CLASSES[label]}_{number}.JPEG").write_bytes(content)


def write_imagenet_shards(root: Path) -> None:
    """The same photos in two shards for training and one for validation."""
    for part, count, seed in (("train", 12, 1), ("val", 6, 2)):
        examples = [
            (f"{number:06}", {"jpg": content, "cls": str(label).encode()})
            for number, (content, label) in enumerate(labelled_jpegs(count, seed))
        ]
        for shard, first in enumerate(range(0, count, 6)):
            write_tar(
                root / "imagenet" / "shards" / f"imagenet-{part}-{shard:06}.tar", examples[first : first + 6]
            )


def write_tar(shard: Path, examples: list[tuple[str, dict[str, bytes]]]) -> None:
    """Examples (their name, and their files by extension) as a tar shard."""
    shard.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(shard, "w") as archive:
        for name, files in examples:
            for extension, content in files.items():
                member = tarfile.TarInfo(f"{name}.{extension}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))


SAMPLES: dict[str, Callable[[Path], None]] = {
    "cifar10_resnet32": write_cifar10,
    "imagenet_resnet50": write_imagenet_folders,
}

POINTS = {"cifar10_resnet32": {"learning_rate": 0.01}, "imagenet_resnet50": {"learning_rate": 0.01}}
UPDATES = {"cifar10_resnet32": 12, "imagenet_resnet50": 2}
