"""The pipeline: one order and one ledger, whichever engine lets the data follow."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

from pipelines.adaptive import AdaptiveOrder, AdaptiveStage
from pipelines.adaptive_books import AdaptiveBookkeeper
from pipelines.adaptive_engine import AdaptiveEngine
from pipelines.augment import Augmentation
from pipelines.batch import Batch
from pipelines.bookkeeper import Bookkeeper
from pipelines.checks import whole_number
from pipelines.echo import EchoSpec, EchoStage
from pipelines.engine import Books, Engine
from pipelines.fresh import FreshStream
from pipelines.gather import common_length
from pipelines.indexed import IndexEngine
from pipelines.keys import key
from pipelines.ledger import Ledger
from pipelines.order import Order
from pipelines.pixels import Array
from pipelines.prefetch import Prefetch
from pipelines.readers import MapReader, Reader, StreamReader
from pipelines.sources import MapSource, StreamSource
from pipelines.state import fingerprint, require_same
from pipelines.streaming import StreamingEngine
from pipelines.trace import Trace

_BLOCK_EXAMPLES = 131_072
_BLOCK_EXAMPLES_WITH_DRAWS = 8_192
"""Examples whose order, and draws, are computed at a time, about. Any number gives the same stream."""

Data = tuple[Array, Array] | MapSource | StreamSource


class Pipeline:
    """Endless training batches: fresh stream -> echo -> augmentation -> batches.

    There is one position: iterating goes on where the pipeline stands, and `ledger` and `state_dict` tell of
    that place. Batches run across the ends of passes over the data. If a batch cannot be made, the pipeline
    still stands behind the last good one, and `next` tries once more.

    Args:
        data: a pair of inputs and targets in memory, equally long arrays or tensors (on any device) with
            examples along the first axis; or a source, see `MapSource` and `StreamSource`. The same examples
            give the same stream either way.
        batch_size: examples per batch, at most those there are.
        echo: where and how often data are repeated, and how the repeats are shuffled.
        augment: called on batches, or on fresh examples if all copies share their draws; see `Augmentation`.
        seed: decides the fresh stream, the echo buffer's shuffling and all draws of the augmentation.

    Raises:
        ValueError: the data or the settings cannot make a pipeline. When iterated, `SourceError`, if the
            source cannot be read.
    """

    def __init__(
        self,
        data: Data,
        *,
        batch_size: int,
        echo: EchoSpec = EchoSpec(),  # noqa: B008 - it is immutable
        augment: Augmentation | None = None,
        seed: int = 0,
        _block_examples: int | None = None,
        _shard: tuple[int, int] = (0, 1),
    ) -> None:
        seed = whole_number(seed, "Pipeline: seed", -math.inf, "give a whole number")
        if not isinstance(echo, EchoSpec):
            raise ValueError(f"Pipeline: echo is {echo!r}; give an EchoSpec, such as EchoSpec(factor=2).")
        if augment is not None and not callable(augment):
            raise ValueError(
                f"Pipeline: augment is {augment!r}; give what can be called like an `Augmentation`."
            )
        self._made_of: dict[str, Any] = {
            "data": data,
            "batch_size": batch_size,
            "echo": echo,
            "augment": augment,
            "seed": seed,
            "_block_examples": _block_examples,
        }
        self._shard = _shard
        known_by, batch_size = _checked(data, batch_size, _shard)
        self._settings = fingerprint(known_by, batch_size, echo, augment, seed, _shard)
        # each rank shuffles and augments by draws of its own
        self._seed = seed if _shard == (0, 1) else key(seed, "shard", *_shard)
        self._order: Order | AdaptiveOrder
        self._new_books: Callable[[], Books]
        if echo.is_adaptive:
            stage = AdaptiveStage.of(echo, batch_size)
            self._order = AdaptiveOrder(stage, self._seed)
            self._new_books = partial(AdaptiveBookkeeper, stage, self._seed, self._order.arrivals)
        else:
            fixed = EchoStage.of(echo, batch_size)
            self._order, self._new_books = Order(fixed, self._seed), partial(Bookkeeper, fixed, self._seed)
        self._books: Books = self._new_books()
        at_once = _block_examples or (_BLOCK_EXAMPLES if augment is None else _BLOCK_EXAMPLES_WITH_DRAWS)
        how = augment, self._seed, max(1, at_once // batch_size)
        self._engine: Engine[Any]
        if isinstance(data, tuple):
            if echo.factor == "adaptive":
                raise ValueError(
                    "Pipeline: data in memory are always ready, so adaptive echoing would repeat nothing; "
                    "give a factor, or a source that has to be waited for."
                )
            self._engine = IndexEngine(data, FreshStream(len(data[0]), seed, *_shard), *how)
        else:
            reader = _reader(data, seed, _shard, batch_size)
            self._engine = (
                AdaptiveEngine(reader, augment, self._seed)
                if echo.is_adaptive
                else StreamingEngine(reader, *how)
            )
        self._updates = self._ahead = 0
        self._batches: Iterator[Batch] | None = None

    def __repr__(self) -> str:
        shown = [f"{name}={self._made_of[name]!r}" for name in ("batch_size", "echo", "augment", "seed")]
        rank = "" if self._shard == (0, 1) else f", rank {self._shard[0]} of {self._shard[1]}"
        return f"<Pipeline({', '.join(shown)}){rank} after {self._updates} updates>"

    def __iter__(self) -> Iterator[Batch]:
        return self

    def __next__(self) -> Batch:
        if self._batches is None:
            batches = self._engine.batches(self._order, self._ahead)
            self._batches = Prefetch(batches, self._ahead) if self._ahead else batches
        try:
            batch = next(self._batches)
        except BaseException:
            self.close()
            raise
        self._updates += 1
        return batch

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def prefetch(self, batches: int = 2) -> Self:
        """Let a thread prepare up to so many batches while the last one is being used; 0 = no thread.

        A source, and what else is upstream of the echo stage, gets a thread of its own. So a fresh batch
        costs the longest of reading, preparing e batches and training on them, rather than their sum.

        Changes this pipeline and returns it. The stream stays the same, and ledger and state still are those
        of the last batch *handed out*. `close()` or the end of a `with` block ends the thread.
        """
        ahead = whole_number(batches, "Pipeline.prefetch: batches", 0, "give a number of batches, or 0")
        self.close()
        self._ahead = ahead
        return self

    def shard(self, rank: int, world_size: int) -> Self:
        """A new pipeline like this one for one of `world_size` processes that train together, at its start.

        Each rank reads fresh examples of its own and echoes them locally; together the ranks read every
        example exactly once a pass, and their ledgers add up (`Ledger.__add__`). How they part the data is
        the source's affair; where it does not divide evenly, some ranks have longer passes than others, and
        no rank waits for another. Seed and batch size are to be the same on all; the batch size is a rank's.

        Raises:
            ValueError: there is no such rank, its share is smaller than a batch, or this one is a rank's.
        """
        if self._shard != (0, 1):
            raise ValueError(
                f"Pipeline.shard: this is the pipeline of rank {self._shard[0]} of {self._shard[1]} already; "
                "shard the pipeline of all the data, once."
            )
        ranks = whole_number(world_size, "Pipeline.shard: world_size", 1, "give a number of processes")
        advice = f"give a number from 0 to {ranks - 1}"
        number = whole_number(rank, "Pipeline.shard: rank", 0, advice)
        if number >= ranks:
            raise ValueError(f"Pipeline.shard: rank is {number}; {advice}.")
        return type(self)(**self._made_of, _shard=(number, ranks))

    def close(self) -> None:
        """End what works ahead: the thread, and workers. The pipeline can go on where it stands."""
        if self._batches is not None:
            if isinstance(self._batches, Prefetch):
                self._batches.close()
            self._stand(self._engine.state_dict(self._books, self._updates), self._books, self._updates)

    @property
    def updates(self) -> int:
        """Batches handed out so far."""
        return self._updates

    @property
    def ledger(self) -> Ledger:
        """What has been read, handed out and repeated so far."""
        entries = self._engine.ledger_entries(self._books, self._updates)
        return dataclasses.replace(self._books.ledger(self._updates), **entries)

    @property
    def trace(self) -> Trace:
        """What adaptive echoing has done so far; as the factor of another pipeline, it is done again.

        A pipeline that a state was loaded into tells of what it has done since; see `Trace`.

        Raises:
            ValueError: this pipeline echoes by a factor.
        """
        if not isinstance(self._books, AdaptiveBookkeeper):
            raise ValueError(
                "Pipeline.trace: only adaptive echoing has one; a factor tells everything itself."
            )
        return self._books.trace(self._updates)

    def state_dict(self) -> dict[str, Any]:
        """Where the pipeline stands, between the last batch and the next: small, and no data.

        A plain dict of integers, strings and one integer tensor, so that `torch.save` and
        `torch.load(weights_only=True)` can carry it. The tensor takes at most 8 bytes a slot of the
        echo buffer.
        """
        return {
            "pipeline": self._settings,
            **self._books.state_dict(self._updates),
            **self._engine.state_dict(self._books, self._updates),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Stand where `state` was taken. Reads no data: the next batch does.

        Raises:
            ValueError: `state` is damaged, or that of a pipeline with other settings; nothing has changed.
        """
        require_same(self._settings, state)
        books = self._new_books()
        self._stand(state, books, books.load_state_dict(state))

    def _stand(self, state: Mapping[str, Any], books: Books, updates: int) -> None:
        """Go on after so many updates, which `books` and the engine's part of `state` tell of."""
        self._engine.load_state_dict(state, books.examples_read(updates))
        if isinstance(self._batches, Prefetch):
            self._batches.close()
        self._batches, self._books, self._updates = None, books, updates
        self._order.restore(updates, books.place(updates))


