"""A throttled source: its pace by a clock of ours, and a stream that is the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from data_formats.shards import SIZES, decode, shard_bytes
from hypothesis import given
from hypothesis import strategies as st

from pipelines import DatasetSource, EchoSpec, MemorySource, Pipeline, SourceClock, TarSource, throttle
from pipelines.pace import Pace

IMAGES = torch.arange(30).reshape(30, 1).expand(30, 4).contiguous()
LABELS = torch.arange(30)


class Clock(SourceClock):
    """Time that passes only where somebody sleeps or works."""

    def __init__(self) -> None:
        self.passed = 100.0

    def now(self) -> float:
        return self.passed

    def sleep_until(self, moment: float) -> None:
        self.passed = max(self.passed, moment)


def arrivals(clock: Clock, pace: Pace, examples: int, work_s: float = 0.0) -> list[float]:
    """When each of so many examples is handed out, to someone who works on each for a while."""
    times = []
    for _ in range(examples):
        pace.wait_for(1)
        times.append(clock.passed - 100)
        clock.passed += work_s
    return times


def test_a_consumer_that_is_faster_gets_exactly_the_pace() -> None:
    clock = Clock()
    assert arrivals(clock, Pace(0.5, clock=clock), 4, work_s=0.125) == [0.5, 1.0, 1.5, 2.0]


def test_one_that_is_slower_waits_for_nothing_but_the_first() -> None:
    clock = Clock()
    assert arrivals(clock, Pace(0.5, clock=clock), 4, work_s=2.0) == [0.5, 2.5, 4.5, 6.5]


def test_a_source_makes_no_more_ahead_than_one() -> None:
    clock = Clock()
    pace = Pace(0.5, clock=clock)
    pace.wait_for(1)
    clock.passed += 60
    assert [round(time - 60, 6) for time in arrivals(clock, pace, 3)] == [0.5, 1.0, 1.5]


def test_a_burst_comes_at_once_after_the_time_of_all_of_it() -> None:
    clock = Clock()
    assert arrivals(clock, Pace(0.5, burst=4, clock=clock), 9) == [2.0] * 4 + [4.0] * 4 + [6.0]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=20), st.integers(1, 30))
def test_groups_take_the_time_of_their_examples_however_large_they_are(groups: list[int], burst: int) -> None:
    clock = Clock()
    pace = Pace(0.25, burst, clock)
    for examples in groups:
        pace.wait_for(examples)
    whole_bursts = -(-sum(groups) // burst) * burst
    assert clock.passed - 100 == pytest.approx(0.25 * whole_bursts)


def shards(folder: Path) -> TarSource:
    for shard, size in enumerate(SIZES):
        (folder / f"{shard}.tar").write_bytes(shard_bytes(shard, size))
    return TarSource([folder / f"{shard}.tar" for shard in range(len(SIZES))], decode, shuffle_buffer=5)


KINDS: dict[str, Callable[[Path], Any]] = {
    "a pair": lambda folder: (IMAGES, LABELS),
    "memory": lambda folder: MemorySource(IMAGES, LABELS),
    "a data set": lambda folder: DatasetSource(torch.utils.data.TensorDataset(IMAGES, LABELS)),
    "shards": shards,
}


@pytest.mark.parametrize("kind", list(KINDS))
def test_the_stream_and_the_states_are_those_of_the_source(kind: str, tmp_path: Path) -> None:
    clock = Clock()
    source = KINDS[kind](tmp_path)
    settings: dict[str, Any] = {"batch_size": 4, "echo": EchoSpec(2, buffer=8), "seed": 3}
    slow = Pipeline(throttle(source, R=2, update_s=0.5, batch_size=4, clock=clock), **settings)
    plain = Pipeline(source, **settings)
    for _ in range(9):
        batch, same = next(slow), next(plain)
        assert np.array_equal(batch.example_ids, same.example_ids)
        assert np.array_equal(batch.inputs, same.inputs)
    plain.load_state_dict(slow.state_dict())
    assert np.array_equal(next(slow).ordinals, next(plain).ordinals)
    assert clock.passed - 100 >= slow.ledger.examples_read * 2 * 0.5 / 4


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"R": 0}, "throttle: R is 0; give a number above 0"),
        ({"R": "6"}, "throttle: R is '6'; give a number above 0"),
        ({"update_s": -1.0}, "throttle: update_s is -1.0; give seconds, more than 0"),
        ({"batch_size": 0}, "throttle: batch_size is 0; give a number of examples, 1 or more"),
        ({"burst": 0.5}, "throttle: burst is 0.5; give a number of examples, 1 or more"),
    ],
)
def test_wrong_settings_are_said_in_one_sentence(wrong: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        throttle((IMAGES, LABELS), **({"R": 2, "update_s": 0.01, "batch_size": 4} | wrong))


def test_while_its_clock_is_stopped_a_source_makes_nothing() -> None:
    clock = SourceClock()
    woken = threading.Event()

    def sleep() -> None:
        clock.sleep_until(begin + 0.02)
        woken.set()

    with clock.stopped():
        begin = clock.now()
        sleeper = threading.Thread(target=sleep)
        sleeper.start()
        assert not woken.wait(0.1)
        assert clock.now() == begin
    assert woken.wait(10)
    sleeper.join()
    assert clock.now() >= begin + 0.02


def test_a_sleeper_sleeps_on_by_as_much_as_its_clock_stood() -> None:
    clock = SourceClock()
    woken: list[float] = []
    begin, stood = time.monotonic() - clock.now(), 0.1
    clock.sleep_until(clock.now())  # has passed already
    moment = clock.now() + 0.05
    sleeper = threading.Thread(target=lambda: [clock.sleep_until(moment), woken.append(time.monotonic())])
    sleeper.start()
    with clock.stopped():
        time.sleep(stood)
    sleeper.join(10)
    assert woken[0] - begin >= moment + stood
