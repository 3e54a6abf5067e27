from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import INSERTION_POINTS, Batch, Draws, EchoSpec, Pipeline, RandomShift

IMAGES = np.random.default_rng(0).integers(0, 255, (20, 8, 9), dtype=np.uint8)
LABELS = np.arange(20) % 10


@dataclass(frozen=True)
class ShowDraws:
    """Puts each example's draw in place of its input."""

    def __call__(self, inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
        return draws.uniform("show")[:, 0], targets


def batches(n: int, data: Any = (IMAGES, LABELS), **settings: Any) -> list[Batch]:
    return list(islice(Pipeline(data, **({"batch_size": 6} | settings)), n))


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_inputs_and_targets_are_those_of_the_example_ids(insertion_point: str) -> None:
    for batch in batches(30, echo=EchoSpec(2.5, insertion_point, 12), seed=1):
        assert len(batch) == 6
        assert np.array_equal(batch.inputs, IMAGES[batch.example_ids])
        assert np.array_equal(batch.targets, LABELS[batch.example_ids])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32, torch.bfloat16, torch.bool, torch.int64])
@pytest.mark.parametrize("shape", [(), (3,), (8, 9, 3)])
def test_tensors_in_give_tensors_out(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    data = torch.from_numpy(np.random.default_rng(0).integers(0, 200, (20, *shape))).to(dtype)
    for batch in batches(5, (data, data), seed=1):
        assert batch.inputs.dtype == dtype
        assert torch.equal(batch.inputs, data[torch.from_numpy(batch.example_ids)])


def test_data_that_are_not_contiguous_are_gathered_right() -> None:
    channels_last = np.random.default_rng(0).integers(0, 255, (20, 8, 9, 3), dtype=np.uint8)
    for data in (channels_last.transpose(0, 3, 1, 2), torch.from_numpy(channels_last).permute(0, 3, 1, 2)):
        for batch in batches(3, (data, data[:, 0])):
            assert np.array_equal(np.asarray(batch.inputs), np.asarray(data)[batch.example_ids])
            assert np.array_equal(np.asarray(batch.targets), np.asarray(data)[batch.example_ids, 0])


@pytest.mark.parametrize("as_tensor", [False, True])
def test_a_batch_is_the_callers_to_change(as_tensor: bool) -> None:
    data = (
        (torch.from_numpy(IMAGES.copy()), torch.from_numpy(LABELS)) if as_tensor else (IMAGES.copy(), LABELS)
    )
    spoiling = Pipeline(data, batch_size=6, echo=EchoSpec(3), seed=1)
    for batch, untouched in zip(islice(spoiling, 12), batches(12, echo=EchoSpec(3), seed=1), strict=True):
        assert np.array_equal(np.asarray(batch.inputs), untouched.inputs)
        assert np.array_equal(np.asarray(batch.targets), untouched.targets)
        batch.inputs[...] = 0
        batch.targets[...] = 0


@settings(max_examples=30, deadline=None)
@given(st.floats(1.1, 5), st.integers(0, 30), st.integers(0, 2**64), st.integers(1, 40))
def test_a_draw_belongs_to_seed_ordinal_and_copy(factor: float, buffer: int, seed: int, block: int) -> None:
    for point in INSERTION_POINTS:
        echo = EchoSpec(factor, point, buffer)
        for batch in batches(10, echo=echo, augment=ShowDraws(), seed=seed, _block_examples=block):
            copies = batch.copies if point == "before_augmentation" else np.zeros_like(batch.copies)
            expected = Draws(seed, batch.ordinals, copies).uniform("show")[:, 0]
            assert np.array_equal(batch.inputs, expected)


def test_copy_0_is_drawn_alike_at_every_insertion_point_and_without_echo() -> None:
    echoes = [EchoSpec()] + [EchoSpec(2, point, 10) for point in INSERTION_POINTS]
    known = [
        {
            ordinal: draw
            for batch in batches(40, echo=echo, augment=ShowDraws(), seed=4)
            for ordinal, copy, draw in zip(batch.ordinals.tolist(), batch.copies, batch.inputs, strict=True)
            if copy == 0
        }
        for echo in echoes
    ]
    shared = set.intersection(*(set(one) for one in known))
    assert len(shared) > 50
    assert all(len({one[ordinal] for one in known}) == 1 for ordinal in shared)


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS[1:])
def test_after_the_augmentation_all_copies_are_the_same_image(insertion_point: str) -> None:
    seen: dict[int, Any] = {}
    for batch in batches(40, echo=EchoSpec(3, insertion_point, 20), augment=RandomShift(2), seed=4):
        for ordinal, image in zip(batch.ordinals.tolist(), batch.inputs, strict=True):
            assert np.array_equal(seen.setdefault(ordinal, image), image)


