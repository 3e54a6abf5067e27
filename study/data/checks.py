"""Is a data set there, and is it what it should be: files counted, checksums compared."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from study.data.catalogue import DataSet, Part

Progress = Callable[[str, int, int | None], None]
"""Called with what is being done, how many bytes of it are done, and of how many (None: not known)."""


def no_progress(what: str, done: int, total: int | None) -> None:
    """Keeps quiet."""


@dataclass(frozen=True, slots=True)
class PartCheck:
    """What was found of one part.

    Attributes:
        files: how many match its pattern.
        known: how many checksums are known.
        verified: how many files have the right one.
        faults: sentences about what is not as it should be.
    """

    part: Part
    files: int
    known: int
    verified: int
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetCheck:
    """What was found of a data set in `folder`."""

    folder: Path
    parts: tuple[PartCheck, ...]

    @property
    def faults(self) -> tuple[str, ...]:
        """Everything that is not as it should be; empty: the data set is sound."""
        return tuple(fault for part in self.parts for fault in part.faults)


def presence(data_set: DataSet, folder: Path) -> str:
    """`yes`, `in part` or `no`, from a glance: has each part at least one file? No counting, no checksums."""
    found = [next(folder.glob(part.pattern), None) is not None for part in data_set.parts_in(folder)]
    if all(found):
        return "yes"
    return "in part" if any(found) else "no"


def check_data_set(data_set: DataSet, folder: Path, progress: Progress = no_progress) -> SetCheck:
    """Count the files of every part in `folder`, and compare the checksums that are known."""
    known = data_set.checksums()
    parts = data_set.parts_in(folder)
    return SetCheck(folder, tuple(_check_part(part, folder, known, progress) for part in parts))


def checksum(file: Path, kind: str, progress: Progress = no_progress) -> str:
    """`kind:...`, the file's checksum; `kind` is md5 or sha256."""
    digest = hashlib.new(kind, usedforsecurity=False)
    total, done = file.stat().st_size, 0
    with file.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
            done += len(block)
            progress(f"checking {file.name}", done, total)
    return f"{kind}:{digest.hexdigest()}"


def _check_part(part: Part, folder: Path, checksums: dict[str, str], progress: Progress) -> PartCheck:
    known = {folder / path: right for path, right in checksums.items() if Path(path).match(part.pattern)}
    files = verified = 0
    wrong = []
    for file in folder.glob(part.pattern):
        files += 1
        right = known.get(file)
        if right is None:
            if not file.stat().st_size:
                wrong.append(f"{file} is empty")
        elif checksum(file, right.partition(":")[0], progress) == right:
            verified += 1
        else:
            wrong.append(f"{file} is not what was published: its {right.partition(':')[0]} differs")
    missing = [f"{file} is missing" for file in known if not file.exists()]
    if not missing and (files < part.files or (files > part.files and not part.or_more)):
        wanted = f"{part.files:,} or more" if part.or_more else f"{part.files:,}"
        missing = [f"{folder / part.pattern} matches {files:,} files, not {wanted}"]
    return PartCheck(part, files, len(known), verified, (*missing, *sorted(wrong)))
