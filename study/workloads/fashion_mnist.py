"""Fashion-MNIST and a small conv net, or the smallest residual network of the CIFAR family: minutes a trial.

Data: the 60,000 training images of Fashion-MNIST (Xiao, Rasul, Vollgraf, arXiv 1708.07747), split once and
for all, stratified: eleven twelfths, 55,000, for training, and out of the rest for validation as many as a
trial can afford to look at often. The 10,000 test images are not touched.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

from models import Standardise, convnet, resnet8
from pipelines import Compose, RandomCrop, RandomFlip, RandomShift
from study.data.fashion_mnist import CLASSES, SIZE, Bytes, read_fashion_mnist
from study.workloads.classification import ClassificationWorkload, classification_metrics
from study.workloads.options import WorkloadOptions


class FashionMnist(ClassificationWorkload):
    """The data; subclasses bring model and augmentation.

    Raises:
        UserError: the data are not there, or broken.
    """

    valid_examples: ClassVar[int]

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        images, labels = read_fashion_mnist("train")
        train = len(labels) * 11 // 12
        train_ids, valid_ids = train_test_split(
            np.arange(len(labels)),
            train_size=train,
            test_size=min(self.valid_examples, len(labels) - train),
            random_state=0,
            stratify=labels,
        )
        self._train = _as_tensors(images[train_ids], labels[train_ids])
        self._valid = _as_tensors(images[valid_ids], labels[valid_ids])
        pixels = images[train_ids].astype(np.float32)
        self._standardise = float(pixels.mean()), float(pixels.std())

    def train_data(self) -> tuple[Tensor, Tensor]:
        """Images [55000, 1, 28, 28] uint8, labels [55000] int64."""
        return self._train

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Accuracy and cross entropy on the validation images."""
        images, labels = self._valid
        return classification_metrics(model, images.to(device), labels.to(device), at_once=500)

    def standardised(self, model: nn.Module) -> nn.Module:
        """`model` behind a standardisation by the training pixels' mean and deviation."""
        return nn.Sequential(Standardise(*self._standardise), model)


class FashionMnistConvnet(FashionMnist):
    """A conv net of 105,866 weights; each image is shifted by up to 2 pixels in both directions."""

    augment = RandomShift(2)
    valid_examples = 2000

    def model(self) -> nn.Module:
        """Bytes in, logits of the ten classes out."""
        return self.standardised(convnet(image_size=SIZE, width=16, num_classes=len(CLASSES)))


class FashionMnistResNet8(FashionMnist):
    """ResNet-8, 75,002 weights, with batch norm; images are padded by 2 pixels, cropped and mirrored."""

    augment = Compose(RandomCrop(2), RandomFlip())
    valid_examples = 1000

    def model(self) -> nn.Module:
        """Bytes in, logits of the ten classes out."""
        return self.standardised(resnet8(num_classes=len(CLASSES), in_channels=1))


def _as_tensors(images: Bytes, labels: Bytes) -> tuple[Tensor, Tensor]:
    """With a channel axis."""
    return torch.from_numpy(images)[:, None], torch.from_numpy(labels.astype(np.int64))
