"""Composed scenes: exact boxes, and nothing that depends on anything but the arguments."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from study.data.scenes import MOST_OBJECTS, VISIBLE_FROM, compose_scenes, tight_boxes
from study.errors import UserError

SIZE = 48


def objects(number: int = 30, side: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Bright rectangles, each on a faint background, and labels."""
    random = np.random.default_rng(seed)
    images = random.integers(0, VISIBLE_FROM, (number, side, side)).astype(np.uint8)
    for image in images:
        top, left = random.integers(0, side // 2, 2)
        bottom, right = random.integers((top, left), side) + 1
        image[top:bottom, left:right] = random.integers(VISIBLE_FROM, 256, (bottom - top, right - left))
    return images, random.integers(0, 10, number).astype(np.uint8)


def scenes(number: int = 60, seed: int = 0):
    return compose_scenes(*objects(), scenes=number, size=SIZE, seed=seed)


def test_what_lies_in_a_box_is_its_object_and_nothing_else():
    images, labels = objects()
    made = scenes()
    corners = tight_boxes(images)
    for canvas, boxes, shown in zip(made.images[:, 0], made.boxes, made.shown, strict=True):
        for (*box, label), one in zip(boxes.tolist(), shown.tolist(), strict=True):
            if one == -1:
                assert (box, label) == ([0, 0, 0, 0], -1)
                continue
            left, top, right, bottom = map(int, box)
            cut = images[one, corners[one, 1] : corners[one, 3], corners[one, 0] : corners[one, 2]]
            visible = cut >= VISIBLE_FROM
            assert canvas[top:bottom, left:right].numpy()[visible].tolist() == cut[visible].tolist()
            assert label == labels[one]


@settings(max_examples=50)
@given(st.integers(0, 10_000))
def test_a_box_is_as_tight_as_its_pixels_allow(seed):
    images, _ = objects(5, seed=seed)
    for image, (left, top, right, bottom) in zip(images, tight_boxes(images).tolist(), strict=True):
        rows, columns = np.nonzero(image >= VISIBLE_FROM)
        assert (left, right) == (columns.min(), columns.max() + 1)
        assert (top, bottom) == (rows.min(), rows.max() + 1)


def test_boxes_lie_within_the_scene_and_never_overlap():
    for boxes in scenes().boxes:
        held = boxes[boxes[:, 4] >= 0]
        assert held[:, :4].min() >= 0
        assert held[:, :4].max() <= SIZE
        canvas = torch.zeros(SIZE, SIZE)
        for left, top, right, bottom in held[:, :4].int().tolist():
            canvas[top:bottom, left:right] += 1
        assert canvas.max() == 1


def test_a_scene_shows_one_to_five_objects_each_number_about_as_often():
    numbers = (scenes(1000).shown >= 0).sum(1).bincount(minlength=MOST_OBJECTS + 1)
    assert numbers[0] == 0
    assert (numbers[1:] > 150).all()  # 200 are expected, less where the fifth finds no room
    assert numbers.sum() == 1000


def test_clutter_is_visible_outside_the_boxes_and_smaller_than_objects():
    made = scenes()
    outside = made.images[:, 0].clone()
    for canvas, boxes in zip(outside, made.boxes.int().tolist(), strict=True):
        for left, top, right, bottom, _ in boxes:
            canvas[top:bottom, left:right] = 0
    brightest = outside.flatten(1).max(1).values
    assert (brightest >= 2 * VISIBLE_FROM).float().mean() > 0.9
    noise = outside < 2 * VISIBLE_FROM
    assert noise.float().mean() > 0.5


def test_the_seed_alone_decides():
    first, second, other = scenes(seed=1), scenes(seed=1), scenes(seed=2)
    for name in ("images", "boxes", "shown"):
        assert torch.equal(getattr(first, name), getattr(second, name))
        assert not torch.equal(getattr(first, name), getattr(other, name))


def test_scenes_of_given_objects_show_only_those():
    images, labels = objects()
    some = compose_scenes(images[:7], labels[:7], scenes=50, size=SIZE, seed=0)
    assert set(some.shown.unique().tolist()) == {-1, *range(7)}


def test_an_object_nobody_can_see_is_refused_by_its_number():
    images, labels = objects()
    images[4] = VISIBLE_FROM - 1
    with pytest.raises(UserError, match="Object 4 has no pixel of 16 or more"):
        compose_scenes(images, labels, scenes=1, size=SIZE, seed=0)


@pytest.mark.parametrize(("number", "size"), [(0, 48), (3, 11)])
def test_no_objects_or_too_large_ones_are_refused(number, size):
    images, labels = objects()
    with pytest.raises(UserError, match=f"Scenes of {size} x {size} pixels cannot be composed"):
        compose_scenes(images[:number], labels[:number], scenes=1, size=size, seed=0)
