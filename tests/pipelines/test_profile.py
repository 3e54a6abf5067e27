"""What is planted is found: a ratio R, the slow stage, bursts, and the time inside a loader's functions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset

from pipelines import (
    MemorySource,
    Profile,
    Timed,
    profile_loader,
    profile_pipeline,
    throttle,
)
from pipelines.profile import Together
from pipelines.stopwatch import Durations, durations

IMAGES, LABELS = torch.rand(256, 3, 4, 4), torch.arange(256)
BATCH = 8
SLOW_S = 0.012


def sleeping(seconds: float) -> Callable[..., Any]:
    """A step that takes so long."""
    return lambda *_: time.sleep(seconds)


class Slow:
    """An augmentation that takes `seconds` a batch."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __call__(self, inputs: Any, targets: Any, draws: Any) -> Any:
        time.sleep(self._seconds)
        return inputs + 1, targets


class Stream:
    """A stream source with a time to read and a time to decode, in seconds a batch."""

    identity, skips_damage = "a stream", False

    def __init__(self, read_s: float = 0, decode_s: float = 0) -> None:
        self._read_s, self._decode_s = read_s, decode_s

    def read_pass(self, number: int, seed: int, rank: int, world_size: int) -> Iterator[Any]:
        for place in range(256):
            if place % BATCH == 0:
                time.sleep(self._read_s)
            yield place, lambda place=place: self._example(place)

    def _example(self, place: int) -> Any:
        if place % BATCH == 0:
            time.sleep(self._decode_s)
        return IMAGES[place], LABELS[place]


class Photos(Dataset[Any]):
    """A map-style data set that augments by a function; with a time to read, in seconds a batch."""

    def __init__(self, read_s: float, augment: Callable[[Any], Any]) -> None:
        self._read_s, self._augment = read_s, augment

    def __len__(self) -> int:
        return 64

    def __getitem__(self, place: int) -> Any:
        if place % BATCH == 0:
            time.sleep(self._read_s)
        return self._augment(IMAGES[place]), int(LABELS[place])


def profile_with(slow: str) -> Profile:
    """The profile of a pipeline whose stage `slow` has been slowed; the name's prefix says which kind."""
    kind, _, stage = slow.partition(": ")
    took = dict.fromkeys(("read", "decode", "augment", "batch", "transfer", "update"), 0.001)
    took[stage] = SLOW_S
    if kind == "loader":
        augment = Timed(lambda image: (time.sleep(took["augment"] / BATCH), image)[1])
        collate = Timed(
            lambda examples: (time.sleep(took["batch"]), torch.utils.data.default_collate(examples))[1]
        )
        loader = DataLoader(Photos(took["read"], augment), BATCH, collate_fn=collate)
        step = sleeping(took["update"])
        return profile_loader(loader, step, augment=augment, collate=collate, seconds=0.2)
    if kind == "stream":
        data: Any = Stream(took["read"], took["decode"])
    else:
        memory = MemorySource(IMAGES, LABELS)
        data = throttle(memory, R=1, update_s=took["read"], batch_size=BATCH)
    return profile_pipeline(
        data,
        sleeping(took["update"]),
        batch_size=BATCH,
        augment=Slow(took["augment"]),
        transfer=lambda *pair: (time.sleep(took["transfer"]), pair)[1],
        seconds=0.2,
    )


@pytest.mark.parametrize(
    "slow",
    [
        *("map: read", "map: augment", "map: transfer", "map: update"),
        *("stream: read", "stream: decode"),
        *("loader: read", "loader: augment", "loader: batch", "loader: update"),
    ],
)
def test_the_stage_that_was_slowed_is_the_longest(slow: str) -> None:
    stages = profile_with(slow).as_dict()["stages_s"]
    assert max(stages, key=stages.get) == slow.partition(": ")[2], stages


@pytest.mark.parametrize(("planted", "burst"), [(2, 1), (4, 1), (8, 1), (4, 16)])
def test_a_planted_ratio_is_found(planted: int, burst: int) -> None:
    update_s = 0.012
    source = throttle((IMAGES, LABELS), R=planted, update_s=update_s, batch_size=BATCH, burst=burst)
    profile = profile_pipeline(source, sleeping(update_s), batch_size=BATCH, seconds=0.8)
    for ratio in profile.R.values():
        # how near on a quiet machine: benchmarks/bench_profile.py
        assert ratio.estimate == pytest.approx(planted, rel=0.3)
        assert ratio.low <= ratio.high
    assert profile.device_wait_share == pytest.approx(1 - 1 / planted, abs=0.2)
    assert profile.whole.burst_batches == pytest.approx(max(1, burst / BATCH), rel=0.3)


