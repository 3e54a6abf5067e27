"""scikit-learn's handwritten digits and a small conv net: seconds a trial, no download.

Data: 1,797 grey 8x8 images of ten classes (UCI ML hand-written digits, test part, as shipped with
scikit-learn under BSD-3), split once and for all into 1,400 for training and 397 for validation, stratified.
"""

from __future__ import annotations

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import Tensor, nn

from models import Standardise, convnet
from pipelines import RandomShift
from study.workloads.classification import ClassificationWorkload, classification_metrics
from study.workloads.options import WorkloadOptions


class DigitsConvnet(ClassificationWorkload):
    """Classify digits; augmentation shifts each image by up to one pixel in both directions."""

    augment = RandomShift(1)

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        images, labels = load_digits(return_X_y=True)
        train_x, valid_x, train_y, valid_y = train_test_split(
            images, labels, train_size=1400, test_size=397, random_state=0, stratify=labels
        )
        self._train = _as_tensors(train_x, train_y)
        self._valid = _as_tensors(valid_x, valid_y)

    def train_data(self) -> tuple[Tensor, Tensor]:
        """Images [1400, 1, 8, 8] float32 in 0..1, labels [1400] int64."""
        return self._train

    def model(self) -> nn.Module:
        """A conv net of 13,706 weights on pixels standardised with the training set's mean and deviation."""
        images, _ = self._train
        return nn.Sequential(
            Standardise(images.mean().item(), images.std().item()), convnet(image_size=8, width=16)
        )

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Accuracy and cross entropy on the 397 validation images."""
        images, labels = self._valid
        return classification_metrics(model, images.to(device), labels.to(device))


def _as_tensors(images: object, labels: object) -> tuple[Tensor, Tensor]:
    """Pixels 0..16 to 0..1, with a channel axis."""
    x = torch.as_tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16
    return x, torch.as_tensor(labels, dtype=torch.int64)
