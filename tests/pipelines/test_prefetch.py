from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np
import pytest

from pipelines import Draws, EchoSpec, MemorySource, Pipeline, Prefetch
from pipelines.exchange import Ints
from pipelines.sources import Pair
from pipelines.testing import assert_resumes_exactly

DATA = np.arange(60.0).reshape(20, 3), np.arange(20)


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "echostudy-prefetch"]


@pytest.fixture(autouse=True)
def _leaves_no_thread() -> Iterator[None]:
    gc.collect()
    before = len(threads())
    yield
    gc.collect()
    for thread in threads():
        thread.join(10)
    assert len(threads()) == before == 0


def pipeline(**settings: Any) -> Pipeline:
    return Pipeline(DATA, batch_size=4, echo=EchoSpec(2, "before_augmentation", 7), **settings)


@pytest.mark.parametrize("ahead", [1, 2, 50])
def test_all_items_come_in_order(ahead: int) -> None:
    with Prefetch(range(20), ahead) as items:
        assert list(items) == list(range(20))
        assert list(items) == []


@pytest.mark.parametrize("ahead", [1, 3])
def test_so_many_items_are_prepared_in_advance_and_no_more(ahead: int) -> None:
    def prepared() -> Iterator[int]:
        for number in count():
            made.append(number)
            if number == ahead:
                enough.set()
            yield number

    made: list[int] = []
    enough = threading.Event()
    items = Prefetch(prepared(), ahead)
    assert not made
    assert next(items) == 0
    assert enough.wait(10), "nothing was prepared while the first item was in use"
    items.close()
    assert made == list(range(ahead + 1))


def test_an_error_arrives_after_the_items_before_it() -> None:
    def failing() -> Iterator[int]:
        yield from range(3)
        raise OSError("the disk is gone")

    items = Prefetch(failing(), 5)
    assert list(islice(items, 3)) == [0, 1, 2]
    with pytest.raises(OSError, match="the disk is gone"):
        next(items)
    assert not threads()
    assert list(items) == []


def test_leaving_a_with_block_ends_the_thread() -> None:
    with Prefetch(count()) as items:
        next(items)
        assert len(threads()) == 1
    assert not threads()
    with pytest.raises(ValueError, match="closed; make a new one"):
        next(items)


def test_closing_twice_or_before_the_first_item_does_no_harm() -> None:
    items = Prefetch(count())
    items.close()
    items.close()
    assert not threads()


def test_dropping_it_ends_the_thread() -> None:
    items = Prefetch(count())
    next(items)
    (thread,) = threads()
    del items
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("ahead", [0, -1, 1.5, True])
def test_what_is_no_number_of_items_is_refused(ahead: Any) -> None:
    with pytest.raises(ValueError, match=r"Prefetch: ahead is .*; give how many items"):
        Prefetch(count(), ahead)


@pytest.mark.parametrize("ahead", [1, 3])
def test_a_pipeline_that_prefetches_resumes_exactly_at_the_last_batch_handed_out(ahead: int) -> None:
    assert_resumes_exactly(lambda: pipeline().prefetch(ahead), batches=12)


def test_stream_ledger_and_state_are_those_without_prefetching() -> None:
    plain = pipeline()
    with pipeline().prefetch(4) as ahead:
        for batch, same in zip(islice(plain, 25), ahead, strict=False):
            assert np.array_equal(batch.inputs, same.inputs)
            assert plain.ledger == ahead.ledger
            assert str(plain.state_dict()) == str(ahead.state_dict())
            assert ahead.updates == plain.updates


def test_a_closed_pipeline_goes_on_where_it_was_closed() -> None:
    plain, ahead = pipeline(), pipeline().prefetch(3)
    for turn in range(3):
        for batch, same in zip(islice(plain, 5), ahead, strict=False):
            assert np.array_equal(batch.inputs, same.inputs)
        ahead.close() if turn else ahead.prefetch(1)
        assert not threads()


def test_loading_a_state_ends_the_thread() -> None:
    ahead = pipeline().prefetch(3)
    state, first = ahead.state_dict(), next(ahead)
    ahead.load_state_dict(state)
    assert not threads()
    assert np.array_equal(next(ahead).inputs, first.inputs)
    ahead.close()


def test_dropping_a_pipeline_ends_its_thread() -> None:
    ahead = pipeline().prefetch(3)
    next(ahead)
    (thread,) = threads()
    del ahead
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize("batches", [-1, 1.5, None])
def test_what_is_no_number_of_batches_is_refused(batches: Any) -> None:
    with pytest.raises(ValueError, match=r"prefetch: batches is .*; give a number of batches, or 0"):
        pipeline().prefetch(batches)


class Watched(MemorySource):
    """Says when the group after the first one is asked for."""

    def __init__(self) -> None:
        super().__init__(*DATA)
        self.goes_on = threading.Event()

    def read(self, groups: Iterable[Ints]) -> Iterator[Pair]:
        for number, pair in enumerate(super().read(groups)):
            if number:
                self.goes_on.set()
            yield pair


@pytest.mark.parametrize("factor", [1, 2])
def test_a_source_reads_on_while_a_batch_is_being_prepared(factor: int) -> None:
    source = Watched()

    def augment(inputs: Any, targets: Any, draws: Draws) -> Any:
        assert source.goes_on.wait(10), "nothing was read while a batch was being prepared"
        return inputs, targets

    echo = EchoSpec(factor, "before_augmentation")
    with Pipeline(source, batch_size=4, echo=echo, augment=augment).prefetch(1) as reading:
        assert len(next(reading)) == 4
        assert len(threads()) == 2


@pytest.mark.parametrize(
    "end", [Pipeline.close, lambda reading: reading.load_state_dict(reading.state_dict())]
)
def test_what_reads_for_a_pipeline_ends_with_it(end: Callable[[Pipeline], None]) -> None:
    reading = Pipeline(MemorySource(*DATA), batch_size=4, echo=EchoSpec(2, buffer=7)).prefetch(2)
    plain = Pipeline(DATA, batch_size=4, echo=EchoSpec(2, buffer=7))
    for _ in range(3):
        assert np.array_equal(next(reading).example_ids, next(plain).example_ids)
    end(reading)
    assert not threads()
    assert np.array_equal(next(reading).example_ids, next(plain).example_ids)
    reading.close()