def test_before_the_augmentation_copies_differ() -> None:
    first = batches(1, echo=EchoSpec(6), augment=RandomShift(3), seed=4)[0]
    assert np.array_equal(first.ordinals, np.zeros(6))
    assert len({image.tobytes() for image in first.inputs}) > 3


def test_iterating_again_goes_on_where_it_stood() -> None:
    pipeline = Pipeline((IMAGES, LABELS), batch_size=6, seed=3)
    ordinals = [batch.ordinals[0] for _ in range(3) for batch in islice(pipeline, 2)]
    assert ordinals == [0, 6, 12, 18, 24, 30]
    assert pipeline.updates == 6


def test_after_an_augmentation_has_failed_the_same_batch_comes_next() -> None:
    def fails_once(inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
        if not tried:
            tried.append(True)
            raise RuntimeError("no")
        return inputs, targets

    tried: list[bool] = []
    pipeline = Pipeline((IMAGES, LABELS), batch_size=6, augment=fails_once)
    with pytest.raises(RuntimeError, match="no"):
        next(pipeline)
    assert pipeline.updates == 0
    batch = next(pipeline)
    assert batch.ordinals.tolist() == list(range(6))
    assert np.array_equal(batch.inputs, IMAGES[batch.example_ids])


@pytest.mark.parametrize(
    ("data", "advice"),
    [
        ((IMAGES, LABELS[:-1]), "there are 20 inputs but 19 targets; give as many of each"),
        ((IMAGES[:0], LABELS[:0]), "give at least one example"),
        ((IMAGES,), "give a tuple of inputs and targets"),
        (IMAGES, "give a tuple of inputs and targets"),
        ((IMAGES, LABELS.tolist()), "data hold a list; give arrays or tensors"),
        ((IMAGES, np.float64(3)), "data hold a float64; give arrays or tensors"),
    ],
)
def test_data_that_cannot_be_batched_are_refused(data: Any, advice: str) -> None:
    with pytest.raises(ValueError, match=advice):
        Pipeline(data, batch_size=1)


@pytest.mark.parametrize("batch_size", [0, -1, 21, 2.0, "6", None, True])
def test_a_batch_size_that_does_not_fit_the_data_is_refused(batch_size: Any) -> None:
    with pytest.raises(
        ValueError, match=r"batch_size is .*; give a whole number from 1 to the number of examples, 20"
    ):
        Pipeline((IMAGES, LABELS), batch_size=batch_size)


@pytest.mark.parametrize("seed", [1.5, "1", None])
def test_a_seed_that_is_no_whole_number_is_refused(seed: Any) -> None:
    with pytest.raises(ValueError, match=r"seed is .*; give a whole number"):
        Pipeline((IMAGES, LABELS), batch_size=6, seed=seed)


def test_numpys_whole_numbers_count_as_whole_numbers() -> None:
    one = batches(1, batch_size=np.int64(6), seed=np.uint32(7), echo=EchoSpec(2, buffer=np.int64(5)))[0]
    other = batches(1, batch_size=6, seed=7, echo=EchoSpec(2, buffer=5))[0]
    assert np.array_equal(one.example_ids, other.example_ids)
