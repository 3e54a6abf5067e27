"""The wrappers against the index engine's order, and against what consumers and loaders may do to them."""

from __future__ import annotations

from collections import Counter, UserDict, namedtuple
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from math import floor
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader, Dataset, TensorDataset

from pipelines import ChangedInPlaceError, EchoSpec, echo_batches, echo_examples
from pipelines.echo import EchoStage
from pipelines.order import Order

factors = st.one_of(
    st.integers(1, 5), st.floats(1, 5), st.fractions(1, 4, max_denominator=12).map(float), st.just(1.000001)
)
seeds = st.integers(-5, 2**70)
Pair = namedtuple("Pair", ["image", "label"])


def engine_order(factor: float, buffer: int, seed: int, emissions: int) -> list[int]:
    """Which element the index engine emits when, for elements that are batches."""
    spec = EchoSpec(factor, "after_batching", buffer)
    return Order(EchoStage.of(spec, 1), seed).next_block(emissions).elements.tolist()


@settings(max_examples=150)
@given(factors, st.integers(0, 40), seeds, st.integers(1, 300))
def test_the_order_is_that_of_the_index_engine_until_the_elements_end(
    factor: float, buffer: int, seed: int, elements: int
) -> None:
    seen: list[int] = []
    read = 0

    def source() -> Iterator[int]:
        nonlocal read
        for read in range(1, elements + 1):
            yield read - 1

    before_the_end = 0
    for element in echo_examples(source(), factor, buffer, seed):
        seen.append(element)
        before_the_end += read < elements
    expected = engine_order(factor, buffer, seed, max(1, len(seen)))
    assert seen[:before_the_end] == expected[:before_the_end]
    emissions = elements * EchoSpec(factor).ratio
    assert before_the_end >= floor(emissions) - max(buffer, 1) - factor


@settings(max_examples=100)
@given(factors, st.integers(0, 60), seeds, st.integers(1, 40))
def test_every_element_comes_exactly_as_often_as_the_closed_form_says(
    factor: float, buffer: int, seed: int, elements: int
) -> None:
    e = Fraction(factor).limit_denominator(1_000_000)
    echoed = echo_batches(range(elements), factor, buffer, seed)
    seen = Counter(echoed)
    assert [seen[i] for i in range(elements)] == [floor((i + 1) * e) - floor(i * e) for i in range(elements)]
    assert len(echoed) == seen.total()


def test_draining_a_buffer_gives_every_order_equally_often() -> None:
    orders = Counter(tuple(echo_examples("abc", 1.3, 9, seed)) for seed in range(2400))
    assert len(orders) == 6
    assert all(330 < n < 470 for n in orders.values())


def test_each_pass_is_shuffled_anew_and_can_be_had_again_by_its_number() -> None:
    echoed = echo_examples(range(50), 2, 20, seed=3)
    passes = [list(echoed) for _ in range(3)]
    assert len({tuple(one) for one in passes}) == 3
    assert all(sorted(one) == sorted(passes[0]) for one in passes)
    echoed.epoch = 1
    assert list(echoed) == passes[1]
    assert list(echo_examples(range(50), 2, 20, seed=3)) == passes[0]


def test_a_pass_broken_off_does_not_disturb_the_next() -> None:
    whole, broken = echo_examples(range(50), 2, 20), echo_examples(range(50), 2, 20)
    expected = [list(whole), list(whole)]
    assert list(islice(broken, 7)) == expected[0][:7]
    assert list(broken) == expected[1]


def test_two_passes_at_once_are_independent() -> None:
    one, other = echo_examples(range(20), 2, 5), echo_examples(range(20), 2, 5)
    expected = list(other), list(other)
    first, second = iter(one), iter(one)
    pairs = [(next(first), next(second)) for _ in range(40)]
    assert pairs == list(zip(*expected, strict=True))


