"""Echoing for people who keep their own loader: wrappers around anything that can be iterated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sized
from copy import deepcopy
from typing import Any, TypeVar, cast

from torch.utils.data import IterableDataset, get_worker_info

from pipelines.checks import real_number, whole_number
from pipelines.echo import EchoSpec
from pipelines.echo_pass import EchoPass
from pipelines.held import Held, OwnedHeld, WatchedHeld
from pipelines.keys import key
from pipelines.state import Settings, require_same

T = TypeVar("T")


def echo_examples(
    iterable: Iterable[T], factor: float, buffer: int = 0, seed: int = 0, *, copy: bool = False
) -> Echoed[T]:
    """Each example `factor` times, shuffled by an echo buffer.

    Example i is emitted `floor((i + 1) * factor) - floor(i * factor)` times. Behind that stands tf.data's
    shuffle: `buffer` slots are kept full, and the one to emit is drawn uniformly. The order is that of
    `Pipeline` with the same seed, up to where the iterable ends; there the buffer is emptied, so that no copy
    is lost. With factor 1 there is no buffer either, and examples pass through untouched.

    The result is a torch `IterableDataset`, so that a DataLoader can batch it.

    Args:
        iterable: gives examples of any kind: a data set, a generator, a loader.
        factor: how often each is used on average, a real number >= 1.
        buffer: size of the echo buffer, in examples; 0 = copies come in a row.
        seed: decides the buffer's draws.
        copy: whether tensors are copied for each emission, as all else that can be changed in place always
            is; else they are shared and watched, see `pipelines.held.WatchedHeld`.

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
    """What the wrappers return: one pass of the loader, echoed, each time it is iterated.

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
                f"{name}: what is given, of type {type(loader).__name__}, cannot be iterated; give a "
                "loader, as DataLoader(data, batch_size=None, shuffle=True) is one for single examples."
            )
        if hasattr(loader, "__next__") and hasattr(loader, "reset") and hasattr(loader, "state_dict"):
            raise ValueError(
                f"{name}: a bare node of torchdata, here of type {type(loader).__name__}, is good for one "
                "pass only; wrap it in torchdata.nodes.Loader."
            )
        advice = "give how often each element is used, 1 or more"
        real_number(factor, f"{name}: factor", 1, advice)
        slots = whole_number(buffer, f"{name}: {unit}", 0, "give how many to shuffle among, or 0 for none")
        self._loader = loader
        self._ratio = EchoSpec(factor).ratio
        self._slots = slots if self._ratio > 1 else 0
        self._seed = whole_number(seed, f"{name}: seed", float("-inf"), "give a whole number")
        copying = OwnedHeld if copy else WatchedHeld
        self._hold = copying if self._ratio > 1 else Held
        self._settings: Settings = {
            "wrapper": name,
            "echo_factor": str(self._ratio),
            "echo_buffer": self._slots,
            "seed": self._seed,
        }
        self._pass: EchoPass | None = None
        self._resume: Mapping[str, Any] | None = None
        self._before_looking: Any = None  # the loader's state before it was read ahead
        self._must_rewind = False  # before the pass after the resumed one
        self._number = 0  # of the pass begun last
        self.epoch = 0

    def __iter__(self) -> Iterator[T]:
        state, self._resume = self._resume, None
        if not state and self._must_rewind:
            cast(Any, self._loader).load_state_dict({})
            self._must_rewind = False
        self._number = self.epoch
        self.epoch += 1
        worker = get_worker_info()
        names = (self._number, worker.id if worker else 0)
        seed = self._seed if names == (0, 0) else key(self._seed, "pass", *names)
        waiting = state and state["buffer"]
        elements: Iterator[T] = iter(()) if waiting and waiting["ended"] else iter(self._loader)
        if not waiting and worker is None:
            elements = _some(elements)
        self._pass = EchoPass(elements, self._ratio, self._slots, seed, self._hold)
        if waiting:
            self._pass.load_state_dict(waiting)
        elif state and (there := self._pass.skip(state["emitted"])) < state["emitted"]:
            raise ValueError(
                f"{self._name}: the state was taken after {state['emitted']} elements, but a pass has only "
                f"{there}; give the loader it was taken with."
            )
        return self._pass

    def __repr__(self) -> str:
        kind = type(self._loader).__name__
        return f"<{self._name} of a {kind}, factor {float(self._ratio):g}, {self._slots} in the buffer>"

    def __len__(self) -> int:
        p, q = self._ratio.as_integer_ratio()
        return len(cast(Sized, self._loader)) * p // q

    def state_dict(self) -> dict[str, Any]:
        """Where the pass begun last stands, or that the next one has not begun.

        Where the loader has `state_dict` (torchdata's StatefulDataLoader, a Hugging Face IterableDataset),
        this holds the loader's state and the elements waiting in the buffer, up to `buffer` of them; save it
        at once, for it refers to them. One element is read ahead, to learn whether the loader has ended. That
        is exact if the loader's own state is. Other loaders are counted: the state is a few integers, and
        continuing reads the pass from its beginning again and throws away what had been used. That is exact
        if the loader gives the same elements again.
        """
        running = self._pass if self._pass and not self._pass.finished else None
        stateful = hasattr(self._loader, "state_dict")
        loaders = self._loader_state(running) if stateful else None  # first: it may learn of the end
        return {
            "pipeline": self._settings,
            "epoch": self._number if running else self.epoch,
            "emitted": running.emitted if running else 0,
            "buffer": running.state_dict() if running and stateful else None,
            "loader": loaders,
        }

    def _loader_state(self, running: EchoPass | None) -> Any:
        """The loader's state before what it gives next, or after its end.

        At its end, but not yet asked for more, a loader's state may be one that begins anew (torchdata's).
        """
        loader = cast(Any, self._loader)
        if running and running.has_looked_ahead:
            return self._before_looking
        state = deepcopy(loader.state_dict())
        if running and not running.look_ahead():
            return loader.state_dict()
        self._before_looking = state
        return state

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Let the next pass begin where `state` was taken, and go on from there.

        Raises:
            ValueError: `state` is that of a wrapper with other settings, or of another kind of loader, or
                damaged. Iterating raises it if a counted loader ends before the place of `state`.
        """
        require_same(self._settings, state)
        if not {"epoch", "emitted", "buffer", "loader"} <= state.keys():
            raise ValueError(f"{self._name}: the state is damaged; load another one, or start without it.")
        for name in ("epoch", "emitted"):
            whole_number(state[name], f"{self._name}: in this state, {name}", 0, "load another one")
        if state["loader"] is not None:
            if not hasattr(self._loader, "load_state_dict"):
                raise ValueError(
                    f"{self._name}: the state holds a loader's, but a {type(self._loader).__name__} cannot"
                    " load one; wrap the kind of loader that was wrapped when it was saved."
                )
            rewinds = _rewinds_to_its_state(self._loader)
            if state["buffer"] is not None or not rewinds:
                self._loader.load_state_dict(state["loader"])
                self._must_rewind = rewinds
        self.epoch, self._pass = state["epoch"], None
        self._resume = state if state["emitted"] or state["buffer"] else None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loader, name)


def _some(elements: Iterator[T]) -> Iterator[T]:
    """`elements`, of which there must be some: asked of all but workers, which may have no share."""
    empty = True
    for element in elements:
        empty = False
        yield element
    if empty:
        raise ValueError(
            "The loader to be echoed gives no elements; give one that has some, and no generator for more "
            "than one pass, as it gives them only once."
        )


def _rewinds_to_its_state(loader: object) -> bool:
    """Whether each pass begins where a state was loaded, not just the next: streams of Hugging Face do so."""
    return type(loader).__module__.startswith("datasets.") and hasattr(loader, "load_state_dict")
