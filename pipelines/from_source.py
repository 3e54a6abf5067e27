"""What engines share that read from a source: reading, and what ledger and state tell of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import tee
from typing import Any

import numpy as np

from pipelines.augment import Augmentation, augmented
from pipelines.draws import Draws
from pipelines.engine import Books
from pipelines.exchange import Ints
from pipelines.readers import Examples, Reader
from pipelines.rows import Rows
from pipelines.state import damaged_state


class FromSource:
    """Reads the fresh stream, and keeps payloads in rows.

    Attributes:
        example_bytes: what one kept example takes; 0 as long as none has been kept.
    """

    def __init__(self, reader: Reader, augment: Augmentation | None, seed: int) -> None:
        self._reader = reader
        self._augment = augment
        self._seed = seed
        self.example_bytes = 0

    def ledger_entries(self, books: Books, updates: int) -> dict[str, Any]:
        """See `Engine`."""
        return {
            "bytes_held": len(books.held(updates)) * books.width * self.example_bytes,
            "skipped": self._reader.skipped(books.examples_read(updates)),
        }

    def state_dict(self, books: Books, updates: int) -> dict[str, Any]:
        """See `Engine`."""
        held, read = books.held(updates), books.examples_read(updates)
        oldest = int(held[0]) * books.width if len(held) else read
        return {"example_bytes": self.example_bytes, **self._reader.state_dict(oldest, read)}

    def load_state_dict(self, state: Mapping[str, Any], read: int) -> None:
        """See `Engine`."""
        example_bytes = state.get("example_bytes", 0)  # the index engine keeps none
        if type(example_bytes) is not int or example_bytes < 0:
            raise damaged_state()
        self._reader.load_state_dict(state, read)
        self.example_bytes = example_bytes

    def arriving(self, groups: Iterable[Ints], copies_differ: bool) -> Iterator[Examples]:
        """The examples of each group of ordinals as they enter the echo stage: augmented, if copies agree."""
        known, wanted = tee(groups)
        for ordinals, examples in zip(known, self._reader.read(wanted), strict=False):
            if self._augment is None or copies_differ:
                yield examples
            else:
                draws = Draws(self._seed, ordinals, np.zeros_like(ordinals))
                yield Examples(
                    examples.ids, *augmented(self._augment, examples.inputs, examples.targets, draws)
                )

    def keep(self, memory: Rows, width: int, examples: Examples) -> Ints:
        """The rows of elements, of `width` examples each, that enter the echo stage."""
        n = len(examples.ids)
        self.example_bytes = (examples.inputs.nbytes + examples.targets.nbytes) // n
        return memory.add(examples, n // width)


def in_groups(elements: Ints, at_once: int, width: int) -> Iterator[Ints]:
    """The ordinals of elements, of `width` examples each, in groups of at most so many elements."""
    for start in range(0, len(elements), at_once):
        some = elements[start : start + at_once]
        yield some if width == 1 else (some[:, None] * width + np.arange(width)).reshape(-1)
