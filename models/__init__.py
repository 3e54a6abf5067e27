"""Plain factories of the studied models; they know nothing of studies or data."""

from models.convnet import convnet

__all__ = ["convnet"]
