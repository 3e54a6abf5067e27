"""Where fresh examples come from: what a source is, and those that know their examples by number."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset, default_collate

from pipelines.checks import described, whole_number
from pipelines.exchange import Ints
from pipelines.gather import Field, common_length
from pipelines.pixels import Array
from pipelines.workers import tell_of_deaths_when_read, tells_of_death

Pair = tuple[Any, Any]
"""An input and a target, or a stack of each."""


class SourceError(ValueError):
    """The data cannot be read: one sentence that says which, where, and what to do."""


@runtime_checkable
class MapSource(Protocol):
    """A source that knows its examples by number, 0, 1, ..., and reads those it is asked for.

    The pipeline chooses the order, a permutation of all examples each pass, so that the stream is that of the
    same data in memory.

    Attributes:
        examples: how many there are; what a saved state knows the source by.
    """

    examples: int

    def read(self, groups: Iterable[Ints]) -> Iterator[Pair]:
        """For each group of example ids, in turn, their inputs and targets, each stacked: [group, ...].

        Both are arrays or tensors in memory of their own, all alike in shape and type. `groups` is endless,
        and may be asked for more groups than have been handed out. Reading the same example again must give
        the same: what is random belongs into the augmentation.

        Raises:
            SourceError: an example cannot be read.
        """
        ...


@runtime_checkable
class StreamSource(Protocol):
    """A source that can only be read from the front, in an order of its own.

    Attributes:
        identity: what a saved state knows the source by; the same in every process.
        skips_damage: whether examples that cannot be read are left out and counted, rather than an error.
    """

    identity: str
    skips_damage: bool

    def read_pass(
        self, number: int, seed: int, rank: int, world_size: int
    ) -> Iterator[tuple[int, Callable[[], Pair]]]:
        """The share of one reader in pass `number`: example ids, and functions that give the examples.

        Depends on the arguments alone. In each pass, every example is in the share of exactly one of the
        ranks 0..`world_size` - 1. The functions let the reader go past examples without decoding them; they
        are called at most once.

        Raises:
            SourceError: the source cannot be read on; likewise the functions, for single examples.
        """
        ...


class MemorySource:
    """Arrays or tensors, read through the streaming engine.

    Pays off where an augmentation is costly and `after_augmentation` is to spare it; else give the pair
    itself to the pipeline, which then takes the faster index engine and gives the same stream.

    Raises:
        ValueError: the data are no pair of equally long arrays or tensors.
    """

    def __init__(self, inputs: Array, targets: Array) -> None:
        self.examples = common_length((inputs, targets), "MemorySource")
        self._fields = Field(inputs), Field(targets)

    def read(self, groups: Iterable[Ints]) -> Iterator[Pair]:
        """See `MapSource`."""
        inputs, targets = self._fields
        for ids in groups:
            yield next(inputs.batches(ids[None])), next(targets.batches(ids[None]))


class DatasetSource:
    """A map-style torch `Dataset` of (input, target) pairs, read through a `DataLoader`.

    The stream is the same for every number of workers. torch's `default_collate` stacks the examples, so that
    arrays and numbers become tensors.

    Args:
        dataset: has `__len__` and `__getitem__`, and gives equally shaped examples.
        workers: processes that read; 0 = the reading happens in this one.

    Raises:
        ValueError: the data set is of another kind, or empty.
    """

    def __init__(self, dataset: Any, workers: int = 0) -> None:
        kind = type(dataset).__name__
        if isinstance(dataset, IterableDataset) or not (
            hasattr(dataset, "__len__") and hasattr(dataset, "__getitem__")
        ):
            raise ValueError(
                f"DatasetSource: a {kind} cannot be read by number; give a map-style data set, with __len__ "
                "and __getitem__."
            )
        self.examples = len(dataset)
        if not self.examples:
            raise ValueError(f"DatasetSource: the {kind} is empty; give at least one example.")
        self._dataset = dataset
        self._workers = whole_number(workers, "DatasetSource: workers", 0, "give a number of processes, or 0")

    def read(self, groups: Iterable[Ints]) -> Iterator[Pair]:
        """See `MapSource`.

        Raises:
            SourceError: a worker died, or examples cannot be stacked. Errors of the data set pass through.
        """
        try:
            yield from self._stacked(groups)
        except (RuntimeError, OSError, EOFError) as error:
            if not (self._workers and tells_of_death(error)):
                raise
            reason = next(iter(str(error).splitlines()), type(error).__name__).rstrip(". ")
            raise SourceError(
                f"A worker process that reads the {type(self._dataset).__name__} died ({reason}); give it "
                "more memory, or read with workers=0 to see what happens."
            ) from error

    def _stacked(self, groups: Iterable[Ints]) -> Iterator[Pair]:
        asked: deque[list[int]] = deque()

        def numbers() -> Iterator[list[int]]:
            for ids in groups:
                asked.append(ids.tolist())
                yield asked[-1]

        loader = DataLoader(
            self._dataset,
            batch_sampler=numbers(),
            num_workers=self._workers,
            collate_fn=_stacked_or_why_not,
            generator=torch.Generator(),  # or torch would draw from its global one
        )
        reading = iter(loader)
        if self._workers:
            tell_of_deaths_when_read(reading)
        for stacked in reading:
            ids = asked.popleft()
            if isinstance(stacked, Misfit):
                raise stacked.error(ids)
            yield stacked


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why examples cannot be stacked. No exception: one from a worker has a traceback as its message.

    Attributes:
        sentence: with `{}` where the examples are to be named.
        kinds: a few of the examples that differ, by their places, and what each is.
    """

    sentence: str
    kinds: list[tuple[int, str]]

    def error(self, ids: Sequence[int], where: Callable[[int], str] = "example {}".format) -> SourceError:
        """The error to raise if the examples have these ids, for which `where` has words."""
        shown = [f"{where(ids[place])}: {kind}" for place, kind in self.kinds[:3]]
        return SourceError(self.sentence.format(", ".join(shown)))


def stack(
    examples: Sequence[Any],
    ids: Sequence[int] | None = None,
    where: Callable[[int], str] = "example {}".format,
) -> Pair:
    """Inputs and targets of (input, target) pairs, each as one tensor.

    Raises:
        SourceError: the examples are no such pairs, or differ in shape; says `where` their ids are.
    """
    stacked = _stacked_or_why_not(examples)
    if isinstance(stacked, Misfit):
        raise stacked.error(range(len(examples)) if ids is None else ids, where)
    return stacked


def _stacked_or_why_not(examples: Sequence[Any]) -> Pair | Misfit:
    for place, example in enumerate(examples):
        if not isinstance(example, tuple | list) or len(example) != 2:
            sentence = "An example is no pair ({}); give (input, target) for each."
            return Misfit(sentence, [(place, described(example))])
    stacks = []
    for name, parts in zip(("inputs", "targets"), zip(*examples, strict=True), strict=True):
        try:
            # Not through torch for arrays: it warns of each that cannot be written to, though it copies them.
            arrays = all(isinstance(part, np.ndarray) for part in parts)
            stacked = torch.from_numpy(np.stack(parts)) if arrays else default_collate(list(parts))
        except (RuntimeError, TypeError, ValueError):
            stacked = None
        if not isinstance(stacked, torch.Tensor):
            first = {described(part): place for place, part in reversed(list(enumerate(parts)))}
            return Misfit(
                f"The {name} cannot be stacked into one tensor ({{}}); give numbers, arrays or tensors, all "
                "of one shape.",
                sorted((place, kind) for kind, place in first.items()),
            )
        stacks.append(stacked)
    return stacks[0], stacks[1]
