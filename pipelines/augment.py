"""Augmentations: what they may do, and those for images.

All work on whole batches, and every random choice comes from the draws they are given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from pipelines.checks import described, is_pair, real_number, rows, whole_number
from pipelines.draws import Draws
from pipelines.pixels import Array, as_array_on_cpu, mirrored, shifted_crop


class Augmentation(Protocol):
    """What an augmentation is: anything that can be called like this.

    It

    - gets a batch of `inputs` and `targets` (whatever the data hold; first axis = batch) and returns both, as
      many of each;
    - takes every random choice from `draws`, one row an example, under names that say what is drawn;
    - treats each example by itself, so that the result does not depend on who shares its batch;
    - does not change its arguments in place: they may be shared with the example's later copies;
    - has a `repr` that names its settings, as a dataclass has: a saved state knows its pipeline by it.
    """

    def __call__(self, inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
        """Augmented inputs and targets."""
        ...


def augmented(augment: Augmentation, inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
    """What an augmentation makes of inputs and targets; a `ValueError` if these are not as many as before."""
    made = augment(inputs, targets, draws)
    if not is_pair(made, rows(inputs), rows(targets)):
        raise ValueError(
            f"The augmentation {augment!r} gave {described(made)} for {rows(inputs)} examples; let it "
            "return the pair (inputs, targets), with a row for each example in both."
        )
    inputs, targets = made
    return inputs, targets


@dataclass(frozen=True)
class Compose:
    """Augmentations one after the other, each with draws of its own."""

    steps: tuple[Augmentation, ...]

    def __init__(self, *steps: Augmentation) -> None:
        for step in steps:
            if not callable(step):
                raise ValueError(f"Compose: {step!r} is no augmentation; give what can be called like one.")
        object.__setattr__(self, "steps", steps)

    def __call__(self, inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
        """See `Augmentation`."""
        for number, step in enumerate(self.steps):
            inputs, targets = augmented(step, inputs, targets, draws.within(number))
        return inputs, targets


class ImageAugmentation(ABC):
    """Changes images [batch, ..., height, width] and leaves the targets alone."""

    def __call__(self, inputs: Array, targets: Any, draws: Draws) -> tuple[Array, Any]:
        """See `Augmentation`."""
        images = as_array_on_cpu(inputs)
        if images.ndim < 3:
            raise ValueError(
                f"{self!r} is for images [batch, ..., height, width], but the inputs have shape "
                f"{tuple(inputs.shape)}; reshape them, or leave it out."
            )
        result = self.apply(images.reshape(len(images), -1, *images.shape[-2:]), draws)
        result = result.reshape(*images.shape[:-2], *result.shape[-2:])
        tensor_in_array_out = isinstance(inputs, torch.Tensor) and not isinstance(result, torch.Tensor)
        return torch.from_numpy(result) if tensor_in_array_out else result, targets

    @abstractmethod
    def apply(self, images: Array, draws: Draws) -> Array:
        """New images from `images` [batch, channels, height, width], which stay as they are."""


@dataclass(frozen=True)
class RandomShift(ImageAugmentation):
    """Moves each image by up to `pixels` in both directions, uniformly; black comes in at the edges."""

    pixels: int

    def __post_init__(self) -> None:
        whole_number(self.pixels, "RandomShift: pixels", 0, "give a number of pixels, 0 or more")

    def apply(self, images: Array, draws: Draws) -> Array:
        """See `ImageAugmentation`."""
        top, left = draws.integers("shift", 0, 2 * self.pixels + 1, 2).T
        return shifted_crop(images, top, left, self.pixels)


@dataclass(frozen=True)
class RandomCrop(ImageAugmentation):
    """Pads each image with `padding` black pixels on every side and cuts its own size out of that, uniformly.

    The usual augmentation of CIFAR-10 (with padding 4), next to `RandomFlip`.
    """

    padding: int = 4

    def __post_init__(self) -> None:
        whole_number(self.padding, "RandomCrop: padding", 0, "give a number of pixels, 0 or more")

    def apply(self, images: Array, draws: Draws) -> Array:
        """See `ImageAugmentation`."""
        top, left = draws.integers("crop", 0, 2 * self.padding + 1, 2).T
        return shifted_crop(images, top, left, self.padding)


@dataclass(frozen=True)
class RandomFlip(ImageAugmentation):
    """Exchanges left and right with the given probability."""

    probability: float = 0.5

    def __post_init__(self) -> None:
        real_number(self.probability, "RandomFlip: probability", 0, "give a probability, 0 to 1", at_most=1)

    def apply(self, images: Array, draws: Draws) -> Array:
        """See `ImageAugmentation`."""
        return mirrored(images, draws.uniform("flip")[:, 0] < self.probability)
