"""Reader of COCO: JPEG images, and `instances_*.json` with a box and a category for every object.

Source: Lin et al., arXiv 1405.0312; the format is that of the data set's page "format-data". Every annotation
is checked when the file is read: what is wrong is an error that names file and record, or is left out and
counted.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pycocotools.coco import COCO

from study.data.pictures import is_whole
from study.data.root import data_folder, require
from study.errors import UserError

NAME = "coco"

ROUNDING = 1.0
"""Pixels by which a box may stick out of its image and is cut, as official boxes are rounded."""

NARROWEST = 0.01
"""A box no wider or no higher than this, in pixels, has no area."""

Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AnnotatedImage:
    """An image and its objects.

    Attributes:
        file: the JPEG.
        width, height: as annotated, in pixels.
        boxes: float32 [n, 4], left, top, right, bottom in pixels, within the image.
        labels: int64 [n], places in `Annotations.categories`.
        crowd: bool [n], whether the box is around a crowd of objects that are not told apart.
    """

    file: Path
    width: int
    height: int
    boxes: NDArray[np.float32]
    labels: NDArray[np.int64]
    crowd: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Annotations:
    """What an `instances_*.json` says.

    Attributes:
        categories: names in the order of the official ids, which have gaps; a label is a place in here.
        images: in the order of their ids.
        skipped: how many records were left out, by what was wrong; empty unless asked to skip.
    """

    categories: tuple[str, ...]
    images: tuple[AnnotatedImage, ...]
    skipped: Mapping[str, int]


def read_annotations(split: str, folder: Path | None = None, *, skip: bool = False) -> Annotations:
    """The images in `<folder>/<split>/`, as `<folder>/annotations/instances_<split>.json` describes them.

    Args:
        split: `train2017` or `val2017`.
        folder: by default the data set's own.
        skip: leave out and count an annotation that is wrong, and an image whose file is missing or cut,
            rather than raise.

    Raises:
        UserError: the file or the folder is missing, or the file is of another format. Unless `skip`: an
            annotation has no area, lies outside its image, or is of no known category or image, or an image's
            file is missing. Names file and record.
    """
    folder = data_folder(NAME) if folder is None else folder
    file = require(folder / "annotations" / f"instances_{split}.json", NAME)
    images_folder = require(folder / split, NAME)
    index = _index(file)
    faults = _Faults(file, skip)
    labels = {category: label for label, category in enumerate(sorted(index.cats))}
    for image_id in index.imgToAnns.keys() - index.imgs.keys():
        for one in index.imgToAnns[image_id]:
            faults.found(
                "unknown image", f"annotation {one['id']} is of image {image_id}, which is not listed"
            )
    present = {entry.name for entry in images_folder.iterdir()}
    images = []
    for image_id in sorted(index.imgs):
        image = index.imgs[image_id]
        path = images_folder / image["file_name"]
        if path.name not in present:
            faults.found("missing image file", f"image {image_id} is {path}, which is missing")
        elif skip and not is_whole(path):
            faults.found("cut image file", f"image {image_id} is {path}, which is cut")
        else:
            images.append(_annotated(path, image, index.imgToAnns.get(image_id, ()), labels, faults))
    categories = tuple(str(index.cats[category]["name"]) for category in labels)
    return Annotations(categories, tuple(images), dict(faults.skipped))


@dataclass
class _Faults:
    """What to do about a wrong record: raise, or count."""

    file: Path
    skip: bool
    skipped: Counter[str] = field(default_factory=Counter)

    def found(self, kind: str, sentence: str) -> None:
        if not self.skip:
            raise UserError(
                f"In {self.file}, {sentence}; correct that, or leave such records out with "
                "'options: {on_error: skip}'."
            )
        self.skipped[kind] += 1


def _index(file: Path) -> COCO:
    """The file's index by pycocotools, made in silence."""
    index = COCO()
    try:
        index.dataset = json.loads(file.read_bytes())
        if not all(isinstance(index.dataset[part], list) for part in ("images", "annotations", "categories")):
            raise TypeError("its parts are no lists")
        for part, keys in _KEYS.items():
            _require_keys(part, keys, index.dataset[part])
        with redirect_stdout(StringIO()):
            index.createIndex()
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{file} is no COCO file of instances ({type(error).__name__}: {error}); fetch it again, or "
            "write it as COCO's format-data page says."
        ) from error
    return index


_KEYS = {
    "images": ("id", "file_name", "width", "height"),
    "annotations": ("id", "image_id", "category_id", "bbox"),
    "categories": ("id", "name"),
}


def _require_keys(part: str, keys: Iterable[str], records: Iterable[Record]) -> None:
    for number, record in enumerate(records):
        missing = [key for key in keys if key not in record]
        if missing:
            raise ValueError(f"{part}[{number}] has no {missing[0]}")


def _annotated(
    path: Path, image: Record, annotations: Iterable[Record], labels: Mapping[int, int], faults: _Faults
) -> AnnotatedImage:
    """The image with those of its annotations that are sound."""
    width, height = int(image["width"]), int(image["height"])
    boxes, chosen, crowd = [], [], []
    for one in annotations:
        box = _corners(one["bbox"])
        fault = _fault(box, one["category_id"], width, height, labels)
        if fault is not None:
            kind, what = fault
            faults.found(kind, f"annotation {one['id']} (image {image['id']}) {what}")
            continue
        boxes.append(box)
        chosen.append(labels[one["category_id"]])
        crowd.append(bool(one.get("iscrowd", 0)))
    return AnnotatedImage(
        path,
        width,
        height,
        np.array(boxes).reshape(-1, 4).clip(0, (width, height, width, height)).astype(np.float32),
        np.array(chosen, np.int64),
        np.array(crowd, np.bool_),
    )


def _corners(bbox: Any) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of COCO's left, top, width, height; NaN if it is nothing of the kind."""
    try:
        left, top, width, height = map(float, bbox)
    except (TypeError, ValueError):
        return math.nan, math.nan, math.nan, math.nan
    return left, top, left + width, top + height


def _fault(
    box: tuple[float, float, float, float], category: Any, width: int, height: int, labels: Mapping[int, int]
) -> tuple[str, str] | None:
    """What kind of fault an annotation has and a phrase that says it, or None."""
    left, top, right, bottom = box
    if category not in labels:
        return "unknown category", f"has category {category!r}, which is not listed"
    if not all(map(math.isfinite, box)):
        return "no box", "has a bbox that is not four numbers"
    if min(left, top) < -ROUNDING or right > width + ROUNDING or bottom > height + ROUNDING:
        return "outside", f"has a box outside its image of {width} x {height} pixels, {_shown(box)}"
    if min(right, width) - max(left, 0) <= NARROWEST or min(bottom, height) - max(top, 0) <= NARROWEST:
        return "no area", f"has a box without area in its image of {width} x {height} pixels, {_shown(box)}"
    return None


def _shown(box: tuple[float, float, float, float]) -> str:
    return f"{[float(f'{end:g}') for end in box]} (left, top, right, bottom)"