def test_only_as_much_is_read_as_is_needed() -> None:
    source = iter(range(100))
    stream = iter(echo_examples(source, 4, 10))
    next(stream)
    assert next(source) == 3  # ten slots: elements 0, 1 and half of 2


def test_without_echo_elements_pass_through_untouched() -> None:
    elements = [np.zeros(3), torch.zeros(3), [1]]
    for out, element in zip(echo_examples(elements, 1, buffer=10), elements, strict=True):
        assert out is element
    assert elements[0].flags.writeable


@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_loader_keeps_its_batches_and_its_attributes(workers: int) -> None:
    data = TensorDataset(torch.arange(20), torch.arange(20) % 3)
    loader = DataLoader(data, batch_size=6, num_workers=workers)
    echoed = echo_batches(loader, 1.5, buffer_batches=2)
    assert len(echoed) == 6
    batches = list(echoed)
    assert [len(inputs) for inputs, _ in batches].count(6) == 4
    for inputs, targets in batches:
        assert torch.equal(inputs % 3, targets)
    assert echoed.batch_size == 6
    assert echoed.dataset is data
    with pytest.raises(AttributeError, match="no attribute 'batchsize'"):
        _ = echoed.batchsize


def test_a_length_is_there_only_where_the_loader_has_one() -> None:
    with pytest.raises(TypeError, match="has no len"):
        len(echo_examples((i for i in range(3)), 2))


@pytest.mark.parametrize("workers", [0, 2])
def test_a_data_loader_batches_echoed_examples(workers: int) -> None:
    examples = [torch.tensor(i) for i in range(10)]
    echoed = echo_examples(examples, 3, buffer=8)
    loader = DataLoader(echoed, batch_size=5, num_workers=workers)
    counts = Counter(i for batch in loader for i in batch.tolist())
    assert counts == dict.fromkeys(range(10), 3 * max(1, workers))


def test_workers_draw_apart_and_a_set_epoch_reaches_them() -> None:
    echoed = echo_examples(range(30), 2, 10)
    loader = DataLoader(echoed, batch_size=60, num_workers=2)
    first, second = (batch.tolist() for batch in loader)
    echoed.epoch = 1
    third, _ = (batch.tolist() for batch in loader)
    assert sorted(first) == sorted(second) == sorted(third)
    assert first != second
    assert first != third
    assert first == list(echo_examples(range(30), 2, 10))


class DiesAtSeven(Dataset[int]):
    def __len__(self) -> int:
        return 10

    def __getitem__(self, i: int) -> int:
        if i == 7:
            raise OSError("example 7 cannot be read")
        return i


@pytest.mark.parametrize("workers", [0, 1])
def test_an_error_in_the_loader_passes_through(workers: int) -> None:
    with pytest.raises(OSError, match="example 7 cannot be read"):
        list(echo_batches(DataLoader(DiesAtSeven(), batch_size=2, num_workers=workers), 2, 3))


def nested() -> list[Any]:
    one = {"image": torch.ones(2, 3), "boxes": [np.ones(4), {"label": torch.tensor(1)}], "name": "a"}
    return [one, (torch.zeros(2), np.zeros(2)), Pair(torch.zeros(1), 3), UserDict(x=torch.zeros(1)), b"raw"]


def plain(element: Any) -> Any:
    """Tensors and arrays as lists, so that == compares values."""
    if isinstance(element, torch.Tensor | np.ndarray):
        return element.tolist()
    if isinstance(element, dict | UserDict):
        return {name: plain(part) for name, part in element.items()}
    return [plain(part) for part in element] if isinstance(element, list | tuple) else element


def test_nested_elements_keep_their_types_and_values() -> None:
    for element in nested():
        first, second = echo_examples([element], 2)
        for out in (first, second):
            assert type(out) is type(element)
            assert plain(out) == plain(element)


def test_what_a_consumer_does_to_containers_reaches_no_other_copy() -> None:
    copies = iter(echo_examples(nested()[:1], 2))
    one = next(copies)
    one.pop("name")
    one["image"] = None
    one["boxes"][1]["label"] = None
    one["boxes"].clear()
    assert plain(next(copies)) == plain(nested()[0])


