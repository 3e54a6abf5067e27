from __future__ import annotations

import pickle
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import islice
from math import floor
from operator import add
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import (
    INSERTION_POINTS,
    Compose,
    Draws,
    EchoSpec,
    MemorySource,
    Pipeline,
    RandomFlip,
    RandomShift,
    SourceError,
)
from pipelines.testing import assert_resumes_exactly

IMAGES = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (23, 3, 4), dtype=np.uint8))
LABELS = torch.arange(23)
EXAMPLE_BYTES = 3 * 4 + 8
AUGMENT = Compose(RandomShift(1), RandomFlip())

factors = st.one_of(st.integers(1, 6), st.floats(1, 6), st.fractions(1, 4, max_denominator=9).map(float))
echoes = st.builds(EchoSpec, factors, st.sampled_from(INSERTION_POINTS), st.integers(0, 50))


class Recorded(MemorySource):
    """Remembers which examples it was asked for."""

    def __init__(self) -> None:
        super().__init__(IMAGES, LABELS)
        self.ids: list[int] = []

    def read(self, groups: Iterable[np.ndarray]) -> Iterator[Any]:
        def noted() -> Iterator[np.ndarray]:
            for ids in groups:
                self.ids += ids.tolist()
                yield ids

        return super().read(noted())


def streaming(**settings: Any) -> Pipeline:
    return Pipeline(settings.pop("source", MemorySource(IMAGES, LABELS)), **({"batch_size": 5} | settings))


def indexed(**settings: Any) -> Pipeline:
    return Pipeline((IMAGES, LABELS), **({"batch_size": 5} | settings))


def assert_same_batches(one: Pipeline, other: Pipeline, n: int) -> None:
    for batch, same in zip(islice(one, n), islice(other, n), strict=True):
        assert torch.equal(batch.inputs, same.inputs)
        assert torch.equal(batch.targets, same.targets)
        assert np.array_equal(batch.example_ids, same.example_ids)
        assert np.array_equal(batch.ordinals, same.ordinals)
        assert np.array_equal(batch.copies, same.copies)


@settings(max_examples=60, deadline=None)
@given(echoes, st.integers(1, 23), st.integers(-3, 2**70), st.integers(1, 60), st.booleans())
def test_the_stream_is_that_of_the_index_engine_example_for_example(
    echo: EchoSpec, batch_size: int, seed: int, block: int, augmented: bool
) -> None:
    chosen: dict[str, Any] = {
        "echo": echo,
        "batch_size": batch_size,
        "seed": seed,
        "augment": AUGMENT if augmented else None,
    }
    stream = streaming(**chosen, _block_examples=block)
    assert_same_batches(stream, indexed(**chosen, _block_examples=64), 40)


@settings(max_examples=12, deadline=None)
@given(echoes, st.integers(1, 23), st.integers(0, 99), st.integers(1, 60))
def test_it_resumes_exactly_at_every_batch(echo: EchoSpec, batch_size: int, seed: int, block: int) -> None:
    chosen: dict[str, Any] = {"echo": echo, "batch_size": batch_size, "seed": seed, "augment": AUGMENT}
    assert_resumes_exactly(lambda: streaming(**chosen, _block_examples=block), batches=14)


@settings(max_examples=25, deadline=None)
@given(echoes, st.integers(1, 23), st.integers(0, 99))
def test_bytes_held_are_those_of_the_examples_with_emissions_to_come(
    echo: EchoSpec, batch_size: int, seed: int
) -> None:
    pipeline = streaming(echo=echo, batch_size=batch_size, seed=seed)
    width = batch_size if echo.insertion_point == "after_batching" and echo.ratio > 1 else 1
    emitted: Counter[int] = Counter()
    assert pipeline.ledger.bytes_held == 0
    for batch in islice(pipeline, 30):
        emitted.update(batch.ordinals.tolist())
        waiting = 0
        for ordinal in range(pipeline.ledger.examples_read):
            i, e = ordinal // width, Fraction(echo.ratio)
            waiting += emitted[ordinal] < floor((i + 1) * e) - floor(i * e)
        assert pipeline.ledger.bytes_held == waiting * EXAMPLE_BYTES


def test_the_index_engine_holds_no_bytes() -> None:
    pipeline = indexed(echo=EchoSpec(3, "before_augmentation", 20))
    next(pipeline)
    assert pipeline.ledger.bytes_held == 0


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_memory_is_bounded_by_the_buffer(insertion_point: str) -> None:
    example = 64 * 1024
    source = MemorySource(np.zeros((200, example), np.uint8), np.zeros(200, np.int64))
    pipeline = Pipeline(source, batch_size=8, echo=EchoSpec(2.5, insertion_point, 40), _block_examples=256)
    tracemalloc.start()
    for _ in islice(pipeline, 300):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert pipeline.ledger.examples_read > 900
    assert peak < (40 + 5 * 8) * example


