from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pipelines import Augmentation, Compose, Draws, RandomCrop, RandomFlip, RandomShift

AUGMENTATIONS = [RandomShift(2), RandomCrop(3), RandomFlip(), Compose(RandomCrop(1), RandomFlip(0.3))]
SHAPES = [(7, 5, 6), (7, 3, 5, 6), (7, 2, 2, 4, 4)]


def draws(n: int = 7) -> Draws:
    return Draws(3, np.arange(n) + 10, np.arange(n) % 4)


def images(shape: tuple[int, ...], dtype: str = "uint8") -> NDArray[Any]:
    return np.random.default_rng(0).integers(1, 255, shape).astype(dtype)


def slow_crop(image: NDArray[Any], top: int, left: int, padding: int) -> NDArray[Any]:
    height, width = image.shape[-2:]
    frame = np.pad(image, [(0, 0)] * (image.ndim - 2) + [(padding, padding)] * 2)
    return frame[..., top : top + height, left : left + width]


@settings(deadline=None)
@given(st.sampled_from(SHAPES), st.integers(0, 9), st.integers(0, 2**32))
def test_a_crop_is_that_of_image_by_image_slicing(shape: tuple[int, ...], padding: int, seed: int) -> None:
    before, own = images(shape), Draws(seed, np.arange(7), np.zeros(7, int))
    after, _ = RandomCrop(padding)(before, None, own)
    offsets = own.integers("crop", 0, 2 * padding + 1, 2).tolist()
    expected = [slow_crop(image, *offset, padding) for image, offset in zip(before, offsets, strict=True)]
    assert np.array_equal(after, np.stack(expected))


def test_a_shift_moves_whole_images_and_lets_black_in() -> None:
    own = draws(2000)
    before = np.zeros((2000, 9, 9), np.uint8)
    before[:, 4, 4] = 200
    after, _ = RandomShift(2)(before, None, own)
    where = np.argwhere(after == 200)
    assert np.array_equal(where[:, 0], np.arange(2000))
    assert after.sum() == before.sum()
    seen = {(row, column) for row, column in where[:, 1:].tolist()}
    assert seen == {(row, column) for row in range(2, 7) for column in range(2, 7)}


def test_a_flip_mirrors_the_chosen_images_and_no_others() -> None:
    before = images((400, 3, 4, 5))
    after, _ = RandomFlip(0.25)(before, None, draws(400))
    mirrored = (draws(400).uniform("flip") < 0.25)[:, 0]
    expected = [one[..., ::-1] if flip else one for one, flip in zip(before, mirrored, strict=True)]
    assert np.array_equal(after, np.stack(expected))
    assert 60 < mirrored.sum() < 140


@pytest.mark.parametrize(("probability", "mirrored"), [(0, False), (1, True)])
def test_a_flip_can_be_never_or_always(probability: float, mirrored: bool) -> None:
    before = images((7, 3, 4, 5))
    after, _ = RandomFlip(probability)(before, None, draws())
    assert np.array_equal(after, before[..., ::-1] if mirrored else before)


@pytest.mark.parametrize("augment", AUGMENTATIONS, ids=repr)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_tensors_and_arrays_are_augmented_alike_and_left_alone(
    augment: Augmentation, shape: tuple[int, ...], dtype: str
) -> None:
    before, targets = images(shape, dtype), np.arange(7)
    tensor, kept = torch.from_numpy(before.copy()), before.copy()
    from_array, same_targets = augment(before, targets, draws())
    from_tensor, _ = augment(tensor, targets, draws())
    assert isinstance(from_array, np.ndarray)
    assert isinstance(from_tensor, torch.Tensor)
    assert from_array.dtype == before.dtype
    assert np.array_equal(from_array, from_tensor.numpy())
    assert same_targets is targets
    assert np.array_equal(before, kept)
    assert np.array_equal(tensor.numpy(), kept)
    assert not np.shares_memory(from_array, before)


@pytest.mark.parametrize("augment", AUGMENTATIONS, ids=repr)
def test_torchs_own_way_gives_the_same_pixels(augment: Augmentation) -> None:
    """bfloat16, which NumPy lacks, is augmented as tensors on a device are."""
    before = images((7, 3, 5, 6))
    expected, _ = augment(before, None, draws())
    actual, _ = augment(torch.from_numpy(before).to(torch.bfloat16), None, draws())
    assert actual.dtype == torch.bfloat16
    assert np.array_equal(actual.to(torch.uint8).numpy(), expected)


@pytest.mark.parametrize("augment", AUGMENTATIONS, ids=repr)
def test_an_image_is_augmented_alike_in_whatever_company(augment: Augmentation) -> None:
    before = images((7, 3, 5, 6))
    together, _ = augment(before, None, draws())
    alone = [augment(before[i : i + 1], None, draws().rows(slice(i, i + 1)))[0] for i in range(7)]
    assert np.array_equal(together, np.concatenate(alone))


def test_two_steps_of_the_same_kind_draw_apart() -> None:
    before = images((400, 4, 5))
    after, _ = Compose(RandomFlip(), RandomFlip())(before, None, draws(400))
    changed = (after != before).any(axis=(1, 2)).mean()
    assert 0.4 < changed < 0.6


def test_what_is_no_image_is_refused() -> None:
    with pytest.raises(ValueError, match=r"inputs have shape \(7, 5\); reshape them, or leave it out"):
        RandomFlip()(images((7, 5)), None, draws())


@pytest.mark.parametrize("make", [lambda: RandomShift(-1), lambda: RandomCrop(1.5), lambda: RandomFlip(1.2)])
def test_settings_out_of_range_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=r"give a (number of pixels|probability)"):
        make()
