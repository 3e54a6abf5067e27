"""Photos in tar shards, read from the front."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import tee
from pathlib import Path

from torch import Tensor

from pipelines import SourceError, TarSource
from pipelines.sources import Pair, stack
from study.data.ahead import ahead
from study.data.pictures import decoded

_PHOTO, _LABEL = ("jpg", "jpeg", "JPEG"), "cls"


class PhotoShards:
    """Photos and labels as `.jpg` and `.cls` files in tar shards: a `pipelines.StreamSource`.

    As `pipelines.TarSource`, whose inputs are photos [3, size, size] uint8 (see `pictures.decoded`) and whose
    targets are class numbers, 0 to `classes` - 1. But threads decode in advance, so that to continue in the
    middle of a pass its beginning is decoded again. The stream does not depend on the number of threads.

    Args:
        shards: paths or addresses.
        classes: how many classes there are.
        size: height and width that photos are decoded to, in pixels.
        threads: how many decode.
        shuffle_buffer: photos, as they are in the shards, that are shuffled as they come.
        skip: leave out and count what is damaged, rather than raise `SourceError`.

    Attributes:
        skipped: what the last `in_order` left out.
    """

    def __init__(
        self,
        shards: Sequence[Path | str],
        *,
        classes: int,
        size: int,
        threads: int = 1,
        shuffle_buffer: int = 0,
        skip: bool = False,
    ) -> None:
        self._source = TarSource(
            shards,
            partial(_photo_and_label, classes=classes, size=size),
            shuffle_buffer=shuffle_buffer,
            on_error="skip" if skip else "raise",
        )
        self._threads = threads
        self.identity, self.skips_damage = self._source.identity, skip
        self.skipped = 0

    def read_pass(
        self, number: int, seed: int, rank: int, world_size: int
    ) -> Iterator[tuple[int, Callable[[], Pair]]]:
        """See `pipelines.StreamSource`."""
        named, wanted = tee(self._source.read_pass(number, seed, rank, world_size))
        with closing(ahead(_give, wanted, self._threads)) as examples:
            for example, (name, _) in zip(examples, named, strict=True):
                yield name, example.result

    def in_order(self, at_once: int) -> Iterator[Pair]:
        """All photos and labels once, stacked so many at a time; always in the same order.

        Raises:
            SourceError: something is damaged, and not to be left out.
        """
        self.skipped = 0
        some = []
        for _, give in self.read_pass(0, 0, 0, 1):
            try:
                some.append(give())
            except SourceError:
                if not self.skips_damage:
                    raise
                self.skipped += 1
            if len(some) == at_once:
                yield stack(some)
                some = []
        if some:
            yield stack(some)


def _give(raw: tuple[int, Callable[[], Pair]]) -> Pair:
    return raw[1]()


def _photo_and_label(files: dict[str, bytes], *, classes: int, size: int) -> tuple[Tensor, int]:
    photo = next((files[extension] for extension in _PHOTO if extension in files), None)
    if photo is None or _LABEL not in files:
        raise ValueError(f"it has {sorted(files)}, but needs a .jpg and a .cls")
    label = int(files[_LABEL])
    if not 0 <= label < classes:
        raise ValueError(f"its label is {label}, none of 0 to {classes - 1}")
    return decoded(photo, size), label
