"""Plain factories of the studied models; they know nothing of studies or data."""

from models.convnet import convnet
from models.standardise import Standardise

__all__ = ["Standardise", "convnet"]
