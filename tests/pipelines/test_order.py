"""The order, example for example, against a slow and obvious pipeline of Python generators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count, islice
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from pipelines import INSERTION_POINTS, EchoSpec, Ledger
from pipelines.keys import generator
from pipelines.order import Order

Example = tuple[int, int]
"""Fresh ordinal and copy number."""


@dataclass
class SlowPipeline:
    """One example at a time: fresh stream -> (batches) -> echo -> buffer -> (batches), with a ledger."""

    echo: EchoSpec
    batch_size: int
    seed: int
    read: int = 0
    consumed: int = 0
    updates: int = 0
    duplicates: int = 0
    lags: list[int] = field(default_factory=list)
    last_update: dict[int, int] = field(default_factory=dict)

    def fresh(self) -> Iterator[int]:
        for ordinal in count():
            self.read += 1
            yield ordinal

    def elements(self) -> Iterator[list[int]]:
        fresh = self.fresh()
        while True:
            yield list(islice(fresh, self.batch_size if self.batches_first else 1))

    def echoed(self) -> Iterator[list[Example]]:
        e = Fraction(self.echo.factor).limit_denominator(1_000_000)
        for i, element in enumerate(self.elements()):
            for copy in range(floor((i + 1) * e) - floor(i * e)):
                yield [(ordinal, copy) for ordinal in element]

    def shuffled(self) -> Iterator[list[Example]]:
        incoming = self.echoed()
        if self.slots == 0:
            yield from incoming
        random = generator(self.seed, "echo buffer")
        slots = [next(incoming) for _ in range(self.slots)]
        while True:
            slot = int(random.random() * len(slots))
            yield slots[slot]
            slots[slot] = next(incoming)

    def __iter__(self) -> Iterator[list[Example]]:
        stream = self.shuffled()
        while True:
            batch = [
                one for part in islice(stream, 1 if self.batches_first else self.batch_size) for one in part
            ]
            self.book(batch)
            yield batch

    def book(self, batch: list[Example]) -> None:
        seen: set[int] = set()
        for ordinal, _ in batch:
            self.duplicates += ordinal in seen
            seen.add(ordinal)
            if ordinal in self.last_update:
                self.lags.append(self.updates - self.last_update[ordinal])
            self.last_update[ordinal] = self.updates
        self.updates += 1
        self.consumed += len(batch)

    @property
    def batches_first(self) -> bool:
        return self.echo.insertion_point == "after_batching" and self.echo.factor > 1

    @property
    def slots(self) -> int:
        if self.echo.factor == 1 or self.echo.buffer == 0:
            return 0
        return max(1, self.echo.buffer // self.batch_size) if self.batches_first else self.echo.buffer

    @property
    def ledger(self) -> Ledger:
        e = Fraction(self.echo.factor).limit_denominator(1_000_000)
        width = self.batch_size if self.batches_first else 1
        waiting = self.slots - 1 if self.slots and self.updates else 0
        return Ledger(
            ratio=e,
            updates=self.updates,
            examples_read=self.read,
            examples_consumed=self.consumed,
            duplicates=self.duplicates,
            repeats=len(self.lags),
            lag_updates=sum(self.lags),
            buffer_examples=self.slots * width,
            buffer_fill=waiting * width,
        )


def batches(order: Order, n: int) -> Iterator[list[Example]]:
    for _ in range(n):
        block, row = order.step()
        yield list(zip(block.ordinals[row].tolist(), block.copies[row].tolist(), strict=True))


factors = st.one_of(
    st.integers(1, 6), st.floats(1, 6), st.fractions(1, 4, max_denominator=12).map(float), st.just(1.000001)
)
echoes = st.builds(EchoSpec, factors, st.sampled_from(INSERTION_POINTS), st.integers(0, 40))
batch_sizes = st.integers(1, 9)
seeds = st.integers(-5, 2**70)
block_sizes = st.integers(1, 50)


@settings(max_examples=300, deadline=None)
@given(echoes, batch_sizes, seeds, block_sizes)
def test_the_order_and_its_ledger_are_those_of_the_slow_pipeline(
    echo: EchoSpec, batch_size: int, seed: int, block_examples: int
) -> None:
    slow = SlowPipeline(echo, batch_size, seed)
    order = Order(echo, batch_size, seed, block_examples)
    assert order.ledger == slow.ledger
    for expected, actual in zip(slow, batches(order, 40), strict=False):
        assert actual == expected
        assert order.ledger == slow.ledger


def test_a_wide_order_is_that_of_the_slow_pipeline_too() -> None:
    """More slots than 16 bits can number, so that slots and ordinals are sorted in two halves."""
    echo = EchoSpec(1.5, "before_augmentation", 100_000)
    slow = SlowPipeline(echo, 512, 3)
    order = Order(echo, 512, 3)
    for actual, expected in zip(batches(order, 300), slow, strict=False):
        assert actual == expected
    assert order.ledger == slow.ledger


@given(echoes, batch_sizes, seeds)
@settings(max_examples=50, deadline=None)
def test_one_emission_is_read_once_and_no_copy_is_skipped(echo: EchoSpec, batch_size: int, seed: int) -> None:
    order = Order(echo, batch_size, seed)
    emitted = Counter(one for batch in batches(order, 60) for one in batch)
    assert set(emitted.values()) == {1}
    read = order.ledger.examples_read
    assert all(ordinal < read for ordinal, _ in emitted)
    assert order.ledger.examples_consumed + order.ledger.buffer_fill <= read * (echo.ratio + 1)


def test_the_buffer_draws_its_slots_uniformly() -> None:
    order = Order(EchoSpec(2, "after_augmentation", 50), 100, seed=7)
    drawn = np.concatenate([order.step()[0].drawn for _ in range(1)])
    assert chisquare(np.bincount(drawn, minlength=50)).pvalue > 0.01
    pairs = np.bincount(drawn[:-1] % 7 * 7 + drawn[1:] % 7, minlength=49)
    margins = np.bincount(drawn % 7, minlength=7) / len(drawn)
    assert chisquare(pairs, np.outer(margins, margins).ravel() * pairs.sum()).pvalue > 0.01


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_without_echo_there_is_no_buffer_whatever_else_is_asked(insertion_point: str) -> None:
    order = Order(EchoSpec(1, insertion_point, 1000), 8, seed=1)
    assert [one for batch in batches(order, 5) for one in batch] == [(i, 0) for i in range(40)]
    assert order.ledger.buffer_examples == 0
    assert order.ledger.examples_read == 40


def test_one_slot_reorders_nothing() -> None:
    without, with_one = (Order(EchoSpec(2.5, "before_augmentation", k), 8, seed=1) for k in (0, 1))
    assert list(batches(without, 20)) == list(batches(with_one, 20))


def test_a_buffer_smaller_than_a_batch_holds_one_batch_after_batching() -> None:
    order = Order(EchoSpec(2, "after_batching", 5), 8, seed=1)
    order.step()
    assert order.ledger.buffer_examples == 8


