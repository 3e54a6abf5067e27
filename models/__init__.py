"""Plain factories of the studied models; they know nothing of studies or data."""

from models.convnet import convnet
from models.resnet import resnet8, resnet32, resnet50
from models.ssd import ssd300, ssd_small
from models.standardise import Standardise
from models.transformer import transformer_lm

__all__ = [
    "Standardise",
    "convnet",
    "resnet8",
    "resnet32",
    "resnet50",
    "ssd300",
    "ssd_small",
    "transformer_lm",
]
