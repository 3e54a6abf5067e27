"""Plain factories of the studied models; they know nothing of studies or data."""

from models.convnet import convnet
from models.resnet import resnet8, resnet32, resnet50
from models.standardise import Standardise

__all__ = ["Standardise", "convnet", "resnet8", "resnet32", "resnet50"]
