"""A small convolutional network for small grey images."""

from __future__ import annotations

import torch
from torch import nn


def convnet(*, image_size: int, channels: int = 1, width: int = 16, num_classes: int = 10) -> nn.Sequential:
    """Two 3x3 convolutions, each followed by 2x2 max pooling and ReLU, and one hidden linear layer.

    Input: float images [batch, channels, image_size, image_size], `image_size` a multiple of 4.
    Output: logits [batch, num_classes]. With `image_size=8, width=16` it has 13,706 weights.
    Initialisation is PyTorch's default and draws from torch's global generator: seed it before the call.
    """
    if image_size % 4:
        raise ValueError(f"image_size must be a multiple of 4 (it is halved twice), not {image_size}")
    features = 2 * width * (image_size // 4) ** 2
    # Pooling before ReLU gives the same and is cheaper; so is keeping channels last, on CPUs and GPUs alike.
    return nn.Sequential(
        nn.Conv2d(channels, width, kernel_size=3, padding=1),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, kernel_size=3, padding=1),
        nn.MaxPool2d(2),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(features, 4 * width),
        nn.ReLU(),
        nn.Linear(4 * width, num_classes),
    ).to(memory_format=torch.channels_last)
