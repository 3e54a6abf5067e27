from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import (
    INSERTION_POINTS,
    Compose,
    EchoSpec,
    RandomFlip,
    RandomShift,
    Trace,
)
from pipelines.adaptive import NEVER, AdaptiveBuffer, AdaptiveOrder, AdaptiveStage, Arrivals, Emission, replay
from pipelines.buffer import EchoBuffer

IMAGES = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (23, 3, 4), dtype=np.uint8))
LABELS = torch.arange(23)
EXAMPLE_BYTES = 3 * 4 + 8
AUGMENT = Compose(RandomShift(1), RandomFlip())
NEVER_REACHED = 1000
points = st.sampled_from(INSERTION_POINTS)


def buffer(slots: int, ceiling: int, batch_size: int = 1, seed: int = 0) -> AdaptiveBuffer:
    spec = EchoSpec("adaptive", "before_augmentation", slots, ceiling=ceiling)
    return AdaptiveBuffer(AdaptiveStage.of(spec, batch_size), seed)


class Readiness:
    """Fresh elements that are ready as often as told, and always arrive if waited for."""

    def __init__(self, ready: Iterable[bool]) -> None:
        self._ready = iter(ready)
        self.waits = 0

    def __call__(self, wait: bool) -> int | None:
        self.waits += wait
        return NEVER if wait or next(self._ready, False) else None


@pytest.mark.parametrize("slots", [0, 1, 7])
def test_a_source_that_is_never_ready_is_waited_for_only_once_all_has_come_up_to_the_ceiling(
    slots: int,
) -> None:
    adaptive, source = buffer(slots, ceiling=3), Readiness([])
    emissions = [adaptive.emit(source) for _ in range(12)]
    assert [emission.element for emission in emissions] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [emission.copy for emission in emissions] == [0, 1, 2] * 4
    assert source.waits == 4


@pytest.mark.parametrize(("slots", "first"), [(0, 1), (5, 1), (6, 2), (8, 2), (9, 3), (100, 33)])
def test_a_run_begins_once_as_much_is_there_as_a_factor_of_the_ceiling_reads_for_the_buffer(
    slots: int, first: int
) -> None:
    spec = EchoSpec("adaptive", "before_augmentation", slots, ceiling=3)
    order, source = AdaptiveOrder(AdaptiveStage.of(spec, 1), seed=0), Readiness([])
    order.next_batch(source)
    assert order.buffer.taken == source.waits == first
    for _ in range(first - 1):  # each further one is waited for after three emissions, at the earliest
        order.next_batch(source)
    assert source.waits == first


@pytest.mark.parametrize("slots", [0, 1, 7, 100])
def test_while_the_source_keeps_up_it_is_the_shuffle_of_the_echo_buffer_and_all_comes_once(
    slots: int,
) -> None:
    adaptive, source = buffer(slots, ceiling=5, seed=3), Readiness([True] * 1000)
    emissions = [adaptive.emit(source) for _ in range(400)]
    assert [emission.element for emission in emissions] == EchoBuffer(slots, seed=3).emit(400).tolist()
    assert {emission.copy for emission in emissions} == {0}
    assert source.waits == 1


@settings(max_examples=80, deadline=None)
@given(st.lists(st.booleans(), max_size=300), st.integers(0, 9), st.integers(1, 5), st.integers(0, 99))
def test_every_element_comes_at_least_once_and_at_most_up_to_the_ceiling(
    ready: list[bool], slots: int, ceiling: int, seed: int
) -> None:
    adaptive, source, emitted = buffer(slots, ceiling, seed=seed), Readiness(ready), Counter[int]()
    for _ in range(200):
        nothing_left, waits = not adaptive.elements, source.waits
        element, copy, _, _ = adaptive.emit(source)
        assert copy == emitted[element] < ceiling
        emitted[element] += 1
        assert source.waits - waits == nothing_left
        assert all(emitted[element] < ceiling for element in adaptive.elements)
        assert len(adaptive.elements) <= max(1, slots)
    waiting = set(adaptive.elements)
    assert set(range(adaptive.taken)) - waiting <= emitted.keys() <= set(range(adaptive.taken))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.booleans(), max_size=300), st.integers(0, 9), st.integers(1, 5), st.integers(0, 99))
def test_the_trace_of_any_run_replays_it(ready: list[bool], slots: int, ceiling: int, seed: int) -> None:
    live, source = buffer(slots, ceiling, seed=seed), Readiness(ready)
    arrivals: list[int] = []

    def noted(wait: bool) -> int | None:
        mark = source(wait)
        if mark is not None:
            arrivals.append(live.emitted)
        return mark

    emissions = [live.emit(noted) for _ in range(120)]
    trace = Trace.of(ceiling, 0, 120, np.array(arrivals))
    assert trace.arrivals.tolist() == arrivals
    again = buffer(slots, ceiling, seed=seed)
    told = replay(Arrivals.told_by(Trace(**json.loads(json.dumps(asdict(trace))))), again)
    assert [again.emit(told) for _ in range(120)] == emissions


def test_a_copy_of_a_buffer_goes_on_by_itself() -> None:
    one = buffer(5, 4, batch_size=3)
    for _ in range(10):
        one.emit(Readiness([True, False]))
    other = one.copy()
    ours, theirs = ([each.emit(Readiness([])) for _ in range(20)] for each in (one, other))
    assert ours == theirs
    assert isinstance(ours[0], Emission)
