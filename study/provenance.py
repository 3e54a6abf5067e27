"""Where a result comes from: code, packages, machine and data, as flat tags without paths or host names."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import numpy as np
import psutil
import torch
from torch import Tensor

from pipelines import MapSource
from study.commit import commit_tags
from study.workloads.base import TrainData

PACKAGES = (
    "echostudy",
    "mlflow",
    "numpy",
    "optuna",
    "pillow",
    "pycocotools",
    "ray",
    "scikit-learn",
    "scipy",
    "tokenizers",
    "torch",
    "torchmetrics",
    "torchvision",
)
"""Whose versions may decide a result: they choose points, decode data, train and measure."""

SAMPLE = 16
"""Examples of a map-style source that stand for all of it in the checksum."""


def provenance(data: TrainData) -> dict[str, str]:
    """All provenance tags of a study run on this machine with this training data."""
    packages = {f"echostudy.version.{name}": version(name) for name in PACKAGES}
    return {**commit_tags(), **packages, **_hardware(), **_data(data)}


def checksum(data: Iterable[Tensor]) -> str:
    """SHA-256 over shapes, dtypes and bytes of the tensors, in order."""
    digest = hashlib.sha256()
    for part in data:
        digest.update(f"{tuple(part.shape)} {part.dtype}".encode())
        digest.update(part.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _data(data: TrainData) -> dict[str, str]:
    """The data's checksum, and what it covers: a source is too large to be read for it."""
    if isinstance(data, tuple):
        covered, value = "all training data", checksum(data)
    elif isinstance(data, MapSource):
        covered = f"{SAMPLE} examples of {data.examples}, evenly spaced"
        value = checksum(_sample(data))
    else:
        covered, value = "the identity of the stream", hashlib.sha256(data.identity.encode()).hexdigest()
    return {"echostudy.data_checksum": value, "echostudy.data_checksum_covers": covered}


def _sample(source: MapSource) -> tuple[Tensor, Tensor]:
    """`SAMPLE` examples of a source, from its first to its last (repeated if it has fewer)."""
    ids = np.linspace(0, source.examples - 1, SAMPLE).round().astype(np.int64)
    inputs, targets = next(source.read([ids]))
    return torch.as_tensor(inputs), torch.as_tensor(targets)


def _hardware() -> Mapping[str, str]:
    gpus = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    return {
        "echostudy.hardware.cpu": _cpu_model(),
        "echostudy.hardware.cores": str(psutil.cpu_count(logical=True)),
        "echostudy.hardware.memory_gib": f"{psutil.virtual_memory().total / 2**30:.1f}",
        "echostudy.hardware.gpus": ", ".join(gpus) or "none",
        "echostudy.system": f"{platform.system()} {platform.machine()} Python {platform.python_version()}",
    }


def _cpu_model() -> str:
    """The CPU's name where the system tells it (Linux), else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
