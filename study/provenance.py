"""Where a result comes from: code, packages, machine and data, as flat tags without paths or host names."""

from __future__ import annotations

import hashlib
import platform
import subprocess
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

import psutil
import torch
from torch import Tensor

PACKAGES = ("echostudy", "mlflow", "numpy", "ray", "scikit-learn", "scipy", "torch", "torchvision")


def provenance(data: Iterable[Tensor]) -> dict[str, str]:
    """All provenance tags of a study run on this machine with this training data."""
    packages = {f"echostudy.version.{name}": version(name) for name in PACKAGES}
    return {**_git(), **packages, **_hardware(), "echostudy.data_checksum": checksum(data)}


def checksum(data: Iterable[Tensor]) -> str:
    """SHA-256 over shapes, dtypes and bytes of the tensors, in order."""
    digest = hashlib.sha256()
    for part in data:
        digest.update(f"{tuple(part.shape)} {part.dtype}".encode())
        digest.update(part.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _git() -> Mapping[str, str]:
    """Commit and dirtiness of the checkout this code runs from; `unknown` for an installed package."""
    try:
        commit = _git_output("rev-parse", "HEAD")
        dirty = bool(_git_output("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return {"echostudy.git_commit": "unknown", "echostudy.git_dirty": "unknown"}
    return {"echostudy.git_commit": commit, "echostudy.git_dirty": str(dirty).lower()}


def _git_output(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    ).stdout.strip()


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
