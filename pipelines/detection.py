"""Augmentations that take boxes along, and how a batch holds boxes.

The targets of a batch are one array or tensor [batch, rows, 5]: a box a row, as left, top, right, bottom (in
pixels, from the image's upper left corner) and label. Images have different numbers of boxes; rows that hold
none have label -1. One rectangular array is what every engine can gather and every device can hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torchvision.transforms.v2 import functional as F

from pipelines.augment import RandomFlip
from pipelines.by_image import image_by_image
from pipelines.checks import real_number, whole_number
from pipelines.crop import between
from pipelines.draws import Draws
from pipelines.exchange import Ints
from pipelines.pixels import Array

NO_BOX = -1
"""The label of a row that holds no box."""

_ROUNDS, _TRIALS = 50, 40
_OVERLAPS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)

Floats = NDArray[np.float64]


def pack_boxes(annotations: Sequence[Mapping[str, Any]], rows: int | None = None) -> NDArray[np.float32]:
    """[images, rows, 5] from torchvision's form, a `{"boxes": [n, 4], "labels": [n]}` an image.

    Args:
        annotations: boxes as left, top, right, bottom; labels are whole numbers from 0.
        rows: room for so many boxes an image; None = for the most there are.

    Raises:
        ValueError: an image has more boxes than rows, or not as many labels as boxes.
    """
    most = max((len(one["boxes"]) for one in annotations), default=0)
    packed = np.zeros((len(annotations), most if rows is None else rows, 5), np.float32)
    packed[..., 4] = NO_BOX
    for i, one in enumerate(annotations):
        n = len(one["boxes"])
        if n > packed.shape[1] or n != len(one["labels"]):
            raise ValueError(
                f"pack_boxes: image {i} has {n} boxes, {len(one['labels'])} labels and room for "
                f"{packed.shape[1]}; give a label a box, and enough rows."
            )
        packed[i, :n, :4] = np.asarray(one["boxes"]).reshape(n, 4)
        packed[i, :n, 4] = np.asarray(one["labels"])
    return packed


def unpack_boxes(targets: Array) -> list[dict[str, torch.Tensor]]:
    """The boxes [n, 4] and labels [n] of each image, as torchvision's detection models take them."""
    rows = targets if isinstance(targets, torch.Tensor) else torch.from_numpy(np.array(targets))
    held = [image[image[:, 4] != NO_BOX] for image in rows]
    return [{"boxes": image[:, :4], "labels": image[:, 4].long()} for image in held]


@dataclass(frozen=True)
class RandomFlipWithBoxes:
    """Exchanges left and right of images and their boxes with the given probability."""

    probability: float = 0.5

    def __post_init__(self) -> None:
        advice = "give a probability, 0 to 1"
        real_number(self.probability, "RandomFlipWithBoxes: probability", 0, advice, 1)

    def __call__(self, inputs: Array, targets: Array, draws: Draws) -> tuple[Array, Array]:
        """See `Augmentation`; targets [batch, rows, 5]."""
        boxes = _rows_on_cpu(targets)
        chosen = (draws.uniform("flip")[:, :1] < self.probability) & (boxes[..., 4] != NO_BOX)
        flipped = boxes.copy()
        flipped[..., 0] = np.where(chosen, inputs.shape[-1] - boxes[..., 2], boxes[..., 0])
        flipped[..., 2] = np.where(chosen, inputs.shape[-1] - boxes[..., 0], boxes[..., 2])
        images, _ = RandomFlip(self.probability)(inputs, None, draws)
        return images, _like(flipped, targets)


