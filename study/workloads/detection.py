"""What detection workloads have in common: the form of their boxes, loss, metric, optimizer and schedule.

Our labels count from 0 and boxes are packed (`pipelines.detection`); for torchvision's detectors label 0 is
the background, so that labels go up by one on their way in and down on their way out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torchmetrics.detection import MeanAveragePrecision

from pipelines.detection import unpack_boxes
from study.schedules import Schedule, WarmupExponential, constant
from study.workloads.base import Workload
from study.workloads.optimizers import heavy_ball

Boxes = Mapping[str, Tensor]
"""Of one image: `boxes` [n, 4], `labels` [n] from 0; `scores` [n] if detected, `iscrowd` [n] if annotated."""


class DetectionWorkload(Workload):
    """A torchvision detector, momentum SGD, and SSD's schedule if the study asks for it.

    Understands `study.workloads.cards.detection.METAPARAMETERS`. Subclasses add the data, `model`, and
    `evaluate`, for which `detect` and `average_precision` are at hand.
    """

    def loss(self, model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
        """See `detection_loss`."""
        return detection_loss(model, inputs, targets)

    def optimizer(self, model: nn.Module, metaparameters: Mapping[str, float]) -> torch.optim.Optimizer:
        """SGD with classical momentum."""
        return heavy_ball(model, metaparameters)

    def schedule(self, metaparameters: Mapping[str, float]) -> Schedule:
        """Warm-up over `warmup_updates`, then times `decay_factor` every `decay_every` updates.

        What is not searched is left out: no warm-up, or no decay.
        """
        given = {"warmup_updates", "decay_every"} & metaparameters.keys()
        if not given:
            return constant
        return WarmupExponential(
            metaparameters.get("warmup_updates", 0.0),
            metaparameters.get("decay_every", 1.0),
            metaparameters.get("decay_factor", 0.1) if "decay_every" in given else 1.0,
        )


def detection_loss(model: nn.Module, images: Tensor, boxes: Tensor) -> Tensor:
    """Sum of torchvision's losses of place and class, each a mean over the boxes matched in the batch.

    Args:
        model: a torchvision detector in training mode.
        images: uint8 [batch, channels, height, width], or floats in 0..1.
        boxes: [batch, rows, 5], see `pipelines.detection`.
    """
    wanted = [{"boxes": one["boxes"].float(), "labels": one["labels"] + 1} for one in unpack_boxes(boxes)]
    losses: Mapping[str, Tensor] = model(list(in_unit_range(images)), wanted)
    return torch.stack(list(losses.values())).sum()


def detect(model: nn.Module, images: Iterable[Tensor], device: torch.device) -> Iterator[Boxes]:
    """What the model, on `device`, sees in each image of the batches; the boxes come to the CPU."""
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
    `wanted`, at overlaps (intersection over union) 0.5, 0.55, ..., 0.95, of the 100 best detections an image.
    Detections within a box of `iscrowd` are neither right nor wrong. Scaling an image's width and height
    changes nothing, as it scales both areas of an overlap.

    Args:
        detected: of every image.
        wanted: the annotated boxes of the same images, in the same order; at least one box that is no crowd.
    """
    metric = MeanAveragePrecision(
        box_format="xyxy",
        iou_type="bbox",
        backend="pycocotools",
        # torchmetrics' own are in single precision, which moves a recall of 1/5 past the point 0.2
        iou_thresholds=np.linspace(0.5, 0.95, 10).tolist(),
        rec_thresholds=np.linspace(0, 1, 101).tolist(),
    )
    metric.warn_on_many_detections = False  # COCO's rules say that those past the 100 best do not count
    metric.update([dict(one) for one in detected], [dict(one) for one in wanted])
    values = metric.compute()
    return {"valid_map": values["map"].item(), "valid_map50": values["map_50"].item()}


def in_unit_range(images: Tensor) -> Tensor:
    """uint8 pixels as floats in 0..1; floats as they are."""
    return images.float() / 255 if images.dtype == torch.uint8 else images