def test_ratios_are_what_stands_before_a_point_over_the_longest_of_what_follows() -> None:
    def steady(seconds: float) -> Durations:
        return Durations(np.full(20, seconds))

    profile = Profile(
        batch_size=8,
        examples=None,
        example_bytes={},
        stages={},
        upstream={
            "before_augmentation": steady(6.0),
            "after_augmentation": steady(9.0),
            "after_batching": steady(10.0),
        },
        host={"before_augmentation": 4.0, "after_augmentation": 1.0, "after_batching": 0.0},
        device=steady(2.0),
        together=Together(10.0, 0.8),
    )
    assert {point: ratio.estimate for point, ratio in profile.R.items()} == {
        "before_augmentation": 1.5,  # the augmentation, and not the update, is downstream's longest
        "after_augmentation": 4.5,
        "after_batching": 5.0,
    }
    assert all(ratio.low == ratio.high == ratio.estimate for ratio in profile.R.values())


def test_bursts_are_counted_and_even_batches_are_none() -> None:
    assert Durations(np.full(12, 0.5)).burst_batches == 1
    assert repr(Durations(np.full(12, 0.5))) == "<12 batches, 0.5 s each>"  # not twelve numbers
    assert Durations(np.array([0, 0, 2.0] * 4)).burst_batches == pytest.approx(3)


def test_what_disturbs_a_few_updates_is_not_theirs() -> None:
    seconds = np.full(40, 0.5)
    seconds[[3, 20]] = 8.0
    assert Durations(seconds).typical == 0.5
    assert Durations(seconds).mean == pytest.approx(0.875)


def test_bursts_are_counted_with_their_pauses() -> None:
    def items() -> Iterator[None]:
        while True:
            for at in range(7):
                time.sleep(0.14 if at == 6 else 0)
                yield

    measured = durations(items(), 0.2)
    assert len(measured.seconds) % 7 == 0
    assert measured.mean == pytest.approx(0.02, rel=0.4)


def test_data_in_memory_have_nothing_upstream_of_the_augmentation() -> None:
    profile = profile_pipeline((IMAGES, LABELS), sleeping(0.002), batch_size=BATCH, seconds=0.1)
    assert set(profile.stages) == {"batch", "update"}
    assert profile.R["before_augmentation"].estimate == 0
    assert profile.R["after_batching"].estimate < 1


def test_a_loader_that_cannot_be_taken_apart_has_one_ratio() -> None:
    loader = [(IMAGES[:BATCH], LABELS[:BATCH])]
    profile = profile_loader(loader, sleeping(0.002), seconds=0.1)
    assert set(profile.stages) == {"loader", "update"}
    assert set(profile.R) == {"after_batching"}
    assert profile.batch_size == BATCH
    assert profile.example_bytes == {"after_batching": 3 * 4 * 4 * 4 + 8}


def test_without_an_update_there_is_no_ratio_and_with_its_seconds_there_is() -> None:
    loader = DataLoader(Photos(0.01, lambda image: image), BATCH)
    unknown = profile_loader(loader, seconds=0.1)
    assert (unknown.R, unknown.device_wait_share) == ({}, None)
    known = profile_loader(loader, update_s=0.005, seconds=0.2)
    assert known.R["after_batching"].estimate > 1.8
    assert known.device_wait_share == pytest.approx(1 - 1 / known.R["after_batching"].estimate)


def test_time_in_the_functions_of_workers_is_counted_and_shared_among_them() -> None:
    collate = Timed(lambda examples: (time.sleep(0.02), torch.utils.data.default_collate(examples))[1])
    loader = DataLoader(Photos(0.0, lambda image: image), BATCH, collate_fn=collate, num_workers=2)
    profile = profile_loader(loader, sleeping(0.001), collate=collate, seconds=0.5)
    assert collate.calls > 10
    assert 0.006 < profile.stages["batch"].mean < 0.03
    assert set(profile.R) == {"after_augmentation", "after_batching"}


def test_a_batch_of_any_make_is_measured() -> None:
    batches = [{"x": torch.zeros(4, 10), "names": ["a"] * 4, "more": (np.zeros((4, 2), np.int8), 3)}]
    profile = profile_loader(batches, update_s=0.1, seconds=0.05)
    assert profile.batch_size == 4
    assert profile.example_bytes == {"after_batching": 40 + 2}


@pytest.mark.parametrize(
    ("loader", "sentence"),
    [
        ([], "The loader gives no batches; give one that has some"),
        (iter([torch.zeros(2)] * 3), "The loader ended after 3 batches and cannot be read again"),
    ],
)
def test_a_loader_without_enough_batches_is_one_sentence(loader: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        profile_loader(loader, sleeping(0.001), seconds=0.1)


def test_a_function_that_the_loader_does_not_call_is_named() -> None:
    with pytest.raises(ValueError, match="The function augment was never called while the loader ran"):
        profile_loader([torch.zeros(2)], augment=Timed(len), seconds=0.05)


def test_a_timed_function_is_otherwise_what_it_was() -> None:
    class Jitter:
        strength = 3

        def __call__(self, image: int) -> int:
            return image + self.strength

    timed = Timed(Jitter())
    assert (timed(1), timed.strength, timed.calls) == (4, 3, 1)
    with pytest.raises(AttributeError):
        _ = timed.weakness


def test_what_is_slow_at_first_warms_up_and_is_not_counted() -> None:
    def items() -> Iterator[None]:
        time.sleep(0.2)
        while True:
            time.sleep(0.001)
            yield

    assert durations(items(), 0.05).mean < 0.05
