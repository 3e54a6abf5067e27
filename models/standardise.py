"""Standardisation as the first layer of a model, so that the data keep their own scale (black stays 0)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn


class Standardise(nn.Module):
    """`(x - mean) / std` with fixed numbers: any shape in, the same shape out, in float.

    With a number a channel instead, `x` is images [..., channels, height, width], of whole numbers or floats.
    """

    mean: Tensor
    std: Tensor

    def __init__(self, mean: float | Sequence[float], std: float | Sequence[float]) -> None:
        super().__init__()
        for name, numbers in (("mean", torch.tensor(mean)), ("std", torch.tensor(std))):
            self.register_buffer(name, numbers[:, None, None] if numbers.ndim else numbers)
        if not (self.std > 0).all():
            raise ValueError(f"Standardise: std is {std}, but it divides the data; give numbers above 0.")

    def forward(self, x: Tensor) -> Tensor:
        """Standardise a batch."""
        return (x - self.mean) / self.std
