"""Boxes go where the pixels go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from torchvision import tv_tensors
from torchvision.ops import box_iou
from torchvision.transforms import v2
from torchvision.transforms.v2 import functional as F

from pipelines import Compose, Draws, EchoSpec, Pipeline
from pipelines.detection import RandomFlipWithBoxes, RandomIoUCrop, overlap_well, pack_boxes, unpack_boxes

SIZE = (60, 80)


def draws(n: int, seed: int = 3) -> Draws:
    return Draws(seed, np.arange(n) + 10, np.zeros(n, int))


def scenes(n: int, boxes: int = 3, seed: int = 0) -> tuple[torch.Tensor, np.ndarray]:
    """Images with a channel a box, in which its pixels are 1; and the boxes, some rows empty."""
    random = np.random.default_rng(seed)
    images, targets = torch.zeros(n, boxes, *SIZE), np.zeros((n, boxes + 1, 5), np.float32)
    targets[..., 4] = -1
    for i in range(n):
        for row in range(boxes):
            left, top = random.integers(0, (SIZE[1] - 9, SIZE[0] - 9))
            right, bottom = random.integers((left + 8, top + 8), (SIZE[1] + 1, SIZE[0] + 1))
            images[i, row, top:bottom, left:right] = 1
            targets[i, row] = left, top, right, bottom, row
    return images, targets


def seen_box(mask: torch.Tensor) -> list[int]:
    """Left, top, right, bottom of the pixels that are set."""
    rows, columns = torch.nonzero(mask > 0.5).T
    return [int(columns.min()), int(rows.min()), int(columns.max()) + 1, int(rows.max()) + 1]


def test_a_flip_moves_boxes_exactly_as_their_pixels() -> None:
    images, targets = scenes(40)
    flipped, moved = RandomFlipWithBoxes()(images, targets, draws(40))
    for image, rows in zip(flipped, moved, strict=True):
        for row in range(3):
            assert rows[row, :4].tolist() == seen_box(image[row])
    changed = (moved != targets).any(axis=(1, 2))
    assert 8 < changed.sum() < 32
    assert np.array_equal(moved[..., 4], targets[..., 4])
    assert (moved[:, 3] == targets[:, 3]).all()


def test_flipping_twice_is_no_flip() -> None:
    images, targets = scenes(10)
    once = RandomFlipWithBoxes(1)(images, targets, draws(10))
    assert not torch.equal(once[0], images)
    twice = RandomFlipWithBoxes(1)(*once, draws(10))
    assert torch.equal(twice[0], images)
    assert np.array_equal(twice[1], targets)


def test_a_flip_is_torchvisions() -> None:
    images, targets = scenes(3)
    _, moved = RandomFlipWithBoxes(1)(images, targets, draws(3))
    for before, after in zip(unpack_boxes(targets), unpack_boxes(moved), strict=True):
        boxes = tv_tensors.BoundingBoxes(before["boxes"], format="XYXY", canvas_size=SIZE)
        assert torch.equal(F.horizontal_flip(boxes).as_subclass(torch.Tensor), after["boxes"])


@pytest.mark.parametrize("size", [40, 100])
def test_cropped_boxes_are_where_their_pixels_are(size: int) -> None:
    images, targets = scenes(60)
    cropped, moved = RandomIoUCrop(size)(images, targets, draws(60))
    assert cropped.shape == (60, 3, size, size)
    checked = 0
    for image, rows in zip(cropped, moved, strict=True):
        for row in range(3):
            if rows[row, 4] != -1:
                assert np.abs(rows[row, :4] - seen_box(image[row])).max() <= 1.5
                checked += 1
    assert checked > 100


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 90), st.booleans())
def test_boxes_stay_inside_the_image_and_keep_their_labels(seed: int, size: int, flip: bool) -> None:
    images, targets = scenes(5, seed=seed)
    steps = Compose(RandomIoUCrop(size), RandomFlipWithBoxes(float(flip)))
    _, moved = steps(images, targets, draws(5, seed))
    kept = moved[..., 4] != -1
    boxes = moved[kept][:, :4]
    assert kept.any(axis=1).all()
    assert boxes.min() >= 0
    assert boxes.max() <= size
    assert (boxes[:, 2:] > boxes[:, :2]).all()
    assert np.array_equal(moved[kept][:, 4], targets[kept][:, 4])
    assert not moved[~kept][:, :4].any()


def test_a_crop_keeps_the_promise_of_its_least_overlap() -> None:
    _, targets = scenes(300)
    crop = RandomIoUCrop(40)
    parts = crop.parts(*SIZE, targets.astype(float), draws(300))
    whole = (parts == [0, 0, SIZE[1], SIZE[0]]).all(axis=1)
    assert 0.1 < whole.mean() < 0.6
    for part, rows in zip(parts[~whole], targets[~whole], strict=True):
        left, top, right, bottom = part.tolist()
        assert 0 <= left < right <= SIZE[1]
        assert 0 <= top < bottom <= SIZE[0]
        assert 0.5 <= (right - left) / (bottom - top) <= 2
        assert right - left >= int(0.3 * SIZE[1])
        centres = (rows[:3, :2] + rows[:3, 2:4]) / 2
        inside = ((centres > [left, top]) & (centres < [right, bottom])).all(axis=1)
        assert inside.any()


@pytest.mark.slow
def test_parts_have_the_distribution_of_torchvisions() -> None:
    _, targets = scenes(1)
    n = 1000
    parts = RandomIoUCrop(40).parts(*SIZE, targets.repeat(n, axis=0).astype(float), draws(n))
    image = tv_tensors.Image(torch.zeros(3, *SIZE))
    boxes = tv_tensors.BoundingBoxes(targets[0, :3, :4], format="XYXY", canvas_size=SIZE)
    torch.manual_seed(0)
    whole = {"left": 0, "top": 0, "width": SIZE[1], "height": SIZE[0]}
    theirs = [v2.RandomIoUCrop().make_params([image, boxes]) or whole for _ in range(n)]
    mine = {"left": parts[:, 0], "top": parts[:, 1], "width": parts[:, 2] - parts[:, 0]}
    mine["height"] = parts[:, 3] - parts[:, 1]
    for name, values in mine.items():
        assert ks_2samp(values, [one[name] for one in theirs]).pvalue > 0.001


@pytest.mark.parametrize("least", [0.1, 0.5, 0.9])
def test_the_overlap_is_torchvisions_intersection_over_union(least: float) -> None:
    random = np.random.default_rng(0)
    corners = np.sort(random.integers(0, 30, (200, 2, 2)), axis=1).reshape(200, 4) + np.array([0, 0, 1, 1])
    part, boxes = corners[:1], corners[1:].astype(float)
    iou = box_iou(torch.from_numpy(part).double(), torch.from_numpy(boxes))[0].numpy()
    centres = (boxes[:, :2] + boxes[:, 2:]) / 2
    inside = ((centres > part[0, :2]) & (centres < part[0, 2:])).all(axis=1)
    expected = (iou >= least) & inside
    actual = [bool(overlap_well(part, box[None], least)[0]) for box in boxes]
    assert actual == expected.tolist()


def test_a_crops_pixels_are_torchvisions_of_its_part() -> None:
    images, targets = scenes(12)
    crop = RandomIoUCrop(30)
    cropped, _ = crop(images, targets, draws(12))
    for image, out, part in zip(
        images, cropped, crop.parts(*SIZE, targets.astype(float), draws(12)).tolist(), strict=True
    ):
        left, top, right, bottom = part
        assert torch.equal(out, F.resize(F.crop(image, top, left, bottom - top, right - left), [30, 30]))


def test_images_without_boxes_are_kept_whole() -> None:
    images, targets = scenes(4)
    targets[..., :4], targets[..., 4] = 0, -1
    cropped, moved = RandomIoUCrop(30)(images, targets, draws(4))
    assert torch.equal(cropped, F.resize(images, [30, 30]))
    assert np.array_equal(moved, targets)


@pytest.mark.parametrize("augment", [RandomIoUCrop(30), RandomFlipWithBoxes()], ids=repr)
def test_boxes_and_pixels_depend_on_the_example_and_its_draws_alone(augment: Any) -> None:
    """Alike in whatever company and as arrays or tensors; copies differ; arguments stay as they are."""
    images, targets = scenes(6)
    kept = images.clone(), targets.copy()
    together = augment(images, targets, draws(6))
    alone = [augment(images[i : i + 1], targets[i : i + 1], draws(6).rows(slice(i, i + 1))) for i in range(6)]
    assert torch.equal(together[0], torch.cat([one[0] for one in alone]))
    assert np.array_equal(together[1], np.concatenate([one[1] for one in alone]))
    swapped = augment(images.numpy(), torch.from_numpy(targets), draws(6))
    assert np.array_equal(swapped[0], together[0].numpy())
    assert np.array_equal(swapped[1].numpy(), together[1])
    assert torch.equal(images, kept[0])
    assert np.array_equal(targets, kept[1])
    same = images[:1].repeat(16, 1, 1, 1), targets[:1].repeat(16, axis=0)
    _, moved = augment(*same, Draws(1, np.full(16, 5), np.arange(16)))
    assert len({one.tobytes() for one in moved}) >= 2


def test_a_pipeline_carries_boxes() -> None:
    images, targets = scenes(20)
    augment = Compose(RandomIoUCrop(30), RandomFlipWithBoxes())
    echo = EchoSpec(2, "before_augmentation", 8)
    batch = next(Pipeline((images, targets), batch_size=4, echo=echo, augment=augment))
    assert batch.inputs.shape == (4, 3, 30, 30)
    assert all(len(one["boxes"]) == len(one["labels"]) >= 1 for one in unpack_boxes(batch.targets))


def test_packing_and_unpacking_are_each_others_inverse() -> None:
    annotations = [
        {"boxes": torch.tensor([[0.0, 1, 2, 3], [4, 5, 6, 7]]), "labels": torch.tensor([0, 9])},
        {"boxes": torch.zeros(0, 4), "labels": torch.zeros(0, dtype=torch.long)},
    ]
    packed = pack_boxes(annotations, rows=5)
    assert packed.shape == (2, 5, 5)
    for before, after in zip(annotations, unpack_boxes(packed), strict=True):
        assert torch.equal(before["boxes"], after["boxes"])
        assert torch.equal(before["labels"], after["labels"])
    assert pack_boxes(annotations).shape == (2, 2, 5)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        (lambda: pack_boxes([{"boxes": [[0, 0, 1, 1]], "labels": []}]), "image 0 has 1 boxes, 0 labels"),
        (lambda: pack_boxes([{"boxes": [[0, 0, 1, 1]], "labels": [1]}], 0), "room for 0; give a label a box"),
        (lambda: RandomFlipWithBoxes(2), "probability is 2; give a probability"),
        (lambda: RandomIoUCrop(0), "size is 0; give a number of pixels"),
        (lambda: RandomIoUCrop(9, 0.5, 0.2), "largest is 0.2; give a share"),
        (lambda: RandomIoUCrop(9)(scenes(2)[0], np.zeros(2), draws(2)), r"shape \(2,\); give boxes as"),
    ],
)
def test_wrong_use_is_said_in_one_sentence(wrong: Any, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        wrong()
