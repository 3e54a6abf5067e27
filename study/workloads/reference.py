"""How a study names a user's own workload, `path/to/mine.py:MyWorkload`: text and paths, no code is run."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def is_own(workload: str) -> bool:
    """True if a study's `workload` names a file and not one of ours."""
    return ":" in workload or workload.endswith(".py")


def own_reference(workload: str, folder: Path) -> str:
    """`workload` with its path absolute; relative paths count from `folder`. Ours stay as they are."""
    if not is_own(workload):
        return workload
    path, name = parts(workload)
    return f"{os.path.abspath(folder / path)}:{name}"


def own_file(workload: str) -> Path | None:
    """The file whose code is run; None for one of ours."""
    return Path(parts(workload)[0]) if is_own(workload) else None


def workload_name(workload: str) -> str:
    """What ids, tables and MLflow call a workload: ours as it is, `mine.py:MyWorkload` for a user's own."""
    if not is_own(workload):
        return workload
    path, name = parts(workload)
    return f"{Path(path).name}:{name}"


def source_digest(workload: str) -> str | None:
    """SHA-256 of the file whose code is run; None for one of ours, or where there is no file."""
    file = own_file(workload)
    return hashlib.sha256(file.read_bytes()).hexdigest() if file and file.is_file() else None


def parts(workload: str) -> tuple[str, str]:
    """Path and name; the path's own colons stay with it."""
    path, _, name = workload.rpartition(":")
    return (path, name) if path else (workload, "")
