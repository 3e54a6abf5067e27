"""Photos in folders of their classes, read by number."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, islice, tee
from pathlib import Path

import numpy as np
from torch import Tensor

from pipelines import SourceError
from pipelines.exchange import Ints
from pipelines.sources import Pair, stack
from study.data.ahead import ahead
from study.data.pictures import decoded, is_whole
from study.errors import UserError

_SUFFIXES = (".jpeg", ".jpg")


class PhotoFolders:
    """The JPEG files `folder/<class>/*`, in alphabetical order: a `pipelines.MapSource`.

    An input is a photo [3, size, size] uint8 (see `pictures.decoded`), a target the place of its class among
    `classes`. Threads decode them in advance; the stream does not depend on their number.

    Args:
        folder: holds a folder for each class, or for some of them.
        classes: the names of all classes, in order.
        size: height and width that photos are decoded to, in pixels.
        threads: how many decode.
        skip: look at all files now (see `pictures.is_whole`), and leave the damaged ones out. One that turns
            out later to be damaged is an error all the same.

    Attributes:
        examples: how many photos there are.
        skipped: how many were left out.

    Raises:
        UserError: a class's folder is of another name or empty, or no photo is whole.
    """

    def __init__(
        self, folder: Path, classes: list[str], *, size: int, threads: int = 1, skip: bool = False
    ) -> None:
        numbers = {name: number for number, name in enumerate(classes)}
        for name in class_names(folder):
            if name not in numbers:
                raise UserError(
                    f"The photos in {folder / name} are of no class for training, so that they would get a "
                    "wrong label; move the folder, or give it the name that it has there."
                )
        self._folder, self._size, self._threads = folder, size, threads
        self._photos = [
            (photo, numbers[name]) for name in class_names(folder) for photo in _files(folder / name)
        ]
        self.skipped = self._leave_out_damaged() if skip else 0
        self.examples = len(self._photos)

    def read(self, groups: Iterable[Ints]) -> Iterator[Pair]:
        """See `pipelines.MapSource`.

        Raises:
            SourceError: a photo cannot be decoded; names the file.
        """
        named, wanted = tee(groups)
        numbers = chain.from_iterable(ids.tolist() for ids in wanted)
        with closing(ahead(self._example, numbers, self._threads)) as examples:
            for ids in named:
                yield stack([example.result() for example in islice(examples, len(ids))])

    def in_order(self, at_once: int) -> Iterator[Pair]:
        """All photos and labels once, stacked so many at a time; errors as `read`."""
        places = range(0, self.examples, at_once)
        return self.read(np.arange(first, min(first + at_once, self.examples)) for first in places)

    def _example(self, number: int) -> tuple[Tensor, int]:
        photo, label = self._photos[number]
        try:
            return decoded(photo.read_bytes(), self._size), label
        except Exception as error:
            raise SourceError(
                f"The photo {photo} cannot be decoded ({error}); fetch it anew, or leave such photos out "
                "with 'options: {on_error: skip}'."
            ) from error

    def _leave_out_damaged(self) -> int:
        with closing(ahead(lambda photo: is_whole(photo[0]), self._photos, self._threads)) as whole:
            good = [photo for photo, one in zip(self._photos, whole, strict=True) if one.result()]
        if not good:
            raise UserError(
                f"None of the {len(self._photos)} photos in {self._folder} is whole; fetch them anew."
            )
        skipped = len(self._photos) - len(good)
        self._photos = good
        return skipped


def class_names(folder: Path) -> list[str]:
    """The names of the folders in `folder`, in alphabetical order.

    Raises:
        UserError: there are none.
    """
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir())
    if not names:
        raise UserError(f"{folder} has no folders; put one for each class there, with its photos in it.")
    return names


def _files(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.name.lower().endswith(_SUFFIXES))
    if not names:
        raise UserError(
            f"{folder} has no photos (files that end in .JPEG or .jpg); put them there, or remove it."
        )
    return [folder / name for name in names]
