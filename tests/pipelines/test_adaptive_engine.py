"""Adaptive echoing in a pipeline: what is not ready is replaced, recorded, replayed and resumed."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import (
    INSERTION_POINTS,
    Compose,
    EchoSpec,
    MemorySource,
    Pipeline,
    RandomFlip,
    RandomShift,
    Trace,
)
from pipelines.testing import assert_resumes_exactly

IMAGES = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (23, 3, 4), dtype=np.uint8))


LABELS = torch.arange(23)


EXAMPLE_BYTES = 3 * 4 + 8


AUGMENT = Compose(RandomShift(1), RandomFlip())


NEVER_REACHED = 1000


class Gated(MemorySource):
    """Reads one group for each permission; `give` returns once so many are ready."""

    def __init__(self) -> None:
        super().__init__(IMAGES, LABELS)
        self.allowed, self.asked = threading.Semaphore(0), threading.Semaphore(0)

    def read(self, groups: Iterable[np.ndarray]) -> Iterator[Any]:
        def gate() -> Iterator[np.ndarray]:
            for ids in groups:  # the group before is ready once the next is asked for
                self.asked.release()
                self.allowed.acquire()
                yield ids

        return super().read(gate())

    def give(self, groups: int) -> None:
        for _ in range(groups):
            assert self.asked.acquire(timeout=60)
            self.allowed.release()
        assert self.asked.acquire(timeout=60)
        self.asked.release()


def adaptive(source: Any = None, ceiling: int = 3, **settings: Any) -> Pipeline:
    echo = EchoSpec(
        "adaptive", settings.pop("point", INSERTION_POINTS[0]), settings.pop("slots", 0), ceiling=ceiling
    )
    return Pipeline(source or MemorySource(IMAGES, LABELS), **({"batch_size": 4, "echo": echo} | settings))


def replaying(run: Pipeline | Trace, data: Any = None, **settings: Any) -> Pipeline:
    trace = run if isinstance(run, Trace) else run.trace
    echo = EchoSpec(trace, settings.pop("point", INSERTION_POINTS[0]), settings.pop("slots", 0))
    return Pipeline(data or MemorySource(IMAGES, LABELS), **({"batch_size": 4} | settings), echo=echo)


def batches_given(pipeline: Pipeline, source: Gated, groups: Iterable[int]) -> list[Any]:
    """A batch after so many groups have become ready, and another, and so on."""
    source.allowed.release()
    batches = [next(pipeline)]
    assert source.asked.acquire(timeout=60)
    for number in groups:
        source.give(number)
        batches.append(next(pipeline))
    source.allowed.release(100)  # let the thread end
    return batches


def assert_same(batches: Iterable[Any], others: Iterable[Any]) -> None:
    for batch, same in zip(batches, others, strict=True):
        for name in ("inputs", "targets"):
            assert torch.equal(getattr(batch, name), getattr(same, name))
        for name in ("example_ids", "ordinals", "copies"):
            assert np.array_equal(getattr(batch, name), getattr(same, name))


@pytest.mark.parametrize("point", ["before_augmentation", "after_augmentation"])
def test_what_is_not_ready_is_replaced_by_what_came_last(point: str) -> None:
    source = Gated()
    with adaptive(source, NEVER_REACHED, point=point) as pipeline:
        batches = batches_given(pipeline, source, [0, 2, 1, 5])
        assert [batch.ordinals.tolist() for batch in batches] == [
            [0, 0, 0, 0],
            [0, 0, 0, 0],
            [1, 2, 2, 2],
            [3, 3, 3, 3],
            [4, 5, 6, 7],
        ]
        assert [batch.copies.tolist() for batch in batches] == [
            [0, 1, 2, 3],
            [4, 5, 6, 7],
            [0, 0, 1, 2],
            [0, 1, 2, 3],
            [0, 0, 0, 0],
        ]
        assert pipeline.trace == Trace(NEVER_REACHED, 20, ((0, 1), (8, 1), (1, 1), (3, 1), (4, 1), (1, 3)))


def test_after_batching_the_last_batch_comes_again() -> None:
    source = Gated()
    with adaptive(source, NEVER_REACHED, point="after_batching") as pipeline:
        batches = batches_given(pipeline, source, [0, 1, 0, 0, 1])
        assert [int(batch.ordinals[0]) for batch in batches] == [0, 0, 4, 4, 4, 8]
        assert [batch.copies.tolist() for batch in batches] == [[c] * 4 for c in (0, 1, 0, 1, 2, 0)]
        assert pipeline.ledger.fresh_examples == 12
        assert pipeline.ledger.examples_read == 12
        assert pipeline.ledger.mean_lag_updates == 1


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.integers(0, 4), max_size=8),  # what a batch can take in: more would fill what is read ahead
    st.sampled_from(["before_augmentation", "after_augmentation"]),
    st.integers(0, 12),
    st.integers(0, 99),
)
def test_both_engines_replay_what_was_recorded_example_for_example(
    ready: list[int], point: str, slots: int, seed: int
) -> None:
    source, chosen = Gated(), {"point": point, "slots": slots, "seed": seed, "augment": AUGMENT}
    with adaptive(source, NEVER_REACHED, **chosen) as pipeline:
        batches = batches_given(pipeline, source, ready)
        for data in (None, (IMAGES, LABELS)):
            with replaying(pipeline, data, **chosen) as again:
                assert_same(batches, islice(again, len(batches)))
                assert again.trace == pipeline.trace
                for name in ("examples_read", "repeats", "duplicates", "lag_updates", "buffer_fill"):
                    assert getattr(again.ledger, name) == getattr(pipeline.ledger, name)


@pytest.mark.parametrize("point", INSERTION_POINTS)
@pytest.mark.parametrize("ahead", [0, 3])
def test_a_live_run_replays_keeps_its_ceiling_and_counts_what_it_did(point: str, ahead: int) -> None:
    chosen: dict[str, Any] = {"point": point, "slots": 9, "augment": AUGMENT}
    with adaptive(**chosen).prefetch(ahead) as pipeline:
        batches = list(islice(pipeline, 40))
        ledger = pipeline.ledger
        with replaying(pipeline, (IMAGES, LABELS), **chosen) as again:
            assert_same(batches, islice(again, 40))
    emitted = Counter(ordinal for batch in batches for ordinal in batch.ordinals.tolist())
    assert max(emitted.values()) <= 3
    assert ledger.fresh_examples == len(emitted)
    assert ledger.examples_consumed == 160
    assert ledger.duplicates == sum(4 - len(set(batch.ordinals.tolist())) for batch in batches)
    assert len(emitted) <= ledger.examples_read <= len(emitted) + ledger.buffer_fill
    assert ledger.bytes_held == ledger.buffer_fill * EXAMPLE_BYTES
    assert ledger.buffer_fill <= ledger.buffer_examples <= 9
    for batch in batches:
        assert torch.equal(batch.targets, LABELS[torch.from_numpy(batch.example_ids)])


@pytest.mark.parametrize("point", INSERTION_POINTS)
@pytest.mark.parametrize("data", [None, (IMAGES, LABELS)])
def test_a_replay_resumes_exactly_at_every_batch(point: str, data: Any) -> None:
    chosen: dict[str, Any] = {"point": point, "slots": 9, "augment": AUGMENT}
    with adaptive(**chosen) as pipeline:
        list(islice(pipeline, 10))
        made: list[Pipeline] = []

        def make() -> Pipeline:
            made.append(replaying(pipeline, data, **chosen))
            return made[-1]

        assert_resumes_exactly(make, batches=9)
        for each in made:
            each.close()


@pytest.mark.parametrize("point", INSERTION_POINTS)
def test_a_resumed_run_goes_on_from_all_that_was_decided(point: str) -> None:
    chosen: dict[str, Any] = {"point": point, "slots": 9, "augment": AUGMENT}
    with adaptive(**chosen) as whole, adaptive(**chosen) as resumed:
        batches = list(islice(whole, 12))
        resumed.load_state_dict(whole.state_dict())
        assert resumed.ledger == whole.ledger
        assert str(resumed.state_dict()) == str(whole.state_dict())
        batches += islice(resumed, 12)
        with replaying(whole.trace + resumed.trace, **chosen) as again:
            assert_same(batches, islice(again, 24))


@pytest.mark.parametrize("slots", [0, 9, 1000])
def test_a_state_stays_small_however_long_the_run(slots: int) -> None:
    with adaptive(slots=slots, ceiling=300) as pipeline:
        for _ in range(5):
            list(islice(pipeline, 200))
            state = pipeline.state_dict()
            tensors = [part for part in state.values() if isinstance(part, torch.Tensor)]
            assert sum(part.nbytes for part in tensors) <= 8 * max(1, slots)
            assert len(str({name: part for name, part in state.items() if name != "slots"})) < 1000


def test_the_trace_of_a_resumed_run_needs_the_one_before_it() -> None:
    with adaptive(slots=9) as whole, adaptive(slots=9) as resumed:
        list(islice(whole, 6))
        resumed.load_state_dict(whole.state_dict())
        list(islice(resumed, 6))
        assert (resumed.trace.begins, resumed.trace.ends) == (24, 48)
        with pytest.raises(ValueError, match="the trace begins after 24 emissions; add it to the one taken"):
            EchoSpec(resumed.trace)
        with pytest.raises(ValueError, match="ends after 48 emissions and one that begins after 0 do"):
            _ = resumed.trace + whole.trace


def test_a_closed_pipeline_goes_on_where_it_was_closed() -> None:
    with adaptive(slots=5) as pipeline:
        batches = list(islice(pipeline, 6))
        pipeline.close()
        batches += islice(pipeline, 6)
        with replaying(pipeline, slots=5) as again:
            assert_same(batches, islice(again, 12))


def test_ranks_echo_adaptively_by_themselves_and_their_ledgers_add_up() -> None:
    with adaptive(slots=5).shard(0, 2) as one, adaptive(slots=5).shard(1, 2) as other:
        ids = [
            {name for b in islice(each, 5) for name in b.example_ids[b.ordinals < len(LABELS) // 2].tolist()}
            for each in (one, other)
        ]  # those of the first pass: in the next one the ranks part the data anew
        total = one.ledger + other.ledger
        assert total.fresh_examples == one.ledger.fresh_examples + other.ledger.fresh_examples
    assert not ids[0] & ids[1]


@pytest.mark.parametrize("point", INSERTION_POINTS)
def test_the_consumer_cannot_spoil_what_is_kept(point: str) -> None:
    with adaptive(point=point, slots=9) as pipeline:
        for batch in islice(pipeline, 30):
            assert torch.equal(batch.inputs, IMAGES[torch.from_numpy(batch.example_ids)])
            batch.inputs.zero_()


class Failing(MemorySource):
    failed = False

    def read(self, groups: Iterable[np.ndarray]) -> Iterator[Any]:
        for number, pair in enumerate(super().read(groups)):
            if number == 5 and not self.failed:
                self.failed = True
                raise OSError("the disk is gone")
            yield pair


def test_after_an_error_of_the_source_the_run_goes_on_and_replays() -> None:
    batches, errors = [], 0
    with adaptive(Failing(IMAGES, LABELS), slots=5) as pipeline:
        while len(batches) < 20:
            try:
                batches.append(next(pipeline))
            except OSError:
                errors += 1
        assert errors == 1
        assert_same(batches, islice(replaying(pipeline, (IMAGES, LABELS), slots=5), 20))


def test_a_replay_ends_with_its_trace() -> None:
    with adaptive() as pipeline:
        list(islice(pipeline, 5))
        for data in (None, (IMAGES, LABELS)):
            with replaying(pipeline, data) as again:
                list(islice(again, 5))
                with pytest.raises(
                    ValueError, match="ends after 5 batches; stop there, or give the trace of"
                ):
                    next(again)


def test_a_trace_that_does_not_fit_is_one_sentence() -> None:
    slow = Trace(2, 100, ((0, 1), (50, 1)))
    pipeline = Pipeline((IMAGES, LABELS), batch_size=4, echo=EchoSpec(slow))
    with pytest.raises(
        ValueError, match="does not fit: it leaves nothing to emit after 2 emissions; give the"
    ):
        next(pipeline)


@pytest.mark.parametrize(
    "damage",
    [
        {"updates": 3},
        {"updates": -1},
        {"taken": 1},
        {"last": 3},
        {"counts": [0, 0]},
        {"sizes": [1, 1, 1]},
        {"slots": torch.tensor([0, 0])},
        {"slots": "none"},
        {},
    ],
)
def test_a_damaged_state_is_refused_and_changes_nothing(damage: dict[str, Any]) -> None:
    with adaptive(slots=3) as pipeline:
        list(islice(pipeline, 8))
        state, ledger = pipeline.state_dict() | damage, pipeline.ledger
        if not damage:
            del state["slots"]
        with pytest.raises(ValueError, match="damaged; load another one, or start without it"):
            pipeline.load_state_dict(state)
        assert pipeline.ledger == ledger
        next(pipeline)


def test_a_state_knows_ceiling_and_trace_of_its_pipeline() -> None:
    with adaptive() as pipeline:
        next(pipeline)
        state = pipeline.state_dict()
        for other in (adaptive(ceiling=4), replaying(pipeline)):
            with pytest.raises(
                ValueError, match="belongs to a pipeline with echo_factor = 'adaptive, at most 3'"
            ):
                other.load_state_dict(state)


def test_data_in_memory_are_not_echoed_adaptively() -> None:
    with pytest.raises(
        ValueError, match="always ready, so adaptive echoing would repeat nothing; give a factor"
    ):
        adaptive((IMAGES, LABELS))


def test_only_adaptive_echoing_has_a_trace_and_only_a_factor_a_ratio() -> None:
    with pytest.raises(ValueError, match="only adaptive echoing has one"):
        _ = Pipeline((IMAGES, LABELS), batch_size=4).trace
    with pytest.raises(ValueError, match="adaptive echoing has no factor"):
        _ = EchoSpec("adaptive", ceiling=2).ratio


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"factor": "adaptive"}, "ceiling is None; give how often an element is emitted at most, 1 or more"),
        ({"factor": "adaptive", "ceiling": 0}, "ceiling is 0; give how often"),
        ({"factor": "adaptive", "ceiling": 2.5}, "ceiling is 2.5; give how often"),
        ({"factor": 2, "ceiling": 3}, "ceiling is 3, but the factor is not 'adaptive'; leave one out"),
        ({"factor": "adaptif"}, "factor is 'adaptif'; give how often each element is used, 1 or more, or"),
    ],
)
def test_wrong_settings_are_said_in_one_sentence(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        EchoSpec(**wrong)


@pytest.mark.parametrize(
    "numbers",
    [(0, 4, [(0, 1)]), (2, 4, [(1, 1)]), (2, 4, [(0, 1), (5, 1)]), (2, 4, [(0, 0)]), (2, 4, 7), (2, -1, [])],
)
def test_numbers_that_are_no_trace_are_refused(numbers: Any) -> None:
    with pytest.raises(
        ValueError, match="no trace of adaptive echoing; give what a pipeline's `trace` returned"
    ):
        Trace(*numbers)
