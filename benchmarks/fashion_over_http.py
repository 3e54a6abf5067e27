"""The Fashion-MNIST conv net, whose training images are streamed from tar shards (`fashion_shards.py`).

A workload of one's own, as any: `workload: fashion_over_http.py:FashionOverHttp` in a study file. The
environment's ECHOSTUDY_SHARDS has the shards' paths or addresses, with spaces between.
"""

from __future__ import annotations

import io
import os

import numpy as np
from PIL import Image

from pipelines import TarSource
from study.errors import UserError
from study.workloads.fashion_mnist import FashionMnistConvnet
from study.workloads.options import WorkloadOptions


class FashionOverHttp(FashionMnistConvnet):
    """As `FashionMnistConvnet`, but for where the training images come from."""

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        shards = os.environ.get("ECHOSTUDY_SHARDS", "").split()
        if not shards:
            raise UserError("ECHOSTUDY_SHARDS is not set; give it paths or addresses of tar shards.")
        self._source = TarSource(shards, decode)

    def train_data(self) -> TarSource:  # type: ignore[override]
        """Images [1, 28, 28] uint8 and labels, as they come."""
        return self._source


def decode(files: dict[str, bytes]) -> tuple[np.ndarray, np.int64]:
    """An image and its label."""
    return np.asarray(Image.open(io.BytesIO(files["png"])))[None], np.int64(files["cls"].decode())
