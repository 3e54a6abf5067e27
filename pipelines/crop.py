"""Random resized crop, ImageNet's augmentation: Szegedy et al., arXiv 1409.4842, section 6."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torchvision.transforms.v2 import functional as F

from pipelines.augment import ImageAugmentation
from pipelines.by_image import image_by_image
from pipelines.checks import real_number, whole_number
from pipelines.draws import Draws
from pipelines.exchange import Ints
from pipelines.pixels import Array

_TRIES = 10

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RandomResizedCrop(ImageAugmentation):
    """Cuts out a random part of each image and resizes it to `size` x `size`, bilinear with antialiasing.

    As torchvision's transform of this name: area and aspect ratio are drawn, the latter uniformly in its
    logarithm, up to ten times, until the part fits; else it is the largest part in the middle whose ratio is
    allowed.

    Attributes:
        size: height and width of the result, in pixels.
        area: range of the part's area, as shares of the image's.
        ratio: range of its width / height.
    """

    size: int
    area: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)

    def __post_init__(self) -> None:
        whole_number(self.size, "RandomResizedCrop: size", 1, "give a number of pixels, 1 or more")
        require_range(self.area, "RandomResizedCrop: area", 1e-6, 1.0)
        require_range(self.ratio, "RandomResizedCrop: ratio", 1e-3, 1e3)

    def apply(self, images: Array, draws: Draws) -> Array:
        """See `ImageAugmentation`."""
        height, width = images.shape[-2:]
        parts = self.parts(height, width, draws).tolist()
        return image_by_image(
            images, lambda image, i: F.resized_crop(image, *parts[i], [self.size, self.size], antialias=True)
        )

    def parts(self, height: int, width: int, draws: Draws) -> Ints:
        """[examples, 4] the part of each image `height` x `width`: top, left, height, width in pixels."""
        areas = between(self.area, draws.uniform("area", _TRIES)) * (height * width)
        narrowest, widest = map(math.log, self.ratio)
        ratios = np.exp(between((narrowest, widest), draws.uniform("ratio", _TRIES)))
        widths, heights = np.rint(np.sqrt(areas * ratios)), np.rint(np.sqrt(areas / ratios))
        fits = (widths > 0) & (widths <= width) & (heights > 0) & (heights <= height)
        first = fits.argmax(axis=1)
        rows = np.arange(len(first))
        size = np.stack([heights[rows, first], widths[rows, first]], axis=1)
        room = np.array([height, width]) - size + 1
        corner = np.floor(draws.uniform("corner", 2) * room)
        drawn = np.concatenate([corner, size], axis=1).astype(np.int64)
        return np.where(fits.any(axis=1, keepdims=True), drawn, self._middle(height, width))

    def _middle(self, height: int, width: int) -> Ints:
        """The largest part in the middle that has an allowed ratio."""
        narrowest, widest = self.ratio
        high, wide = height, width
        if width / height < narrowest:
            high = round(width / narrowest)
        elif width / height > widest:
            wide = round(height * widest)
        return np.array([(height - high) // 2, (width - wide) // 2, high, wide])


def between(limits: tuple[float, float], share: Floats) -> Floats:
    """Numbers in [0, 1), stretched to the range."""
    return limits[0] + share * (limits[1] - limits[0])


def require_range(limits: tuple[float, float], name: str, at_least: float, at_most: float) -> None:
    """`ValueError` unless `limits` are two numbers in rising order, from `at_least` to `at_most`."""
    advice = f"give two numbers in rising order, from {at_least} to {at_most}"
    if not isinstance(limits, tuple) or len(limits) != 2:
        raise ValueError(f"{name} is {limits!r}; {advice}.")
    low = real_number(limits[0], name, at_least, advice, at_most)
    real_number(limits[1], name, low, advice, at_most)
