"""What detection workloads share: the form of their boxes, the loss, and mean average precision.

Our labels count from 0 and boxes are packed (`pipelines.detection`); for torchvision's detectors label 0 is
the background, so that labels go up by one on their way in and down on their way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import torch
from torch import Tensor, nn
from torchmetrics.detection import MeanAveragePrecision

from pipelines.detection import unpack_boxes

Boxes = Mapping[str, Tensor]
"""Of one image: `boxes` [n, 4], `labels` [n] from 0; `scores` [n] if detected, `iscrowd` [n] if annotated."""


def detection_loss(model: nn.Module, images: Tensor, boxes: Tensor) -> Tensor:
    """Sum of torchvision's localisation and classification losses, each a mean over the matched boxes.

    Args:
        model: a torchvision detector in training mode.
        images: uint8 [batch, channels, height, width], or floats in 0..1.
        boxes: [batch, rows, 5], see `pipelines.detection`.
    """
    wanted = [{"boxes": one["boxes"].float(), "labels": one["labels"] + 1} for one in unpack_boxes(boxes)]
    losses = model(list(in_unit_range(images)), wanted)
    return torch.stack(list(losses.values())).sum()


def detect(model: nn.Module, images: Iterable[Tensor], device: torch.device) -> Iterator[Boxes]:
    """What the model sees in each image of the batches, on the CPU, best first."""
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            for batch in images:
                for seen in model(list(in_unit_range(batch.to(device)))):
                    found = {name: values.cpu() for name, values in seen.items()}
                    yield found | {"labels": found["labels"] - 1}
    finally:
        model.train(was_training)


def average_precision(detected: Iterable[Boxes], wanted: Sequence[Boxes]) -> dict[str, float]:
    """`valid_map`, COCO's mean average precision, and `valid_map50`, the same at an overlap of 0.5 alone.

    By torchmetrics on pycocotools: 101-point precision-recall curves, over the classes that occur in
    `wanted`, at overlaps (intersection over union) 0.5, 0.55, ..., 0.95, of the 100 best detections an
    image. Detections within a box of `iscrowd` are neither right nor wrong. Scaling an image's width and
    height changes nothing, as it scales both areas of an overlap.

    Args:
        detected: of every image.
        wanted: the annotated boxes of the same images, in the same order; at least one box.
    """
    metric = MeanAveragePrecision(box_format="xyxy", iou_type="bbox", backend="pycocotools")
    metric.warn_on_many_detections = False  # more than 100 detections are cut off, as COCO's rules say
    metric.update([dict(one) for one in detected], [dict(one) for one in wanted])
    values = metric.compute()
    return {"valid_map": values["map"].item(), "valid_map50": values["map_50"].item()}


def in_unit_range(images: Tensor) -> Tensor:
    """uint8 pixels as floats in 0..1; floats as they are."""
    return images.float() / 255 if images.dtype == torch.uint8 else images
