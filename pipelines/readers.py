"""From a source to the fresh stream: examples by their ordinal, whatever kind of source they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, tee
from typing import Any, NamedTuple, Protocol

import numpy as np

from pipelines.checks import described, is_pair
from pipelines.exchange import Ints
from pipelines.fresh import FreshStream
from pipelines.sources import MapSource, Pair, SourceError, StreamSource, stack
from pipelines.state import damaged_state


class Examples(NamedTuple):
    """Some fresh examples: [n] ids, and inputs and targets stacked to [n, ...]."""

    ids: Ints
    inputs: Any
    targets: Any


class Reader(Protocol):
    """Reads the fresh stream of one rank."""

    def read(self, groups: Iterable[Ints]) -> Iterator[Examples]:
        """The examples of each group of ordinals; ordinals rise, within a group and from group to group."""
        ...

    def skipped(self, read: int) -> int:
        """How many damaged parts have been left out among the first `read` examples."""
        ...

    def state_dict(self, oldest: int, read: int) -> dict[str, Any]:
        """What it takes to read on from ordinal `oldest`, once the first `read` examples have been read."""
        ...

    def load_state_dict(self, state: Mapping[str, Any], read: int) -> None:
        """Read on from where `state` was taken, at the next `read`.

        Raises:
            ValueError: `state` is damaged; nothing has changed.
        """
        ...


class MapReader:
    """Reads a `MapSource` through the permutations of the index engine. Has no state."""

    def __init__(self, source: MapSource, seed: int, rank: int, world_size: int) -> None:
        self._source = source
        self._share = source.examples, seed, rank, world_size

    def read(self, groups: Iterable[Ints]) -> Iterator[Examples]:
        """See `Reader`."""
        fresh = FreshStream(*self._share)
        named, wanted = tee(fresh.example_ids(ordinals, int(ordinals[0])) for ordinals in groups)
        for ids, given in zip(named, self._source.read(wanted), strict=False):
            if not is_pair(given, len(ids), len(ids)):
                raise SourceError(
                    f"{type(self._source).__name__}.read gave {described(given)} for {len(ids)} examples; "
                    "let it give the pair (inputs, targets), arrays or tensors with a row for each example."
                )
            inputs, targets = given
            yield Examples(ids, inputs, targets)
        raise SourceError(
            f"{type(self._source).__name__}.read ended before its groups did; let it give a pair for each of "
            "them."
        )

    def skipped(self, read: int) -> int:
        """See `Reader`."""
        return 0

    def state_dict(self, oldest: int, read: int) -> dict[str, Any]:
        """See `Reader`."""
        return {}

    def load_state_dict(self, state: Mapping[str, Any], read: int) -> None:
        """See `Reader`."""


class StreamReader:
    """Reads a `StreamSource` pass after pass.

    It stands always one example ahead, so that it knows a pass has ended as soon as its last example is read,
    and a state taken between two passes leads to the beginning of the second.
    """

    def __init__(
        self, source: StreamSource, seed: int, rank: int, world_size: int, at_least: int = 1
    ) -> None:
        self._source = source
        self._share = seed, rank, world_size
        self._at_least = at_least
        self._begins = [(0, 0)]  # first ordinal and number of each pass, from the one to be read first
        self._skips: list[int] = []  # for each damaged part, the ordinal read before or sought then
        self._skipped_before = self._known = 0  # how many parts, and before which ordinal, a state tells of

    def read(self, groups: Iterable[Ints]) -> Iterator[Examples]:
        """See `Reader`."""
        place, number = self._begins[0]
        stream = self._passes(place, number)
        where = getattr(self._source, "where", "example {}".format)
        for ordinals in groups:
            chosen = []
            for ordinal in ordinals.tolist():
                chosen.append(next(islice(stream, ordinal - place, None)))
                place = ordinal + 1
            ids = [example for example, _ in chosen]
            yield Examples(np.array(ids), *stack([give() for _, give in chosen], ids, where))

    def skipped(self, read: int) -> int:
        """See `Reader`."""
        return self._skipped_before + sum(ordinal < read for ordinal in list(self._skips))

    def state_dict(self, oldest: int, read: int) -> dict[str, Any]:
        """See `Reader`."""
        begin = max(begin for begin in list(self._begins) if begin[0] <= oldest)
        return {"pass_begin": begin[0], "pass_number": begin[1], "skipped": self.skipped(read)}

    def load_state_dict(self, state: Mapping[str, Any], read: int) -> None:
        """See `Reader`."""
        numbers: list[Any] = [state.get(name) for name in ("pass_begin", "pass_number", "skipped")]
        if not all(type(number) is int and number >= 0 for number in numbers) or numbers[0] > read:
            raise damaged_state()
        begin, number, self._skipped_before = numbers
        self._begins, self._skips, self._known = [(begin, number)], [], read

    def _passes(self, ordinal: int, number: int) -> Iterator[tuple[int, Any]]:
        """All examples from pass `number` on, which begins with `ordinal`."""
        begins = self._begins
        while True:
            first, examples = ordinal, self._sound(number, ordinal)
            coming = next(examples, None)
            while coming is not None:
                current, coming = coming, next(examples, None)
                ordinal += 1
                if coming is None:
                    begins.append((ordinal, number + 1))
                yield current
            self._require_enough(ordinal - first, number)
            number += 1

    def _sound(self, number: int, first: int) -> Iterator[tuple[int, Any]]:
        """The examples of a pass, without the damaged ones if the source skips those."""
        ordinal = first
        for name, give in self._source.read_pass(number, *self._share):
            if self._source.skips_damage:
                try:
                    example = give()
                except SourceError:
                    if (place := max(first, ordinal - 1)) >= self._known:
                        self._skips.append(place)
                    continue
                yield name, _giver(example)
            else:
                yield name, give
            ordinal += 1

    def _require_enough(self, examples: int, number: int) -> None:
        if examples == 0 or (number == 0 and examples < self._at_least):
            raise SourceError(
                f"The source ended after {examples} examples of pass {number}, which is less than the first "
                f"batch of {self._at_least}; give it more examples, or make the batch smaller."
            )


def _giver(example: Pair) -> Any:
    return lambda: example