@dataclass(frozen=True)
class SpoilsItsArguments:
    def __call__(self, inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
        inputs += 1
        targets += 1
        return inputs, targets


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
@pytest.mark.parametrize("factor", [1, 2.5])
def test_neither_an_in_place_augmentation_nor_the_consumer_can_spoil_what_is_kept(
    insertion_point: str, factor: float
) -> None:
    pipeline = streaming(echo=EchoSpec(factor, insertion_point, 10), augment=SpoilsItsArguments())
    for batch in islice(pipeline, 60):
        ids = torch.from_numpy(batch.example_ids)
        assert torch.equal(batch.inputs, IMAGES[ids] + 1)
        assert torch.equal(batch.targets, LABELS[ids] + 1)
        batch.inputs.zero_()
        batch.targets.zero_()


@pytest.mark.parametrize(
    ("insertion_point", "once_per"),
    [
        ("before_augmentation", "examples_consumed"),
        ("after_augmentation", "examples_read"),
        ("after_batching", "examples_read"),
    ],
)
def test_only_what_has_draws_of_its_own_is_augmented_anew(insertion_point: str, once_per: str) -> None:
    def counting(inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
        sizes.append(len(draws))
        return inputs, targets

    sizes: list[int] = []
    pipeline = streaming(echo=EchoSpec(3, insertion_point, 12), augment=counting)
    for _ in islice(pipeline, 20):
        pass
    assert sum(sizes) == getattr(pipeline.ledger, once_per)


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_nothing_is_read_before_the_batch_that_needs_it(insertion_point: str) -> None:
    source = Recorded()
    pipeline = streaming(source=source, echo=EchoSpec(1.7, insertion_point, 12))
    for _ in range(30):
        next(pipeline)
        assert len(source.ids) == pipeline.ledger.examples_read


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_resuming_reads_again_only_what_still_waits(insertion_point: str) -> None:
    first, again = Recorded(), Recorded()
    echo = EchoSpec(2.5, insertion_point, 15)
    whole, resumed = (streaming(source=source, echo=echo) for source in (first, again))
    for _ in islice(whole, 40):
        pass
    resumed.load_state_dict(whole.state_dict())
    assert not again.ids
    assert resumed.ledger == whole.ledger
    waiting = whole.ledger.bytes_held // EXAMPLE_BYTES
    read = len(first.ids)
    next(whole), next(resumed)
    assert 0 < waiting <= 15 + 5
    assert len(again.ids) == waiting + len(first.ids) - read


@pytest.mark.parametrize("buffer", [0, 10, 50_000])
def test_a_state_takes_at_most_8_bytes_a_slot_and_4_kilobytes(buffer: int) -> None:
    pipeline = streaming(echo=EchoSpec(2.5, "before_augmentation", buffer))
    next(pipeline)
    assert len(pickle.dumps(pipeline.state_dict())) <= 8 * buffer + 4096


@pytest.mark.parametrize("damage", [{"example_bytes": -1}, {"example_bytes": None}, {"example_bytes": 2.0}])
def test_a_damaged_state_is_refused_and_changes_nothing(damage: dict[str, Any]) -> None:
    pipeline, untouched = streaming(), streaming()
    next(pipeline), next(untouched)
    with pytest.raises(ValueError, match="damaged; load another one, or start without it"):
        pipeline.load_state_dict(streaming().state_dict() | damage)
    assert_same_batches(pipeline, untouched, 3)


def test_the_state_of_another_pipeline_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shard = '0 of 1', not '1 of 2'"):
        streaming().shard(1, 2).load_state_dict(streaming().state_dict())


class FailsOnce(MemorySource):
    failed = False

    def read(self, groups: Iterable[np.ndarray]) -> Iterator[Any]:
        for number, pair in enumerate(super().read(groups)):
            if number == 4 and not self.failed:
                self.failed = True
                raise OSError("the disk is gone")
            yield pair


@pytest.mark.parametrize("factor", [1, 2])
@pytest.mark.parametrize("ahead", [0, 3])
def test_after_an_error_of_the_source_no_batch_is_missing(factor: float, ahead: int) -> None:
    chosen = {"echo": EchoSpec(factor, "before_augmentation", 6), "seed": 3}
    failing = streaming(source=FailsOnce(IMAGES, LABELS), **chosen).prefetch(ahead)
    errors = 0
    for number, same in enumerate(islice(indexed(**chosen), 20)):
        try:
            batch = next(failing)
        except OSError:
            errors += 1
            assert failing.updates == number
            batch = next(failing)
        assert torch.equal(batch.inputs, same.inputs)
    assert errors == 1
    failing.close()


class Changing(MemorySource):
    def read(self, groups: Iterable[np.ndarray]) -> Iterator[Any]:
        for number, (inputs, targets) in enumerate(super().read(groups)):
            yield (inputs, targets) if number < 2 else (inputs[:, :2], targets)


def test_examples_of_different_shapes_are_refused_in_one_sentence() -> None:
    pipeline = streaming(source=Changing(IMAGES, LABELS), echo=EchoSpec(2))
    with pytest.raises(ValueError, match=r"shape \(2, 4\).*follow some of shape \(3, 4\).*give all alike"):
        list(islice(pipeline, 5))


class Ending(MemorySource):
    def read(self, groups: Iterable[np.ndarray]) -> Iterator[Any]:
        return islice(super().read(groups), 2)


@pytest.mark.parametrize("factor", [1, 2])
def test_a_source_that_ends_is_named(factor: float) -> None:
    with pytest.raises(SourceError, match=r"Ending\.read ended before its groups did"):
        list(islice(streaming(source=Ending(IMAGES, LABELS), echo=EchoSpec(factor)), 9))


@pytest.mark.parametrize("make", [streaming, indexed])
def test_a_batch_larger_than_the_data_is_refused(make: Any) -> None:
    with pytest.raises(
        ValueError, match=r"batch_size is 24; give a whole number from 1 to the .* examples, 23"
    ):
        make(batch_size=24)
    with pytest.raises(ValueError, match="from 1 to the number of examples of rank 1, 11"):
        make(batch_size=12).shard(1, 2)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 6), st.sampled_from([streaming, indexed]), echoes, st.integers(0, 99))
