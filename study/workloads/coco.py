"""COCO and SSD 300, the paper's detection workload: COCO 2017's 118,287 training and 5,000 validation images.

Augmentation is SSD's (arXiv 1512.02325, section 2.2) without its zooming out: colours, crop and flip.
Images are resized to 300 x 300 as they are read, so that a crop is taken from those pixels.
"""

from __future__ import annotations

import torch
from torch import nn

from models import ssd300
from pipelines import Compose, DatasetSource
from pipelines.colour import PhotometricDistort
from pipelines.detection import RandomFlipWithBoxes, RandomIoUCrop
from study.data.coco import read_annotations
from study.data.coco_images import SIZE, CocoTraining, image_batches, wanted_boxes
from study.errors import UserError
from study.workloads.detection import DetectionWorkload, average_precision, detect
from study.workloads.options import WorkloadOptions

_AT_ONCE = 32


class CocoSsd(DetectionWorkload):
    """Find and name objects of COCO's 80 categories. Weights start at random, the backbone's too.

    Option `on_error`: "skip" leaves out annotations that are wrong and images that are missing or cut.
    """

    augment = Compose(PhotometricDistort(), RandomIoUCrop(SIZE), RandomFlipWithBoxes())

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        skip = options.on_error == "skip"
        train, valid = (read_annotations(split, skip=skip) for split in ("train2017", "val2017"))
        if train.categories != valid.categories:
            raise UserError(
                "COCO's annotations of train2017 and val2017 list different categories; fetch both again."
            )
        if all(one.crowd.all() for one in valid.images):
            raise UserError("COCO's annotations of val2017 have no box to find; fetch them again.")
        self.skipped = sum(sum(split.skipped.values()) for split in (train, valid))
        self._categories = train.categories
        # One process reads on every core of the trial's slot but that which trains; the stream is the same.
        self._train = DatasetSource(CocoTraining(train.images), workers=torch.get_num_threads() - 1)
        self._valid = valid.images
        self._wanted = [wanted_boxes(one) for one in valid.images]

    def train_data(self) -> DatasetSource:
        """Images uint8 [3, 300, 300] and their boxes float32 [100, 5], see `CocoTraining`."""
        return self._train

    def model(self) -> nn.Module:
        """`ssd300` for the data set's categories, official: 80."""
        model: nn.Module = ssd300(num_classes=1 + len(self._categories))
        return model

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """Mean average precision on all validation images, those without a box too."""
        return average_precision(detect(model, image_batches(self._valid, _AT_ONCE), device), self._wanted)
