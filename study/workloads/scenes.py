"""Composed scenes of Fashion-MNIST objects and a small SSD: detection in minutes on a CPU.

Of Fashion-MNIST's 60,000 training images, every twelfth is a validation object and the others are training
objects: no object of a validation scene was ever seen in training. 4,000 training and 150 validation scenes,
the same in every process. The official test images stay untouched. Composed data: never a benchmark.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from models import ssd_small
from pipelines import Compose
from pipelines.detection import RandomFlipWithBoxes, RandomIoUCrop, unpack_boxes
from study.data.fashion_mnist import CLASSES, Bytes, read_fashion_mnist
from study.data.scenes import Scenes, compose_scenes
from study.workloads.detection import DetectionWorkload, average_precision, detect
from study.workloads.options import WorkloadOptions

SIZE = 96
"""Height and width of a scene, in pixels."""

TRAIN_SCENES, VALID_SCENES = 4000, 150
"""Or one an object, if there are fewer objects."""

_VALID_EVERY = 12
_AT_ONCE = 50


class ScenesSsd(DetectionWorkload):
    """Find and name 1 to 5 articles of clothing among clutter; augmentation crops and flips."""

    augment = Compose(RandomIoUCrop(SIZE, smallest=0.7), RandomFlipWithBoxes())

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        objects, labels = read_fashion_mnist("train")
        held_out = np.arange(len(objects)) % _VALID_EVERY == 0
        self._train = _composed(objects[~held_out], labels[~held_out], TRAIN_SCENES, seed=0)
        self._valid = _composed(objects[held_out], labels[held_out], VALID_SCENES, seed=1)
        self._wanted = unpack_boxes(self._valid.boxes)

    def train_data(self) -> tuple[Tensor, Tensor]:
        """Scenes uint8 [4000, 1, 96, 96] and their boxes float32 [4000, 5, 5], see `pipelines.detection`."""
        return self._train.images, self._train.boxes

    def valid_data(self) -> tuple[Tensor, Tensor]:
        """Likewise of the 150 validation scenes."""
        return self._valid.images, self._valid.boxes

    def model(self) -> nn.Module:
        """`ssd_small` for the ten classes."""
        model: nn.Module = ssd_small(num_classes=1 + len(CLASSES), image_size=SIZE)
        return model

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Mean average precision on the validation scenes."""
        return average_precision(
            detect(model, torch.split(self._valid.images, _AT_ONCE), device), self._wanted
        )


def _composed(objects: Bytes, labels: Bytes, most: int, seed: int) -> Scenes:
    return compose_scenes(objects, labels, scenes=min(most, len(objects)), size=SIZE, seed=seed)
