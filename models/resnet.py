"""Residual networks: He et al., "Deep residual learning for image recognition", arXiv 1512.03385.

The small ones are those of its section 4.2, for images of 32x32 or so; ResNet-50 is torchvision's.
"""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F

_WIDTHS = (16, 32, 64)


def resnet8(*, num_classes: int = 10, in_channels: int = 3, zero_gamma: bool = False) -> nn.Module:
    """The smallest residual network of its family: as `resnet32`, with one block a stage; 75,290 weights."""
    return _SmallResNet(1, num_classes, in_channels, zero_gamma)


def resnet32(*, num_classes: int = 10, in_channels: int = 3, zero_gamma: bool = False) -> nn.Module:
    """The CIFAR ResNet of 32 layers, shortcuts of option A (without weights): 464,154 weights.

    Input: float images [batch, in_channels, height, width] of any size; CIFAR's are 32x32.
    Output: logits [batch, num_classes].

    Convolutions begin with He's normal initialisation (fan-out, arXiv 1502.01852), batch norms as the
    identity, or with `zero_gamma` each block as its shortcut (arXiv 1706.02677, section 5.1). Draws from
    torch's global generator: seed it before the call.
    """
    return _SmallResNet(5, num_classes, in_channels, zero_gamma)


def resnet50(*, num_classes: int = 1000, zero_gamma: bool = False) -> nn.Module:
    """Torchvision's ResNet-50, untrained: with 1,000 classes 25,557,032 weights.

    Input: float images [batch, 3, height, width]; ImageNet's are 224x224. Output: logits
    [batch, num_classes]. The stride lies in a block's 3x3 convolution ("v1.5"). Initialisation as `resnet32`.
    """
    from torchvision import models  # seconds to import, and no other model here needs it

    net: nn.Module = models.resnet50(num_classes=num_classes, zero_init_residual=zero_gamma)
    return net


class _SmallResNet(nn.Sequential):
    """A 3x3 convolution, three stages of blocks, each at half the resolution of the last, a linear layer."""

    def __init__(self, blocks: int, num_classes: int, in_channels: int, zero_gamma: bool) -> None:
        layers: list[nn.Module] = [
            _convolution(in_channels, _WIDTHS[0]),
            nn.BatchNorm2d(_WIDTHS[0]),
            nn.ReLU(inplace=True),
        ]
        width = _WIDTHS[0]
        for stage_width in _WIDTHS:
            for _ in range(blocks):
                layers.append(_Block(width, stage_width))
                width = stage_width
        super().__init__(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, num_classes))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            elif zero_gamma and isinstance(module, _Block):
                nn.init.zeros_(module.norm2.weight)


class _Block(nn.Module):
    """`relu(shortcut(x) + F(x))`, where F is two 3x3 convolutions."""

    def __init__(self, width_in: int, width_out: int) -> None:
        super().__init__()
        self.stride = 1 if width_in == width_out else 2
        self.more_channels = width_out - width_in
        self.conv1 = _convolution(width_in, width_out, self.stride)
        self.norm1 = nn.BatchNorm2d(width_out)
        self.conv2 = _convolution(width_out, width_out)
        self.norm2 = nn.BatchNorm2d(width_out)

    def forward(self, x: Tensor) -> Tensor:
        """Images [batch, width_in, h, w] to [batch, width_out, ceil(h / stride), ceil(w / stride)]."""
        residual = F.relu(self.norm1(self.conv1(x)), inplace=True)
        residual = self.norm2(self.conv2(residual))
        return F.relu(residual + self.shortcut(x), inplace=True)

    def shortcut(self, x: Tensor) -> Tensor:
        """x; or by option A every other pixel of every other row, and zeros for the channels that are new."""
        if self.stride == 1:
            return x
        return F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.more_channels))


def _convolution(width_in: int, width_out: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(width_in, width_out, kernel_size=3, stride=stride, padding=1, bias=False)