def test_together_the_ranks_read_every_example_exactly_once_a_pass(
    world_size: int, make: Any, echo: EchoSpec, seed: int
) -> None:
    passes: list[Counter[int]] = [Counter(), Counter()]
    for rank in range(world_size):
        pipeline = make(echo=echo, batch_size=3, seed=seed, _block_examples=30).shard(rank, world_size)
        share = len(range(rank, 23, world_size))
        ids: dict[int, int] = {}
        while not ids.keys() >= set(range(2 * share)):
            batch = next(pipeline)
            ids.update(zip(batch.ordinals.tolist(), batch.example_ids.tolist(), strict=True))
        for number, counter in enumerate(passes):
            counter.update(ids[ordinal] for ordinal in range(number * share, (number + 1) * share))
    assert passes == [Counter(range(23))] * 2


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_a_rank_streams_what_it_indexes_and_resumes_exactly(insertion_point: str) -> None:
    chosen: dict[str, Any] = {"echo": EchoSpec(1.5, insertion_point, 9), "augment": AUGMENT, "seed": 2}
    for rank in range(3):
        assert_same_batches(streaming(**chosen).shard(rank, 3), indexed(**chosen).shard(rank, 3), 20)
        assert_resumes_exactly(lambda rank=rank: streaming(**chosen).shard(rank, 3), batches=9)  # type: ignore[misc]


def test_one_rank_of_one_is_the_whole() -> None:
    assert_same_batches(streaming(seed=4, augment=AUGMENT).shard(0, 1), indexed(seed=4, augment=AUGMENT), 9)


def test_ranks_shuffle_and_augment_by_draws_of_their_own() -> None:
    def show(inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
        return torch.from_numpy(draws.uniform("show")[:, 0]), targets

    ranks = [indexed(augment=show, seed=1).shard(rank, 2) for rank in (0, 1)]
    shown = [set(next(rank).inputs.tolist()) for rank in ranks]
    assert not shown[0] & shown[1]


def test_the_ledgers_of_ranks_add_up() -> None:
    ranks = [streaming(echo=EchoSpec(2, "before_augmentation", 8)).shard(rank, 3) for rank in range(3)]
    for number, rank in enumerate(ranks):
        for _ in islice(rank, 4 + number):
            pass
    total, ledgers = reduce(add, (rank.ledger for rank in ranks)), [rank.ledger for rank in ranks]
    assert total.ratio == 2
    assert total.updates == 4 + 5 + 6
    assert total.examples_consumed == 15 * 5
    assert total.fresh_examples == 37.5
    for name in ("examples_read", "duplicates", "repeats", "lag_updates", "buffer_fill", "bytes_held"):
        assert getattr(total, name) == sum(getattr(ledger, name) for ledger in ledgers)


def test_ledgers_of_different_echo_factors_do_not_add_up() -> None:
    with pytest.raises(ValueError, match="factors 2 and 3 do not add up; give those of one run"):
        indexed(echo=EchoSpec(2)).ledger + indexed(echo=EchoSpec(3)).ledger


@pytest.mark.parametrize(("rank", "world_size"), [(-1, 2), (2, 2), (0.5, 2), (0, 0), (True, 2)])
def test_a_rank_that_does_not_exist_is_refused(rank: Any, world_size: Any) -> None:
    with pytest.raises(ValueError, match=r"Pipeline.shard: .*; give a number"):
        indexed().shard(rank, world_size)