@pytest.mark.parametrize("buffer", [0, 5])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda x: x.div_(255),
        lambda x: x[0].zero_(),
        lambda x: x.detach().add_(1),
        lambda x: x.view(-1).mul_(0),
        lambda x: x.numpy() is None or torch.add(x, 1, out=x),
        lambda x: x.resize_(1),
    ],
)
def test_a_tensor_changed_in_place_is_an_error_before_its_next_copy(spoil: Any, buffer: int) -> None:
    copies = iter(echo_batches([[torch.ones(2, 3), "label"]], 3, buffer))
    image, _ = next(copies)
    spoil(image)
    complaint = r"A tensor \(.*\) of element 0 was changed in place .* make a new tensor .*copy=True"
    with pytest.raises(ChangedInPlaceError, match=complaint):
        next(copies)


def test_gradients_of_one_copy_reach_no_other() -> None:
    copies = echo_batches([torch.ones(3)], 2)
    for x in copies:
        assert not x.requires_grad
        assert x.grad is None
        x.requires_grad_()
        (x * 2).sum().backward()


def test_a_tensor_that_needs_gradients_stays_connected() -> None:
    weight = torch.ones(3, requires_grad=True)
    for x in echo_batches([weight * 2], 2):
        assert x.requires_grad
        x.sum().backward(retain_graph=True)
    assert weight.grad.tolist() == [4, 4, 4]


def test_copies_asked_for_may_be_changed_at_will() -> None:
    tensor, array = torch.ones(3), np.ones(3)
    for x, y in echo_batches([(tensor, array)], 3, copy=True):
        assert x.tolist() == y.tolist() == [1, 1, 1]
        x.zero_()
        y += 1
    assert tensor.tolist() == array.tolist() == [1, 1, 1]


def test_a_copy_of_a_view_is_as_small_as_the_view() -> None:
    whole = torch.zeros(1000, 10)
    copies = list(echo_batches(whole[:20].split(10), 2, copy=True))
    assert [copy.untyped_storage().nbytes() for copy in copies] == [400] * 4


@pytest.mark.parametrize("factor", [Fraction(5, 2), np.float32(2.5), np.float64(2.5)])
def test_a_factor_may_be_any_real_number(factor: Any) -> None:
    assert list(echo_examples(range(4), factor)) == list(echo_examples(range(4), 2.5))


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (lambda: echo_examples([1], 0.5), "echo_examples: factor is 0.5; give how often"),
        (lambda: echo_examples([1], float("nan")), "echo_examples: factor is nan; give how often"),
        (lambda: echo_batches([1], True), "echo_batches: factor is True; give how often"),
        (lambda: echo_batches([1], "2"), "echo_batches: factor is '2'; give how often"),
        (lambda: echo_examples([1], 2, -1), "echo_examples: buffer is -1; give how many"),
        (lambda: echo_batches([1], 2, 1.5), "echo_batches: buffer_batches is 1.5; give how many"),
        (lambda: echo_batches([1], 2, seed="a"), "echo_batches: seed is 'a'; give a whole number"),
        (
            lambda: echo_batches(3, 2),
            "echo_batches: what is given, of type int, cannot be iterated; give a loader",
        ),
        (
            lambda: echo_examples(TensorDataset(torch.ones(2)), 2),
            "of type TensorDataset, cannot be iterated; give a",
        ),
        (lambda: list(echo_batches([], 2)), "gives no elements; give one that has some, and no generator"),
    ],
)
def test_wrong_use_is_said_in_one_sentence(wrong: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        wrong()


def test_a_generator_is_no_loader_for_a_second_pass() -> None:
    echoed = echo_examples((i for i in range(3)), 2)
    assert list(echoed) == [0, 0, 1, 1, 2, 2]
    with pytest.raises(ValueError, match="no generator for more than one pass"):
        list(echoed)
