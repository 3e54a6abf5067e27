"""Echoing for people who keep their own loader: wrappers around anything that can be iterated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, TypeVar

from torch.utils.data import IterableDataset, get_worker_info

from pipelines.checks import whole_number
from pipelines.echo import EchoSpec
from pipelines.echo_pass import EchoPass
from pipelines.keys import key
from pipelines.state import Settings, require_same

T = TypeVar("T")


def echo_examples(
    iterable: Iterable[T], factor: float, buffer: int = 0, seed: int = 0, *, copy: bool = False
) -> Echoed[T]:
    """Each example `factor` times, shuffled by an echo buffer: put it before augmentation, or after, or batching.

    Example i is emitted `floor((i + 1) * factor) - floor(i * factor)` times. Behind that stands tf.data's
    shuffle: `buffer` slots are kept full, and the one to emit is drawn uniformly. Order and draws are those of
    `Pipeline` with the same seed, up to the place where the iterable ends; there the buffer is emptied, so that
    no copy is lost. With factor 1 there is no buffer either, and examples pass through untouched.

    The result is a torch `IterableDataset`, so that a DataLoader can batch it.

    Args:
        iterable: gives examples of any kind: a data set, a generator, a loader.
        factor: how often each is used on average, a real number >= 1.
        buffer: size of the echo buffer, in examples; 0 = copies come in a row. It holds references.
        seed: decides the buffer's draws.
        copy: hand out deep copies, which may be changed in place; else see `pipelines.held.Held`.

    Raises:
        ValueError: a setting is out of range, or `iterable` is none.
    """
    return Echoed(iterable, factor, buffer, seed, copy, "echo_examples", "buffer")


def echo_batches(
    loader: Iterable[T], factor: float, buffer_batches: int = 0, seed: int = 0, *, copy: bool = False
) -> Echoed[T]:
    """Each batch of a loader `factor` times: the paper's batch echoing, in one line around a DataLoader.

    As `echo_examples`, but `buffer_batches` counts batches.
    """
    return Echoed(loader, factor, buffer_batches, seed, copy, "echo_batches", "buffer_batches")


class Echoed(IterableDataset[T]):
    """What `echo_examples` and `echo_batches` return: one pass of the loader, echoed, each time it is iterated.

    - Passes are numbered, and each draws anew from (seed, number). `epoch` is the number of the next pass and
      may be set, as for a sampler; a DataLoader with workers carries it to them at the start of each epoch.
      In worker w > 0 of a DataLoader the draws are those of (seed, number, w): pass 0 in the main process, or
      in worker 0, is the one with the order of `Pipeline`.
    - `len()` works where the loader's does.
    - Other public attributes are the loader's: `echoed.batch_size`, `echoed.sampler.set_epoch(3)`.
    - Errors of the loader pass through, those of its workers too.

    Iterating raises `ValueError` if the loader has nothing to give, as a generator on its second pass, and
    `ChangedInPlaceError` if the consumer has spoilt a later copy.
    """

    def __init__(
        self, loader: Iterable[T], factor: float, buffer: int, seed: int, copy: bool, name: str, unit: str
    ) -> None:
        self._name = name
        if not hasattr(loader, "__iter__"):
            raise ValueError(
                f"{name}: a {type(loader).__name__} cannot be iterated; give a loader, a list or a generator."
            )
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 <= factor < float("inf"):
            raise ValueError(f"{name}: factor is {factor!r}; give how often each element is used, 1 or more.")
        slots = whole_number(buffer, f"{name}: {unit}", 0, "give how many to shuffle among, or 0 for none")
        self._loader = loader
        self._ratio = EchoSpec(factor).ratio
        self._slots = slots if self._ratio > 1 else 0
        self._seed = whole_number(seed, f"{name}: seed", float("-inf"), "give a whole number")
        self._deep = copy
        self._pass: EchoPass | None = None
        self._resume: Mapping[str, Any] | None = None
        self.epoch = 0

    def __iter__(self) -> Iterator[T]:
        state, self._resume = self._resume, None
        number = self.epoch
        self.epoch += 1
        worker = get_worker_info()
        names = (number, worker.id) if worker else (number, 0)
        seed = self._seed if names == (0, 0) else key(self._seed, "pass", *names)
        self._pass = EchoPass(self._elements(state), self._ratio, self._slots, seed, self._deep)
        if state:
            if "buffer" in state:
                self._pass.load_state_dict(state["buffer"])
            else:  # the loader cannot go to a place: walk there
                for _ in islice(self._pass, state["emitted"]):
                    pass
        return self._pass

    def __len__(self) -> int:
        p, q = self._ratio.as_integer_ratio()
        return len(self._loader) * p // q  # type: ignore[arg-type]  # a TypeError is the answer where it has none

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)
