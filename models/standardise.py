"""Standardisation as the first layer of a model, so that the data keep their own scale (black stays 0)."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Standardise(nn.Module):
    """`(x - mean) / std` with fixed numbers; any shape in, the same shape out."""

    mean: Tensor
    std: Tensor

    def __init__(self, mean: float, std: float) -> None:
        super().__init__()
        if not std > 0:
            raise ValueError(f"Standardise: std is {std}, but it divides the data; give a number above 0.")
        self.register_buffer("mean", torch.tensor(mean))
        self.register_buffer("std", torch.tensor(std))

    def forward(self, x: Tensor) -> Tensor:
        """Standardise a batch."""
        return (x - self.mean) / self.std
