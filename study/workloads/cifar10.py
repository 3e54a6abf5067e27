"""The paper's CIFAR-10 workload: ResNet-32, Nesterov momentum, linear decay of the learning rate.

Choi et al., arXiv 1907.05550, table 1. Augmentation as usual for this data set (He et al., arXiv 1512.03385,
section 4.2): crops out of images padded by 4 pixels, and flips; the paper's own is not known.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models import Standardise, resnet32
from pipelines import Compose, RandomCrop, RandomFlip
from study.data.cifar10 import LabelledImages, read_split
from study.workloads.classification import ClassificationWorkload, classification_metrics
from study.workloads.options import WorkloadOptions

MEAN = (125.3, 123.0, 113.9)
STD = (63.0, 62.1, 66.7)
"""Of the training images' red, green and blue, 0 to 255."""


class Cifar10ResNet32(ClassificationWorkload):
    """Classify CIFAR-10: 45,000 images for training, 5,000 for validation."""

    augment = Compose(RandomCrop(4), RandomFlip())

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        train, valid, self.skipped = read_split(skip=options.on_error == "skip")
        self._train, self._valid = _as_tensors(train), _as_tensors(valid)

    def train_data(self) -> tuple[Tensor, Tensor]:
        """Images [45000, 3, 32, 32] uint8, labels [45000] int64."""
        return self._train

    def model(self) -> nn.Module:
        """A ResNet-32 of 464,154 weights on standardised pixels."""
        return nn.Sequential(Standardise(MEAN, STD), resnet32())

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Accuracy and cross entropy on the 5,000 validation images, which are not augmented."""
        images, labels = self._valid
        return classification_metrics(model, images.to(device), labels.to(device), at_once=1000)


def _as_tensors(part: LabelledImages) -> tuple[Tensor, Tensor]:
    return torch.from_numpy(part.images), torch.from_numpy(part.labels)
