"""The paper's ImageNet workload: ResNet-50, Nesterov momentum, linear decay of the learning rate.

Choi et al., arXiv 1907.05550, table 1. Photos are streamed, decoded by as many threads as the trial has
processors, and augmented on the trial's device: a random resized crop to 224 pixels (Szegedy et al., arXiv
1409.4842) and flips, as usual for this data set; the paper's own augmentation is not known.

So that all decoded photos are of one size, the random crop is taken out of a square of 256 pixels from the
photo's middle, and not out of the whole photo. What is validated on is the usual: the shorter side resized to
256 pixels, and the 224 x 224 in the middle.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torchvision.transforms.v2.functional import center_crop

from models import Standardise, resnet50
from pipelines import Compose, MapSource, RandomFlip, StreamSource
from pipelines.crop import RandomResizedCrop
from study.data.imagenet import training_photos, validation_photos
from study.workloads.classification import ClassificationWorkload, metrics_over
from study.workloads.options import WorkloadOptions

SIZE = 224
MEAN = (123.675, 116.28, 103.53)
STD = (58.395, 57.12, 57.375)
"""Of the training photos' red, green and blue, 0 to 255; torchvision's numbers."""

_AT_ONCE = 256


class ImageNetResNet50(ClassificationWorkload):
    """Classify ImageNet, from folders or tar shards: 1,281,167 photos for training, 50,000 for validation."""

    augment = Compose(RandomResizedCrop(SIZE), RandomFlip())

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        threads, skip = torch.get_num_threads(), options.on_error == "skip"
        self._train = training_photos(threads=threads, skip=skip)
        self._valid = validation_photos(threads=threads, skip=skip)
        self.skipped = self._train.skipped + self._valid.skipped

    def train_data(self) -> MapSource | StreamSource:
        """Photos [3, 256, 256] uint8, labels int64."""
        return self._train

    def model(self) -> nn.Module:
        """A ResNet-50 of 25,557,032 weights on standardised pixels; each block begins as its shortcut.

        The latter as Goyal et al., arXiv 1706.02677, for large batches and high learning rates.
        """
        return nn.Sequential(Standardise(MEAN, STD), resnet50(zero_gamma=True))

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Accuracy and cross entropy on the validation photos, never all of which are in memory."""

        def prepared(photos: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
            return center_crop(photos, [SIZE, SIZE]).to(device), labels.to(device)

        metrics = metrics_over(model, (prepared(*batch) for batch in self._valid.in_order(_AT_ONCE)))
        self.skipped = self._train.skipped + self._valid.skipped
        return metrics
