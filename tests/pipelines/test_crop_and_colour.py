"""Random resized crops and changes of colour, beside torchvision's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import ks_2samp
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

from pipelines import Augmentation, Compose, Draws, EchoSpec, Pipeline, RandomFlip
from pipelines.colour import ColorJitter, PhotometricDistort
from pipelines.crop import RandomResizedCrop

JITTER = ColorJitter(0.4, 0.3, 0.2, 0.1)
AUGMENTATIONS = [
    RandomResizedCrop(7),
    JITTER,
    PhotometricDistort(),
    Compose(RandomResizedCrop(6), JITTER, RandomFlip()),
]


def draws(n: int = 7, seed: int = 3) -> Draws:
    return Draws(seed, np.arange(n) + 10, np.arange(n) % 4)


def images(n: int = 7, dtype: str = "uint8", size: tuple[int, int] = (9, 11)) -> NDArray[Any]:
    whole = np.random.default_rng(0).integers(0, 256, (n, 3, *size))
    return whole.astype(dtype) if dtype == "uint8" else (whole / 255).astype(dtype)


@pytest.mark.parametrize("augment", AUGMENTATIONS, ids=repr)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_tensors_and_arrays_are_augmented_alike_and_left_alone(augment: Augmentation, dtype: str) -> None:
    before, targets = images(dtype=dtype), np.arange(7)
    tensor, kept = torch.from_numpy(before.copy()), before.copy()
    before.flags.writeable = False
    from_array, same_targets = augment(before, targets, draws())
    from_tensor, _ = augment(tensor, targets, draws())
    assert isinstance(from_array, np.ndarray)
    assert isinstance(from_tensor, torch.Tensor)
    assert from_array.dtype == before.dtype
    assert np.array_equal(from_array, from_tensor.numpy())
    assert same_targets is targets
    assert np.array_equal(tensor.numpy(), kept)


@pytest.mark.parametrize("augment", AUGMENTATIONS, ids=repr)
def test_an_image_is_augmented_alike_in_whatever_company(augment: Augmentation) -> None:
    before = images()
    together, _ = augment(before, None, draws())
    alone = [augment(before[i : i + 1], None, draws().rows(slice(i, i + 1)))[0] for i in range(7)]
    assert np.array_equal(together, np.concatenate(alone))


@pytest.mark.parametrize("augment", AUGMENTATIONS, ids=repr)
def test_copies_are_augmented_differently(augment: Augmentation) -> None:
    same = images(1).repeat(8, axis=0)
    after, _ = augment(same, None, Draws(1, np.full(8, 5), np.arange(8)))
    assert len({image.tobytes() for image in after}) >= 7
    again, _ = augment(same, None, Draws(1, np.full(8, 5), np.zeros(8, int)))
    assert len({image.tobytes() for image in again}) == 1


def test_a_pipeline_augments_with_them() -> None:
    pipeline = Pipeline(
        (images(20), np.arange(20)),
        batch_size=4,
        echo=EchoSpec(2, "before_augmentation", 8),
        augment=Compose(RandomResizedCrop(5), JITTER),
    )
    assert next(pipeline).inputs.shape == (4, 3, 5, 5)


def test_a_resized_crop_is_torchvisions_of_the_drawn_part() -> None:
    before = torch.from_numpy(images(dtype="float32"))
    after, _ = RandomResizedCrop(7)(before, None, draws())
    for image, out, part in zip(before, after, RandomResizedCrop(7).parts(9, 11, draws()), strict=True):
        top, left, height, width = part.tolist()
        own = image[:, top : top + height, left : left + width]
        expected = torch.nn.functional.interpolate(own[None], (7, 7), mode="bilinear", antialias=True)[0]
        assert torch.equal(out, expected)


@pytest.mark.parametrize("size", [(48, 64), (60, 20)])
def test_parts_have_the_distribution_of_torchvisions(size: tuple[int, int]) -> None:
    mine = RandomResizedCrop(7).parts(*size, draws(3000))
    torch.manual_seed(0)
    peer, blank = v2.RandomResizedCrop(7), torch.zeros(3, *size)
    theirs = [peer.make_params([blank]) for _ in range(3000)]
    for column, name in enumerate(("top", "left", "height", "width")):
        assert ks_2samp(mine[:, column], [one[name] for one in theirs]).pvalue > 0.001
    top, left, height, width = mine.T
    assert (mine >= 0).all()
    assert (top + height <= size[0]).all()
    assert (left + width <= size[1]).all()


@pytest.mark.parametrize(("size", "part"), [((10, 100), (0, 43, 10, 13)), ((100, 10), (43, 0, 13, 10))])
def test_where_no_part_fits_it_is_the_middle(size: tuple[int, int], part: tuple[int, ...]) -> None:
    crop = RandomResizedCrop(7, area=(0.9, 1.0))
    assert {tuple(one) for one in crop.parts(*size, draws(50)).tolist()} == {part}
    params = v2.RandomResizedCrop(7, scale=(0.9, 1.0)).make_params([torch.zeros(3, *size)])
    assert part == tuple(params[name] for name in ("top", "left", "height", "width"))


ADJUST = {
    "brightness": F.adjust_brightness,
    "contrast": F.adjust_contrast,
    "saturation": F.adjust_saturation,
    "hue": F.adjust_hue,
}


@pytest.mark.parametrize("augment", [JITTER, PhotometricDistort()], ids=repr)
def test_colours_are_torchvisions_with_the_same_factors(augment: Any) -> None:
    before = torch.from_numpy(images(40))
    after, _ = augment(before, None, draws(40))
    for image, out, steps in zip(before, after, augment.steps(draws(40)), strict=True):
        expected = image
        for name, value in steps:
            channels = name == "channels"
            expected = F.permute_channels(expected, value) if channels else ADJUST[name](expected, value)
        assert torch.equal(out, expected)


def test_jitter_has_torchvisions_factors_and_orders() -> None:
    torch.manual_seed(0)
    peer = v2.ColorJitter(0.4, 0.3, 0.2, 0.1)
    theirs = [peer.make_params([]) for _ in range(2000)]
    mine = JITTER.steps(draws(2000))
    for name in ADJUST:
        factors = [dict(steps)[name] for steps in mine]
        assert ks_2samp(factors, [one[f"{name}_factor"] for one in theirs]).pvalue > 0.001
    assert len({tuple(name for name, _ in steps) for steps in mine}) == 24


def test_distortion_has_torchvisions_steps_as_often() -> None:
    torch.manual_seed(0)
    peer = v2.RandomPhotometricDistort()
    blank = torch.zeros(3, 2, 2)
    theirs = [peer.make_params([blank]) for _ in range(3000)]
    mine = [dict(steps) for steps in PhotometricDistort().steps(draws(3000))]
    for name in ADJUST:
        factors = [steps[name] for steps in mine if name in steps]
        peers = [one[f"{name}_factor"] for one in theirs if one[f"{name}_factor"] is not None]
        assert abs(len(factors) - len(peers)) < 250
        assert ks_2samp(factors, peers).pvalue > 0.001
    first = [
        list(steps).index("contrast") < list(steps).index("hue")
        for steps in mine
        if {"contrast", "hue"} <= steps.keys()
    ]
    assert 0.4 < np.mean(first) < 0.6
    orders = [tuple(steps["channels"]) for steps in mine if "channels" in steps]
    assert 1300 < len(orders) < 1700
    assert len(set(orders)) == 6


def test_jitter_leaves_out_what_is_not_asked_for() -> None:
    before = images()
    after, _ = ColorJitter()(before, None, draws())
    assert np.array_equal(after, before)
    assert all(len(steps) == 1 for steps in ColorJitter(hue=0.2).steps(draws()))


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomResizedCrop(0),
        lambda: RandomResizedCrop(4, area=(0.5, 0.2)),
        lambda: RandomResizedCrop(4, ratio=1.0),
        lambda: ColorJitter(brightness=-1),
        lambda: ColorJitter(hue=0.6),
        lambda: PhotometricDistort(hue=(-1, 0)),
        lambda: PhotometricDistort(probability=2),
    ],
)
def test_settings_out_of_range_are_refused(make: Any) -> None:
    with pytest.raises(ValueError, match=r"; give (a|two) (number|probability)"):
        make()


def test_colours_need_three_channels() -> None:
    with pytest.raises(ValueError, match="with 3 channels, but they have 1; leave it out"):
        JITTER(images()[:, :1], None, draws())
