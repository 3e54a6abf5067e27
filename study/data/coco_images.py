"""COCO's images, decoded and brought to one size, with their boxes: what training and evaluation read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.utils.data import Dataset
from torchvision.transforms.v2 import functional as F

from pipelines.detection import pack_boxes
from study.data.coco import AnnotatedImage
from study.errors import UserError

SIZE = 300
"""Height and width of what is read, in pixels; the image is stretched to it."""

MOST_BOXES = 100
"""Rows of an example's boxes; official training images have up to 93 (recalled)."""


class CocoTraining(Dataset[tuple[Tensor, Tensor]]):
    """The images that have a box, as uint8 [3, SIZE, SIZE], and their boxes as float32 [MOST_BOXES, 5].

    Boxes are packed as `pipelines.detection` says, in pixels of the resized image. As the field does
    (torchvision's references/detection), boxes around crowds are left out, and so are images that are left
    without a box.

    Raises:
        UserError: an image has more than `MOST_BOXES` boxes, or none has any; when read, an image cannot be
            decoded or is of another size than annotated. Names the file.
    """

    def __init__(self, images: Sequence[AnnotatedImage]) -> None:
        self.images = [one for one in images if not one.crowd.all()]
        if not self.images:
            raise UserError(
                "None of COCO's training images is whole and has a box; give some, with their annotations."
            )
        for one in self.images:
            if (number := int((~one.crowd).sum())) > MOST_BOXES:
                raise UserError(
                    f"{one.file} has {number} boxes, and there is room for {MOST_BOXES}; take it out of the "
                    "annotations."
                )

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, number: int) -> tuple[Tensor, Tensor]:
        one = self.images[number]
        alone = ~one.crowd
        packed = pack_boxes([{"boxes": resized_boxes(one)[alone], "labels": one.labels[alone]}], MOST_BOXES)
        return decoded(one), torch.from_numpy(packed[0])


def image_batches(images: Sequence[AnnotatedImage], at_once: int) -> Iterator[Tensor]:
    """uint8 [at_once, 3, SIZE, SIZE] in order (the last batch may be smaller), one in memory at a time."""
    for start in range(0, len(images), at_once):
        yield torch.stack([decoded(one) for one in images[start : start + at_once]])


def wanted_boxes(image: AnnotatedImage) -> dict[str, Tensor]:
    """All boxes of an image, crowds too, in pixels of the resized image: what is evaluated against."""
    return {
        "boxes": torch.from_numpy(resized_boxes(image)),
        "labels": torch.from_numpy(image.labels),
        "iscrowd": torch.from_numpy(image.crowd.astype(np.int64)),
    }


def resized_boxes(image: AnnotatedImage) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """[n, 4] the boxes of an image once it is stretched to SIZE x SIZE."""
    return image.boxes * np.tile(SIZE / np.array([image.width, image.height], np.float32), 2)


def decoded(image: AnnotatedImage) -> Tensor:
    """uint8 [3, SIZE, SIZE], bilinear with antialiasing; grey images in three equal channels.

    Raises:
        UserError: the file cannot be decoded, or its size is not the annotated one.
    """
    try:
        with Image.open(image.file) as opened:
            pixels: Tensor = F.pil_to_tensor(opened.convert("RGB"))
    except Exception as error:  # Pillow's decoders have many ways to say that a picture is damaged
        raise UserError(
            f"{image.file} cannot be decoded, it may be cut or no image; fetch it again, or leave cut files "
            "out with 'options: {on_error: skip}'."
        ) from error
    height, width = pixels.shape[1:]
    if (width, height) != (image.width, image.height):
        raise UserError(
            f"{image.file} has {width} x {height} pixels, but its annotation says {image.width} x "
            f"{image.height}, so its boxes would be wrong; fetch both again."
        )
    resized: Tensor = F.resize(pixels, [SIZE, SIZE], antialias=True)
    return resized
