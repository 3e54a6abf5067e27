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

from pipelines import INSERTION_POINTS, EchoSpec, Ledger, Pipeline
from pipelines.fresh import FreshStream
from pipelines.keys import random_bits

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
        bits = random_bits(self.seed, "echo buffer")
        slots = [next(incoming) for _ in range(self.slots)]
        while True:
            word = int(bits.random_raw())
            for half in (word % 2**32, word >> 32):
                slot = half * len(slots) >> 32
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


def pipeline(echo: EchoSpec, batch_size: int, seed: int, examples: int = 9, block: int = 64) -> Pipeline:
    ids = np.arange(examples)
    return Pipeline((ids, ids), batch_size=batch_size, echo=echo, seed=seed, _block_examples=block)


def batches(stream: Pipeline, n: int) -> Iterator[list[Example]]:
    for batch in islice(stream, n):
        yield list(zip(batch.ordinals.tolist(), batch.copies.tolist(), strict=True))


factors = st.one_of(
    st.integers(1, 6), st.floats(1, 6), st.fractions(1, 4, max_denominator=12).map(float), st.just(1.000001)
)
echoes = st.builds(EchoSpec, factors, st.sampled_from(INSERTION_POINTS), st.integers(0, 40))
batch_sizes = st.integers(1, 9)
seeds = st.integers(-5, 2**70)


@settings(max_examples=200, deadline=None)
@given(echoes, batch_sizes, seeds, st.integers(9, 30), st.integers(1, 50))
def test_the_stream_and_its_ledger_are_those_of_the_slow_pipeline(
    echo: EchoSpec, batch_size: int, seed: int, examples: int, block: int
) -> None:
    fast = pipeline(echo, batch_size, seed, examples, block)
    slow = SlowPipeline(echo, batch_size, seed)
    order = [i for number in range(60) for i in FreshStream(examples, seed).permutation(number).tolist()]
    assert fast.ledger == slow.ledger
    for batch, expected in zip(islice(fast, 40), slow, strict=False):
        assert list(zip(batch.ordinals.tolist(), batch.copies.tolist(), strict=True)) == expected
        assert batch.example_ids.tolist() == [order[ordinal] for ordinal, _ in expected]
        assert fast.ledger == slow.ledger


@settings(max_examples=50, deadline=None)
@given(echoes, batch_sizes, seeds, st.integers(1, 30))
def test_a_ledger_asked_for_once_is_that_of_one_asked_for_all_the_time(
    echo: EchoSpec, batch_size: int, seed: int, updates: int
) -> None:
    often, once = pipeline(echo, batch_size, seed), pipeline(echo, batch_size, seed)
    for _ in range(updates):
        next(often), next(once)
        ledger = often.ledger
    assert once.ledger == ledger


@settings(max_examples=50, deadline=None)
@given(echoes, batch_sizes, seeds)
def test_no_copy_is_emitted_twice_and_none_is_lost(echo: EchoSpec, batch_size: int, seed: int) -> None:
    stream = pipeline(echo, batch_size, seed)
    emitted = Counter(one for batch in batches(stream, 60) for one in batch)
    assert set(emitted.values()) == {1}
    ledger = stream.ledger
    assert ledger.examples_consumed == len(emitted)
    assert all(ordinal < ledger.examples_read for ordinal, _ in emitted)
    incoming = ledger.examples_consumed + ledger.buffer_fill
    assert abs(incoming - ledger.ratio * ledger.examples_read) < ledger.ratio * batch_size


@settings(max_examples=50, deadline=None)
@given(echoes, echoes, batch_sizes, batch_sizes, seeds)
def test_the_fresh_stream_is_the_same_whatever_the_echo(
    one: EchoSpec, other: EchoSpec, batch_size: int, other_size: int, seed: int
) -> None:
    streams = pipeline(one, batch_size, seed), pipeline(other, other_size, seed)
    read: list[dict[int, int]] = [{}, {}]
    for known, stream in zip(read, streams, strict=True):
        for batch in islice(stream, 40):
            known.update(zip(batch.ordinals.tolist(), batch.example_ids.tolist(), strict=True))
    shared = read[0].keys() & read[1].keys()
    assert shared
    assert all(read[0][ordinal] == read[1][ordinal] for ordinal in shared)


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_without_echo_there_is_no_buffer_whatever_else_is_asked(insertion_point: str) -> None:
    stream = pipeline(EchoSpec(1, insertion_point, 1000), 8, seed=1)
    assert [one for batch in batches(stream, 5) for one in batch] == [(i, 0) for i in range(40)]
    assert stream.ledger.buffer_examples == 0
    assert stream.ledger.examples_read == 40


def test_one_slot_reorders_nothing() -> None:
    without, with_one = (pipeline(EchoSpec(2.5, "before_augmentation", k), 8, seed=1) for k in (0, 1))
    assert list(batches(without, 20)) == list(batches(with_one, 20))


def test_after_batching_a_buffer_smaller_than_a_batch_holds_one_batch() -> None:
    stream = pipeline(EchoSpec(2, "after_batching", 5), 8, seed=1)
    assert stream.ledger.buffer_examples == 8
    assert list(batches(stream, 2)) == [[(i, copy) for i in range(8)] for copy in (0, 1)]


def test_the_stream_is_the_same_on_every_machine() -> None:
    stream = pipeline(EchoSpec(1.5, "before_augmentation", 6), 8, seed=2024)
    assert [batch.example_ids.tolist() for batch in islice(stream, 3)] == [
        [2, 5, 1, 7, 6, 6, 7, 4],
        [8, 3, 2, 0, 4, 8, 4, 0],
        [5, 1, 8, 0, 1, 7, 3, 0],
    ]
