"""A user's own workload on a machine that has not got its file: the text of the file goes along."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from study.workloads.reference import own_file, parts


def carried_text(workload: str) -> bytes | None:
    """What has to go along for a workload: its file's text; None for one of ours."""
    file = own_file(workload)
    return file.read_bytes() if file is not None else None


def at_hand(workload: str, text: bytes | None) -> str:
    """A reference to the same workload that is good on this machine: to its file, or to a copy of it."""
    file = own_file(workload)
    if text is None or file is None or (file.is_file() and file.read_bytes() == text):
        return workload
    return f"{_copy(file.name, text)}:{parts(workload)[1]}"


@lru_cache(maxsize=8)
def _copy(name: str, text: bytes) -> Path:
    """A copy that goes when this process ends."""
    folder = tempfile.mkdtemp(prefix="echostudy-workload-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    copy = Path(folder, name)
    copy.write_bytes(text)
    return copy
