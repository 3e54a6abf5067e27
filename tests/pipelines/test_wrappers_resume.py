"""The wrappers' states: exact at every place, and refused where they do not belong."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch

from pipelines import ChangedInPlaceError, echo_batches, echo_examples


class StatefulLoader:
    """Batches of a shuffled range; knows where it is, as torchdata's StatefulDataLoader does."""

    def __init__(self, n: int) -> None:
        self.n, self.epoch, self.at, self.ended = n, -1, 0, True
        self.resumed = False
        self.read = 0

    def __iter__(self) -> Iterator[torch.Tensor]:
        if self.ended or not self.resumed:
            self.epoch, self.at = self.epoch + 1, 0
        self.ended = self.resumed = False
        order = np.random.default_rng(self.epoch).permutation(self.n)
        while self.at < self.n:
            self.at += 1
            self.read += 1
            yield torch.tensor(order[self.at - 1])
        self.ended = True

    def state_dict(self) -> dict[str, int]:
        return {"epoch": self.epoch, "at": self.at, "ended": self.ended}

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.epoch, self.at, self.ended = state["epoch"], state["at"], state["ended"]
        self.resumed = True


class CountedLoader:
    """The same elements each pass, and no state."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter(torch.arange(self.n))


@pytest.mark.parametrize("loader", [StatefulLoader, CountedLoader])
@pytest.mark.parametrize(("factor", "buffer"), [(1, 0), (2.5, 0), (2, 1), (3, 7), (1.5, 100)])
def test_a_wrapper_resumes_exactly_at_every_place(loader: Any, factor: float, buffer: int) -> None:
    whole = echo_batches(loader(9), factor, buffer, seed=5)
    states, seen, marks = [], [], []
    for _ in range(3):
        for x in whole:
            seen.append(int(x))
            states.append(pickle.dumps(whole.state_dict()))
            marks.append(len(seen))
        states.append(pickle.dumps(whole.state_dict()))
        marks.append(len(seen))
    for state, mark in zip(states, marks, strict=True):
        resumed = echo_batches(loader(9), factor, buffer, seed=5)
        resumed.load_state_dict(pickle.loads(state))
        rest: list[int] = []
        while resumed.epoch < 3:
            rest += [int(x) for x in resumed]
        assert rest == seen[mark:]


def test_a_stateful_loader_is_not_read_again_from_its_beginning() -> None:
    whole = echo_batches(StatefulLoader(100), 2, 4)
    for _ in islice(whole, 150):
        pass
    state = whole.state_dict()
    assert len(state["buffer"]["elements"]) <= 4
    loader = StatefulLoader(100)
    resumed = echo_batches(loader, 2, 4)
    resumed.load_state_dict(state)
    assert len(list(resumed)) == 50
    assert loader.read == 100 - whole.read + 1  # the one that had been read ahead


def test_a_state_of_other_settings_or_of_another_loader_is_refused() -> None:
    state = echo_batches(StatefulLoader(5), 2, 3).state_dict()
    with pytest.raises(ValueError, match="echo_buffer = 3, not 4; give both the same settings"):
        echo_batches(StatefulLoader(5), 2, 4).load_state_dict(state)
    with pytest.raises(ValueError, match="a list cannot load one; wrap the kind of loader"):
        echo_batches([1, 2], 2, 3).load_state_dict(state)
    del state["emitted"]
    with pytest.raises(ValueError, match="the state is damaged; load another one"):
        echo_batches(StatefulLoader(5), 2, 3).load_state_dict(state)


def test_a_state_of_the_other_wrapper_is_refused() -> None:
    state = echo_examples([1, 2], 2).state_dict()
    with pytest.raises(ValueError, match="wrapper = 'echo_examples', not 'echo_batches'"):
        echo_batches([1, 2], 2).load_state_dict(state)


def test_a_state_past_the_end_of_a_shorter_loader_is_refused() -> None:
    whole = echo_examples(range(10), 2, 3)
    for _ in islice(whole, 9):
        pass
    shorter = echo_examples(range(4), 2, 3)
    shorter.load_state_dict(whole.state_dict())
    with pytest.raises(ValueError, match="taken after 9 elements, but a pass has only 8; give the loader"):
        list(shorter)


@pytest.mark.parametrize(
    ("name", "value"), [("emitted", -1), ("emitted", 1.5), ("epoch", "a"), ("read", -3), ("hole", 9)]
)
def test_counts_that_cannot_be_are_refused(name: str, value: Any) -> None:
    echoed = echo_batches(StatefulLoader(5), 2, 3)
    next(iter(echoed))
    state = echoed.state_dict()
    (state if name in state else state["buffer"])[name] = value
    resumed = echo_batches(StatefulLoader(5), 2, 3)

    def go_on() -> None:
        resumed.load_state_dict(state)
        list(resumed)

    with pytest.raises(ValueError, match="load another one"):
        go_on()


def test_a_spoilt_element_is_not_saved() -> None:
    echoed = echo_batches(StatefulLoader(4), 3, 2)
    next(iter(echoed)).add_(1)
    with pytest.raises(ChangedInPlaceError, match="changed in place"):
        echoed.state_dict()
