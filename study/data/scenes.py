"""Composed scenes: small grey objects pasted on larger canvases among clutter, with exact boxes.

A stand-in for a detection data set where none can be had; composed, so never a benchmark. The objects are
images with a black background, Fashion-MNIST's for instance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pipelines.detection import NO_BOX
from study.errors import UserError

MOST_OBJECTS = 5
"""Rows of a scene's boxes; a scene shows 1 to this many objects."""

VISIBLE_FROM = 16
"""Pixels darker than this, of 255, count as the background of an object's image and are not pasted."""

_PIECES = 12
_PLACES_TRIED = 50

Pixels = NDArray[np.uint8]
Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in pixels."""


@dataclass(frozen=True, slots=True)
class Scenes:
    """Composed scenes, the objects they may show, and what those are.

    Attributes:
        images: uint8 [scenes, 1, size, size].
        boxes: float32 [scenes, MOST_OBJECTS, 5], packed as in `pipelines.detection`.
        shown: int64 [scenes, MOST_OBJECTS], the number of the object in each row of `boxes`; -1 = none.
    """

    images: Tensor
    boxes: Tensor
    shown: Tensor


def compose_scenes(
    objects: Pixels, labels: NDArray[np.uint8], *, scenes: int, size: int, seed: int
) -> Scenes:
    """Paste objects at random places of dark noisy canvases, on top of pieces of other objects.

    A scene gets 1 to `MOST_OBJECTS` objects, uniformly, each drawn uniformly from all, at a place uniform
    among those where its box overlaps no other box; one for which none is found in 50 tries is left out.
    Boxes are tight around the pixels of `VISIBLE_FROM` and above. Clutter is 12 pieces, 4 to 9 pixels high
    and wide, cut from objects and dimmed to 40-90%. Depends on the arguments alone.

    Args:
        objects: uint8 [objects, height, width], height and width at most `size`.
        labels: whole numbers from 0, one an object.
        scenes: how many to make.
        size: height and width of a scene, pixels.
        seed: decides everything that is drawn.

    Raises:
        UserError: an object has no visible pixel, or there are none, or they do not fit on a scene.
    """
    if not len(objects) or max(objects.shape[1:]) > size:
        raise UserError(
            f"Scenes of {size} x {size} pixels cannot be composed of {len(objects)} objects of "
            f"{' x '.join(map(str, objects.shape[1:]))}; give some that fit, or larger scenes."
        )
    random = np.random.default_rng(seed)
    canvases = random.integers(0, 2 * VISIBLE_FROM, (scenes, size, size), np.uint8)
    _add_clutter(canvases, objects, random)
    numbers = random.integers(1, MOST_OBJECTS + 1, scenes).tolist()
    chosen = random.integers(0, len(objects), (scenes, MOST_OBJECTS)).tolist()
    object_boxes, object_labels = tight_boxes(objects).tolist(), labels.tolist()
    packed = np.zeros((scenes, MOST_OBJECTS, 5), np.float32)
    packed[..., 4] = NO_BOX
    shown = np.full((scenes, MOST_OBJECTS), -1)
    for i, canvas in enumerate(canvases):
        placed: list[Box] = []
        for one in chosen[i][: numbers[i]]:
            left, top, right, bottom = object_boxes[one]
            box = _free_place(placed, right - left, bottom - top, size, random)
            if box is None:
                continue
            _paste(canvas, objects[one, top:bottom, left:right], box)
            packed[i, len(placed)] = *box, object_labels[one]
            shown[i, len(placed)] = one
            placed.append(box)
    return Scenes(torch.from_numpy(canvases)[:, None], torch.from_numpy(packed), torch.from_numpy(shown))


def tight_boxes(objects: Pixels) -> NDArray[np.int64]:
    """[objects, 4] left, top, right, bottom of the visible pixels of objects [objects, height, width].

    Raises:
        UserError: an object has no visible pixel.
    """
    visible = objects >= VISIBLE_FROM
    unseen = np.flatnonzero(~np.any(visible, axis=(1, 2)))
    if len(unseen):
        raise UserError(
            f"Object {unseen[0]} has no pixel of {VISIBLE_FROM} or more, so it has no box; leave it out."
        )
    ends = []
    for axis in (1, 2):
        along: NDArray[np.bool_] = np.any(visible, axis=axis)
        ends.append((along.argmax(axis=1), along.shape[1] - along[:, ::-1].argmax(axis=1)))
    (left, right), (top, bottom) = ends
    return np.stack([left, top, right, bottom], axis=1)


def _add_clutter(canvases: Pixels, objects: Pixels, random: np.random.Generator) -> None:
    """Paste pieces of objects on every canvas, in place; none is large enough to be an object."""
    pieces = len(canvases) * _PIECES
    sides = random.integers(4, 10, (pieces, 2)).clip(max=objects.shape[1:])
    sources = random.integers(0, len(objects), pieces)
    cuts = random.integers(0, objects.shape[1:] - sides + 1)
    places = random.integers(0, canvases.shape[1:] - sides + 1)
    dimmed = random.uniform(0.4, 0.9, pieces).astype(np.float32)
    numbers = np.concatenate([sides, cuts, places, sources[:, None]], axis=1).tolist()
    for n, (high, wide, row, column, top, left, source) in enumerate(numbers):
        piece = (objects[source, row : row + high, column : column + wide] * dimmed[n]).astype(np.uint8)
        _paste(canvases[n // _PIECES], piece, (left, top, left + wide, top + high))


def _free_place(
    placed: Sequence[Box], width: int, height: int, size: int, random: np.random.Generator
) -> Box | None:
    """A box of that width and height that overlaps none of `placed`; None if no try found one."""
    tries = random.integers(0, (size - width + 1, size - height + 1), (_PLACES_TRIED, 2)).tolist()
    for left, top in tries:
        box = left, top, left + width, top + height
        if all(_apart(box, other) for other in placed):
            return box
    return None


def _apart(box: Box, other: Box) -> bool:
    return box[0] >= other[2] or other[0] >= box[2] or box[1] >= other[3] or other[1] >= box[3]


def _paste(canvas: Pixels, image: Pixels, box: Box) -> None:
    """Put the visible pixels of `image` into the box of the canvas, in place."""
    left, top, right, bottom = box
    region = canvas[top:bottom, left:right]
    np.copyto(region, image, where=image >= VISIBLE_FROM)
