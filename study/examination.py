"""What `echostudy doctor` looks at on one machine: a node of a cluster, or this one."""

from __future__ import annotations

import platform
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from study.errors import UserError
from study.storage import Storage
from study.workloads.carried import at_hand
from study.workloads.options import WorkloadOptions

PACKAGES = ("ray", "torch", "torchvision", "numpy")
"""What a node has to have in the versions of the driver, for results to be comparable."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a study needs of a machine; on the storage, the driver has left `driver`, which holds `text`."""

    storage: Storage
    text: bytes
    workload: str | None
    options: WorkloadOptions
    workload_text: bytes | None


@dataclass(frozen=True, slots=True)
class Facts:
    """What was found on a machine; `storage` and `data` are empty where all is well, else say what is not.

    `answer` is the file that was left on the storage. `gpus` are those that PyTorch sees, `free_bytes` is the
    room on the storage as seen from there (in the system's temporary folder, where it is no folder there),
    `versions` has `python` and `PACKAGES`.
    """

    answer: str
    versions: dict[str, str]
    storage: str
    data: str
    gpus: int
    free_bytes: int


def examine(wanted: Wanted, answer: str) -> Facts:
    """Look at this machine; leaves a file named `answer` on the storage, for the driver to find."""
    import torch

    storage = _storage(wanted, answer)
    folder = wanted.storage.place
    if storage or "://" in folder:
        folder = tempfile.gettempdir()
    return Facts(
        answer=answer,
        versions=versions(),
        storage=storage,
        data=_data(wanted),
        gpus=torch.cuda.device_count(),
        free_bytes=shutil.disk_usage(folder).free,
    )


def versions() -> dict[str, str]:
    """The versions of Python and of `PACKAGES` here."""
    return {"python": platform.python_version()} | {name: _version(name) for name in PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def _storage(wanted: Wanted, answer: str) -> str:
    try:
        if wanted.storage.read("driver") != wanted.text:
            return "is not there, or is another folder there"
        wanted.storage.write(answer, wanted.text)
    except OSError as error:
        return f"cannot be used there ({error.strerror or str(error).splitlines()[0]})"
    return ""


def _data(wanted: Wanted) -> str:
    if wanted.workload is None:
        return ""
    from study.workloads.load import load_workload

    try:
        load_workload(at_hand(wanted.workload, wanted.workload_text), wanted.options).train_data()
    except UserError as error:
        return str(error)
    return ""
