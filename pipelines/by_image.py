"""Pixel work that torchvision does, one image at a time, on arrays and tensors alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from numpy.typing import NDArray

from pipelines.pixels import Array

Change = Callable[[torch.Tensor, int], torch.Tensor]
"""Makes a new image from image number i of a batch."""


def image_by_image(images: Array, change: Change) -> Array:
    """The batch of `change(images[i], i)`: a tensor on the same device, or an array, as `images` are."""
    tensors = images if isinstance(images, torch.Tensor) else torch.from_numpy(_writeable(images))
    changed = torch.stack([change(image, i) for i, image in enumerate(tensors)])
    return changed if isinstance(images, torch.Tensor) else changed.numpy()


def _writeable(images: NDArray[Any]) -> NDArray[Any]:
    """`images`, or a copy of them: torch warns of arrays that it must not write to."""
    return images if images.flags.writeable else images.copy()
