"""Sources for data that are too many to be picked one by one: shards, read from the front."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from pipelines.checks import whole_number
from pipelines.keys import key, random_bits
from pipelines.remote import Patience
from pipelines.sources import Pair, SourceError
from pipelines.tars import DamagedShardError, examples_in

T = TypeVar("T")
Raw = tuple[int, Callable[[], Pair]]

_SHARD_IDS = 1 << 32
_DRAWS_AT_ONCE = 1024


class ShardSource(ABC):
    """Examples in files, the shards, that are read from the front: in which order, and by whom.

    A subclass says what lies in a shard (`examples`).

    - Each pass reads every shard once, in an order drawn anew, and from the front. What has been read goes
      through a shuffle buffer with tf.data's semantics (keep it full, emit a uniformly drawn slot, refill
      it), and is emptied at the end of the pass. It holds examples not yet decoded.
    - Data parallel: rank r of n reads every n-th shard of the pass's order, beginning with the r-th. Shards
      of different sizes make passes of different lengths; no rank waits for another.
    - An example id is `2**32 * number of the shard + place in the shard`.
    - To continue in the middle of a pass, its beginning is read again, without decoding: that costs the time
      of reading up to one pass (more than one only if an echo buffer holds examples that old). With
      `on_error="skip"` it is decoded as well.

    Args:
        shards: paths or addresses.
        kind: what a state knows the shards by, beside the names of the files.
        shuffle_buffer: size of the buffer, in examples; 0 = the shards' own order.
        on_error: "raise", or "skip" to leave out and count examples that cannot be decoded, and what follows
            the damage in a truncated or corrupt shard. A shard that cannot be opened is an error in any case.

    Raises:
        ValueError: there are no shards, or a setting is out of range.
    """

    def __init__(
        self,
        shards: Sequence[str | os.PathLike[str]],
        kind: str,
        *,
        shuffle_buffer: int = 0,
        on_error: str = "raise",
    ) -> None:
        self._name = type(self).__name__
        if isinstance(shards, str | os.PathLike):
            shards = [shards]
        self._shards = [os.fspath(shard) for shard in shards]
        if not self._shards:
            raise ValueError(f"{self._name}: the list of shards is empty; give at least one.")
        if on_error not in ("raise", "skip"):
            raise ValueError(f"{self._name}: on_error is {on_error!r}; give 'raise' or 'skip'.")
        self._buffer = whole_number(
            shuffle_buffer, f"{self._name}: shuffle_buffer", 0, "give a number of examples, or 0 for none"
        )
        self.skips_damage = on_error == "skip"
        files = [shard.replace(os.sep, "/").rpartition("/")[2] for shard in self._shards]
        self.identity = f"{len(files)} {kind} {key(0, *files):016x}, shuffle_buffer={self._buffer}"

    @abstractmethod
    def examples(self, shard: str) -> Iterator[Callable[[], Pair]]:
        """The examples of a shard from its front, each as a function that decodes it.

        Raises:
            DamagedShardError: the shard is damaged from here on.
            SourceError: it cannot be read for another reason; likewise the functions, for single examples.
        """

    def where(self, example: int) -> str:
        """Words for an example id, for errors."""
        shard, place = divmod(example, _SHARD_IDS)
        return f"example {place} of {self._shards[shard]}"

    def read_pass(self, number: int, seed: int, rank: int, world_size: int) -> Iterator[Raw]:
        """See `StreamSource`."""
        if world_size > len(self._shards):
            raise SourceError(
                f"{self._name}: {world_size} ranks cannot share {len(self._shards)} shards; give at least "
                "one shard a rank."
            )
        order = np.random.Generator(random_bits(seed, "shards", number)).permutation(len(self._shards))
        draws = np.random.Generator(random_bits(seed, "source buffer", number, rank, world_size))
        return shuffled(self._read(order[rank::world_size].tolist()), self._buffer, draws)

    def _read(self, order: list[int]) -> Iterator[Raw]:
        for shard in order:
            place = -1
            try:
                for place, give in enumerate(self.examples(self._shards[shard])):
                    yield shard * _SHARD_IDS + place, give
            except DamagedShardError as damage:
                if not self.skips_damage:
                    raise
                yield shard * _SHARD_IDS + place + 1, _raiser(damage)


class TarSource(ShardSource):
    """Examples in tar shards, read in their own order behind a shuffle buffer: see `ShardSource`.

    Args:
        shards: paths, or addresses with http(s)://, s3://, gs:// (anything fsspec opens).
        decode: makes (input, target) from the files of one example, {extension: content}; numbers, arrays or
            tensors, of the same shape for all examples.
        shuffle_buffer: size of the buffer, in examples; 0 = the shards' own order.
        on_error: "raise", or "skip" to leave out and count what is damaged. What a connection loses is no
            damage: it is an error in any case, after the retries.
        retries: how many times in a row a failing connection is tried again, from where it broke off, without
            a byte more than before. That is for connections refused or reset, stalls, answers that tell to
            try later (408, 429, 5xx), and bodies shorter than announced.
        timeout_s: seconds without a byte, or an answer, that make a stall; of HTTP alone.
        pause_s: seconds before the first retry; doubled for each further one, up to 64 times as long.

    Raises:
        ValueError: there are no shards, or a setting is out of range.
    """

    def __init__(
        self,
        shards: Sequence[str | os.PathLike[str]],
        decode: Callable[[dict[str, bytes]], tuple[Any, Any]],
        *,
        shuffle_buffer: int = 0,
        on_error: str = "raise",
        retries: int = Patience.retries,
        timeout_s: float = Patience.timeout_s,
        pause_s: float = Patience.pause_s,
    ) -> None:
        super().__init__(shards, "tar shards", shuffle_buffer=shuffle_buffer, on_error=on_error)
        self._decode = decode
        try:
            self._patience = Patience(retries, timeout_s, pause_s)
        except ValueError as error:
            raise ValueError(f"{self._name}: {error}") from error

    def examples(self, shard: str) -> Iterator[Callable[[], Pair]]:
        """See `ShardSource`."""
        for place, (name, files) in enumerate(examples_in(shard, self._patience)):
            yield partial(self._decoded, shard, place, name, files)

    def _decoded(self, shard: str, place: int, name: str, files: dict[str, bytes]) -> Pair:
        try:
            return self._decode(files)
        except Exception as error:
            raise SourceError(
                f"Shard {shard}: example {name!r}, number {place} in it, cannot be decoded "
                f"({type(error).__name__}: {error}); mend it or the decoder, or leave it out with "
                "on_error='skip'."
            ) from error


def shuffled(items: Iterable[T], size: int, draws: np.random.Generator) -> Iterator[T]:
    """All items once, through a shuffle buffer of `size` slots with tf.data's semantics; 0 = as they come."""
    remaining = iter(items)
    held = list(islice(remaining, size))
    if held:
        slots = _numbers_below(len(held), draws)
        for item in remaining:
            slot = next(slots)
            held[slot], emitted = item, held[slot]
            yield emitted
        for slot in draws.permutation(len(held)).tolist():
            yield held[slot]
    else:
        yield from remaining


def _numbers_below(limit: int, draws: np.random.Generator) -> Iterator[int]:
    while True:
        yield from draws.integers(limit, size=_DRAWS_AT_ONCE).tolist()


def _raiser(error: SourceError) -> Callable[[], Pair]:
    def raising() -> Pair:
        raise error

    return raising