@dataclass(frozen=True)
class RandomIoUCrop:
    """SSD's crop: a random part of each image that overlaps its boxes well, resized to `size` x `size`.

    Liu et al., arXiv 1512.02325, section 2.2, as torchvision's transform of this name: a least overlap is
    drawn among 0, 0.1, 0.3, 0.5, 0.7, 0.9 and "the whole image"; up to 40 parts are tried, with sides 0.3 to
    1 of the image's and width / height 0.5 to 2, until a box with its centre in the part has at least that
    intersection over union with it; else a least overlap is drawn again. After 50 of these (torchvision goes
    on), and for images without boxes, it is the whole image. Boxes with their centre outside are dropped, the
    others clipped.

    Attributes:
        size: height and width of the result in pixels, the same for all.
        smallest, largest: range of the part's sides, as shares of the image's.
    """

    size: int
    smallest: float = 0.3
    largest: float = 1.0

    def __post_init__(self) -> None:
        whole_number(self.size, "RandomIoUCrop: size", 1, "give a number of pixels, 1 or more")
        advice = "give a share of the image's side, above 0 and at most 1"
        smallest = real_number(self.smallest, "RandomIoUCrop: smallest", 1e-3, advice, 1)
        real_number(self.largest, "RandomIoUCrop: largest", smallest, advice, 1)

    def __call__(self, inputs: Array, targets: Array, draws: Draws) -> tuple[Array, Array]:
        """See `Augmentation`; inputs [batch, channels, height, width], targets [batch, rows, 5]."""
        boxes = _rows_on_cpu(targets)
        height, width = inputs.shape[-2:]
        parts = self.parts(height, width, boxes, draws)
        top_left_size = [
            (top, left, bottom - top, right - left) for left, top, right, bottom in parts.tolist()
        ]
        images = image_by_image(
            inputs,
            lambda image, i: F.resized_crop(image, *top_left_size[i], [self.size, self.size], antialias=True),
        )
        return images, _like(self._cropped(boxes, parts), targets)

    def parts(self, height: int, width: int, boxes: Floats, draws: Draws) -> Ints:
        """[examples, 4] the part of each image that is kept: left, top, right, bottom in pixels."""
        whole = np.array([0, 0, width, height])
        parts = np.tile(whole, (len(boxes), 1))
        open_ = (boxes[..., 4] != NO_BOX).any(axis=1)
        for number in range(_ROUNDS):
            if not open_.any():
                break
            own = draws.within(number)
            overlaps = np.take(_OVERLAPS, own.integers("overlap", 0, len(_OVERLAPS))[:, 0])
            open_ &= overlaps < 1
            tried = own.uniform("part", 4 * _TRIALS).reshape(-1, _TRIALS, 4)
            for i in np.flatnonzero(open_):
                candidates = self._candidates(height, width, tried[i])
                good = overlap_well(candidates, boxes[i][boxes[i, :, 4] != NO_BOX, :4], overlaps[i])
                if good.any():
                    parts[i], open_[i] = candidates[good.argmax()], False
        return parts

    def _candidates(self, height: int, width: int, tried: Floats) -> Ints:
        """[n, 4] the parts of allowed shape among those tried [trials, 4]."""
        size = np.array([width, height])
        sides = (size * between((self.smallest, self.largest), tried[:, :2])).astype(np.int64)
        corner = ((size - sides) * tried[:, 2:]).astype(np.int64)
        allowed = (
            (sides > 0).all(axis=1) & (sides[:, 0] <= 2 * sides[:, 1]) & (sides[:, 1] <= 2 * sides[:, 0])
        )
        return np.concatenate([corner, corner + sides], axis=1)[allowed]

    def _cropped(self, boxes: Floats, parts: Ints) -> Floats:
        """The boxes [batch, rows, 5] as the parts show them."""
        corner, far = parts[:, None, :2], parts[:, None, 2:]
        kept = (boxes[..., 4] != NO_BOX) & _centres_inside(boxes[..., :4], parts[:, None])
        scale = self.size / (far - corner)
        ends = [(np.clip(boxes[..., end], corner, far) - corner) * scale for end in (slice(2), slice(2, 4))]
        cropped = np.concatenate([*ends, boxes[..., 4:]], axis=-1)
        return np.where(kept[..., None], cropped, np.array([0, 0, 0, 0, NO_BOX]))


def _centres_inside(boxes: Floats, part: Floats | Ints) -> NDArray[np.bool_]:
    """Whether each box [..., 4] has its centre within the part [..., 4], not on its edge."""
    centres = (boxes[..., :2] + boxes[..., 2:]) / 2
    inside: NDArray[np.bool_] = np.all((part[..., :2] < centres) & (centres < part[..., 2:]), axis=-1)
    return inside


def overlap_well(parts: Ints, boxes: Floats, least: float) -> NDArray[np.bool_]:
    """[parts] whether one of the boxes [n, 4] has its centre in the part and overlaps it enough."""
    part, box = parts[:, None], boxes[None]
    shared = np.minimum(part[..., 2:], box[..., 2:]) - np.maximum(part[..., :2], box[..., :2])
    both = shared.clip(0).prod(axis=-1)
    areas = [(one[..., 2:] - one[..., :2]).prod(axis=-1) for one in (part, box)]
    well = both >= least * (areas[0] + areas[1] - both)
    overlapping: NDArray[np.bool_] = np.any(well & _centres_inside(box, part), axis=1)
    return overlapping


def _rows_on_cpu(targets: Array) -> Floats:
    """The targets as an array [batch, rows, 5]: where boxes go is computed on the CPU, like all draws."""
    rows = targets.cpu().numpy() if isinstance(targets, torch.Tensor) else np.asarray(targets)
    if rows.ndim != 3 or rows.shape[2] != 5:
        raise ValueError(
            f"The targets have shape {rows.shape}; give boxes as [batch, rows, 5], as pack_boxes does."
        )
    return rows.astype(np.float64)


def _like(rows: Floats, targets: Array) -> Array:
    """The rows in the form the targets came in."""
    if isinstance(targets, torch.Tensor):
        return torch.from_numpy(rows).to(targets)
    return rows.astype(targets.dtype)
