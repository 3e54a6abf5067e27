"""What is held for later copies, against all the roads on which it could be changed."""

from __future__ import annotations

import array
from collections import OrderedDict, UserDict, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset

from pipelines import ChangedInPlaceError, echo_batches, echo_examples


@dataclass
class Record:
    values: Any
    name: str = "a"


@dataclass(frozen=True, slots=True)
class Slotted:
    values: Any
    name: str = field(default="a")


class Thing:
    """An object no one knows anything about."""

    def __init__(self, values: Any) -> None:
        self.values = values


class Named(dict[str, Any]):
    """A dict with an attribute."""

    def __init__(self, values: Any) -> None:
        super().__init__(name="a")
        self.values = values


def double(values: Any) -> None:
    values[:] = values * 2


def ones() -> Any:
    return np.ones(2)


MUTABLE: dict[str, tuple[Any, Any, Any]] = {  # an element, how to reach into it, how to spoil it
    "array": (ones(), lambda x: x, double),
    "array as a tensor": (ones(), torch.as_tensor, lambda x: x.mul_(2)),
    "array of objects": (np.array([[1], None], object), lambda x: x[0], lambda x: x.append(1)),
    "array in a dict": ({"a": [ones()]}, lambda x: x["a"][0], double),
    "array in a dataclass": (Record(ones()), lambda x: x.values, double),
    "array in a slotted dataclass": (Slotted(ones()), lambda x: x.values, double),
    "tensor in an object": (Thing(torch.ones(2)), lambda x: x.values, lambda x: x.mul_(2)),
    "array in an attribute of a dict": (Named(ones()), lambda x: x.values, double),
    "array in a user's dict": (UserDict(a=ones()), lambda x: x["a"], double),
    "array in a dict with defaults": (defaultdict(list, a=ones()), lambda x: x["a"], double),
    "array in an ordered dict": (OrderedDict(a=ones()), lambda x: x["a"], double),
    "array in a deque": (deque([ones()]), lambda x: x[0], double),
    "bytes": (bytearray(b"ab"), lambda x: x, lambda x: x.extend(b"c")),
    "numbers": (array.array("d", [1]), lambda x: x, lambda x: x.append(1)),
    "a set": ({1, 2}, lambda x: x, lambda x: x.add(len(x) + 1)),
    "an image": (
        Image.new("L", (1, 1), 5),
        lambda x: x,
        lambda x: x.putpixel((0, 0), x.getpixel((0, 0)) * 2),
    ),
}


@pytest.mark.parametrize("copying", [False, True])
@pytest.mark.parametrize("buffer", [0, 3])
@pytest.mark.parametrize("what", MUTABLE)
def test_what_cannot_be_watched_is_a_copy_of_its_own_each_time(what: str, buffer: int, copying: bool) -> None:
    element, reach, spoil = MUTABLE[what]
    seen = []
    for copy in echo_examples([element], 3, buffer, copy=copying):
        assert type(copy) is type(element)
        seen.append(repr(reach(copy)) if what != "an image" else copy.getpixel((0, 0)))
        spoil(reach(copy))
    assert len(seen) == 3
    assert len(set(seen)) == 1
    assert seen[0] == (repr(reach(element)) if what != "an image" else element.getpixel((0, 0)))


@pytest.mark.parametrize("spoil", [lambda x: x.data.mul_(2), lambda x: x.numpy().fill(7)])
def test_with_copies_asked_for_no_road_leads_to_another_copy(spoil: Any) -> None:
    seen = []
    for x in echo_batches([torch.ones(2)], 3, copy=True):
        seen.append(x.tolist())
        spoil(x)
    assert seen == [[1, 1]] * 3


class Refilling:
    """Fills the same memory for each element, and hands it out by `give`."""

    def __init__(self, memory: Any, give: Any) -> None:
        self.memory, self.give = memory, give

    def __iter__(self) -> Iterator[Any]:
        for i in range(6):
            self.memory[:] = i
            yield self.give(self.memory)


REFILLED: dict[str, Any] = {
    "array": lambda: Refilling(np.zeros(2), lambda memory: memory),
    "array, in rows": lambda: Refilling(np.zeros((3, 2)), lambda memory: memory[0]),
    "tensor on an array": lambda: Refilling(np.zeros(2), torch.from_numpy),
}


@pytest.mark.parametrize("what", REFILLED)
@pytest.mark.parametrize(("factor", "buffer"), [(2, 0), (2, 4), (1.5, 4)])
def test_a_loader_may_fill_the_same_array_again_and_again(what: str, factor: float, buffer: int) -> None:
    echoed = [int(x[0]) for x in echo_batches(REFILLED[what](), factor, buffer)]
    assert echoed == list(echo_batches(range(6), factor, buffer))


def test_a_loader_that_fills_the_same_tensor_is_noticed_and_served_with_copies() -> None:
    def loader() -> Refilling:
        return Refilling(torch.zeros(2), lambda memory: memory)

    with pytest.raises(ChangedInPlaceError, match="copy=True"):
        list(echo_batches(loader(), 2, 4))
    assert [int(x[0]) for x in echo_batches(loader(), 2, 4, copy=True)] == list(echo_batches(range(6), 2, 4))


def test_rows_of_a_tensor_that_is_still_being_filled_come_right_with_copies() -> None:
    def rows() -> Iterator[torch.Tensor]:
        table = torch.empty(6, 2)
        for i in range(6):
            table[i] = i
            yield table[i]

    with pytest.raises(ChangedInPlaceError, match="copy=True"):
        list(echo_batches(rows(), 2, 2))
    assert [int(x[0]) for x in echo_batches(rows(), 2, 2, copy=True)] == list(echo_batches(range(6), 2, 2))


@pytest.mark.parametrize("copying", [False, True])
def test_tensors_of_inference_mode_are_watched_as_others_are(copying: bool) -> None:
    with torch.inference_mode():
        made = torch.ones(3)
        copies = iter(echo_batches([made], 2, copy=copying))
        first = next(copies)
        assert first.tolist() == [1, 1, 1]
        first.mul_(2)
        if copying:
            assert next(copies).tolist() == [1, 1, 1]
        else:
            with pytest.raises(ChangedInPlaceError, match="changed in place"):
                next(copies)
    assert made.tolist() == [1, 1, 1]


class Arrays(IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter(echo_examples([{"a": np.ones(2)} for _ in range(4)], 2, 2))


@pytest.mark.parametrize("batch_size", [None, 2])
def test_a_data_loader_may_turn_arrays_into_tensors_and_change_them(batch_size: int | None) -> None:
    for batch in DataLoader(Arrays(), batch_size=batch_size):  # a warning of torch would be an error
        assert set(batch["a"].flatten().tolist()) == {1}
        batch["a"].mul_(2)


def test_the_last_copy_costs_nothing_and_the_loaders_array_stays_the_loaders() -> None:
    mine = np.ones(2)
    copies = list(echo_examples([mine], 2))
    for copy in copies:
        copy += 1
    assert mine.tolist() == [1, 1]
    assert mine.flags.writeable
    assert not np.shares_memory(copies[0], copies[1])


def test_what_cannot_be_copied_is_said_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"holds a generator that cannot be copied .*; let the loader give"):
        list(echo_examples([(i for i in range(3))], 2))