def _reader(data: MapSource | StreamSource, seed: int, shard: tuple[int, int], batch_size: int) -> Reader:
    if isinstance(data, MapSource):
        return MapReader(data, seed, *shard)
    return StreamReader(data, seed, *shard, at_least=batch_size)


def _checked(data: Data, batch_size: int, shard: tuple[int, int]) -> tuple[int | str, int]:
    """What a state knows the data by, and the batch size, if these can make a pipeline."""
    rank, world_size = shard
    if isinstance(data, StreamSource) and not isinstance(data, MapSource):
        advice = "give a number of examples, 1 or more"
        return data.identity, whole_number(batch_size, "Pipeline: batch_size", 1, advice)
    examples = data.examples if isinstance(data, MapSource) else common_length(data, "Pipeline")
    share = len(range(rank, examples, world_size))
    if not share:
        raise ValueError(
            f"Pipeline.shard: rank {rank} of {world_size} gets none of the {examples} examples; train with "
            "fewer processes."
        )
    whose = "" if world_size == 1 else f" of rank {rank}"
    advice = f"give a whole number from 1 to the number of examples{whose}, {share}"
    batch_size = whole_number(batch_size, "Pipeline: batch_size", 1, advice)
    if batch_size > share:
        raise ValueError(f"Pipeline: batch_size is {batch_size}; {advice}.")
    return examples, batch_size
