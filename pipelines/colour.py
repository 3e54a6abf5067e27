"""Random changes of colour, for images with 3 channels: integers 0..255, or floats 0..1."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torchvision.transforms.v2 import functional as F

from pipelines.augment import ImageAugmentation
from pipelines.by_image import image_by_image
from pipelines.checks import real_number
from pipelines.crop import between, require_range
from pipelines.draws import Draws
from pipelines.pixels import Array

_ADJUST = {
    "brightness": F.adjust_brightness,
    "contrast": F.adjust_contrast,
    "saturation": F.adjust_saturation,
    "hue": F.adjust_hue,
}
Step = tuple[str, float | list[int]]
"""What is adjusted, and by which factor; or ("channels", their new order)."""


def adjusted(image: torch.Tensor, steps: Sequence[Step]) -> torch.Tensor:
    """`image` [channels, height, width] after the steps, one after the other."""
    for name, value in steps:
        image = image[value] if isinstance(value, list) else _ADJUST[name](image, value)
    return image


class _Recolouring(ImageAugmentation):
    """Adjusts each image by steps of its own."""

    def apply(self, images: Array, draws: Draws) -> Array:
        """See `ImageAugmentation`."""
        if images.shape[1] != 3:
            raise ValueError(
                f"{self!r} is for images with 3 channels, but they have {images.shape[1]}; leave it out."
            )
        steps = self.steps(draws)
        return image_by_image(images, lambda image, i: adjusted(image, steps[i]))

    @abstractmethod
    def steps(self, draws: Draws) -> list[list[Step]]:
        """For each example what is done to it, in order."""


@dataclass(frozen=True)
class ColorJitter(_Recolouring):
    """Adjusts brightness, contrast, saturation and hue by random factors in random order.

    As torchvision's transform of this name: with setting x, a factor is uniform in `[max(0, 1 - x), 1 + x]`,
    and hue is moved by up to the setting, at most half the colour circle; 0 leaves a property as it is.
    """

    brightness: float = 0.0
    contrast: float = 0.0
    saturation: float = 0.0
    hue: float = 0.0

    def __post_init__(self) -> None:
        for name in ("brightness", "contrast", "saturation"):
            real_number(getattr(self, name), f"ColorJitter: {name}", 0, "give a number, 0 or more")
        real_number(self.hue, "ColorJitter: hue", 0, "give a number from 0 to 0.5", 0.5)

    def steps(self, draws: Draws) -> list[list[Step]]:
        """See `_Recolouring`."""
        ranges = {name: (max(0.0, 1 - x), 1 + x) for name in _ADJUST if (x := getattr(self, name))}
        if self.hue:
            ranges["hue"] = (-self.hue, self.hue)
        factors = {name: between(limits, draws.uniform(name)[:, 0]) for name, limits in ranges.items()}
        orders = draws.uniform("order", len(_ADJUST)).argsort(axis=1).tolist()
        names = list(_ADJUST)
        return [
            [(names[k], float(factors[names[k]][i])) for k in order if names[k] in factors]
            for i, order in enumerate(orders)
        ]


@dataclass(frozen=True)
class PhotometricDistort(_Recolouring):
    """SSD's distortion of colours: Liu et al., arXiv 1512.02325, section 2.2.

    As torchvision's RandomPhotometricDistort: brightness, contrast, saturation and hue are each adjusted, and
    the channels exchanged, with probability `probability`; contrast comes before saturation or after hue,
    each half of the time.
    """

    brightness: tuple[float, float] = (0.875, 1.125)
    contrast: tuple[float, float] = (0.5, 1.5)
    saturation: tuple[float, float] = (0.5, 1.5)
    hue: tuple[float, float] = (-0.05, 0.05)
    probability: float = 0.5

    def __post_init__(self) -> None:
        for name in ("brightness", "contrast", "saturation"):
            require_range(getattr(self, name), f"PhotometricDistort: {name}", 0.0, 100.0)
        require_range(self.hue, "PhotometricDistort: hue", -0.5, 0.5)
        advice = "give a probability, 0 to 1"
        real_number(self.probability, "PhotometricDistort: probability", 0, advice, 1)

    def steps(self, draws: Draws) -> list[list[Step]]:
        """See `_Recolouring`."""
        factors = {name: between(getattr(self, name), draws.uniform(name)[:, 0]) for name in _ADJUST}
        wanted = draws.uniform("wanted", 5) < self.probability
        contrast_first = draws.uniform("contrast first")[:, 0] < 0.5
        channels = draws.uniform("channels", 3).argsort(axis=1)
        return [
            self._steps_of_one({name: float(factors[name][i]) for name in _ADJUST}, *row)
            for i, row in enumerate(zip(wanted, contrast_first, channels.tolist(), strict=True))
        ]

    @staticmethod
    def _steps_of_one(
        factors: dict[str, float], wanted: NDArray[np.bool_], contrast_first: bool, channels: list[int]
    ) -> list[Step]:
        last = () if contrast_first else ("contrast",)
        order = [name for name in _ADJUST if name not in last] + list(last)
        is_wanted = dict(zip((*_ADJUST, "channels"), wanted.tolist(), strict=True))
        steps: list[Step] = [(name, factors[name]) for name in order if is_wanted[name]]
        return [*steps, ("channels", channels)] if is_wanted["channels"] else steps
