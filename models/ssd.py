"""SSD detectors, of torchvision's parts: Liu et al., arXiv 1512.02325.

All are `torchvision.models.detection.SSD`: in training mode they take a list of float images [C, H, W] in
0..1 and a list of `{"boxes": [n, 4], "labels": [n]}` and give `{"bbox_regression", "classification"}`, the
two parts of the mean loss a matched box; in evaluation mode they take images alone and give a list of
`{"boxes", "scores", "labels"}`. Boxes are left, top, right, bottom in pixels. Label 0 is the background:
classes count from 1, and `num_classes` includes it. Initialisation draws from torch's global generator:
seed it first.
"""

from __future__ import annotations

from torch import Tensor, nn
from torchvision.models.detection import ssd300_vgg16
from torchvision.models.detection.anchor_utils import DefaultBoxGenerator
from torchvision.models.detection.ssd import SSD


def ssd300(num_classes: int = 91) -> SSD:
    """SSD for RGB images of 300 x 300 pixels on VGG-16, as torchvision builds it; weights are random.

    With torchvision's 91 classes (COCO's category ids up to 90, and the background) it has 35,641,826
    weights. Other image sizes are resized.
    """
    return ssd300_vgg16(weights=None, weights_backbone=None, num_classes=num_classes)


def ssd_small(*, num_classes: int, image_size: int = 96, channels: int = 1, width: int = 16) -> SSD:
    """SSD for small square images of objects about a quarter as high and wide; trains on a CPU.

    Four 3x3 convolutions of stride 2, each with batch normalisation and ReLU; boxes are read off the last two
    feature maps, of strides 8 and 16. With `num_classes=11, width=16` it has 201,192 weights.

    Args:
        num_classes: with the background.
        image_size: height and width in pixels, a multiple of 16; other sizes are resized.
        channels: of the images.
        width: channels of the first feature map; the others have 2, 4 and 8 times as many.

    Raises:
        ValueError: the image size is no multiple of 16.
    """
    if image_size <= 0 or image_size % 16:
        raise ValueError(f"image_size must be a multiple of 16 (it is halved four times), not {image_size}")
    return SSD(
        _SmallBackbone(channels, width),
        DefaultBoxGenerator([[2], [2]], scales=[0.25, 0.35, 0.6]),
        (image_size, image_size),
        num_classes,
        image_mean=[0.5] * channels,
        image_std=[0.25] * channels,
        # Few objects an image: keep evaluation cheap.
        score_thresh=0.05,
        topk_candidates=50,
        detections_per_img=20,
    )


class _SmallBackbone(nn.Module):
    """Feature maps of strides 8 and 16; `out_channels` tells SSD their channels."""

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.fine = nn.Sequential(
            _halving(channels, width), _halving(width, 2 * width), _halving(2 * width, 4 * width)
        )
        self.coarse = _halving(4 * width, 8 * width)
        self.out_channels = [4 * width, 8 * width]

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        """The two feature maps of images [batch, channels, size, size]."""
        fine = self.fine(x)
        return {"fine": fine, "coarse": self.coarse(fine)}


def _halving(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel_size=3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )
