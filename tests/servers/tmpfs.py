"""A small disk of our own, which can be filled to the last byte; to mount it takes root."""

from __future__ import annotations

import subprocess
from contextlib import suppress
from pathlib import Path


class SmallDisk:
    """A tmpfs of some megabytes at `folder`, for the duration of the block."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        self._options = f"size={megabytes}m"
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """Leave no room for another byte."""
        with open(self._ballast, "wb", buffering=0) as file, suppress(OSError):
            for size in (2**20, 2**12, 1):
                with suppress(OSError):
                    while file.write(b"x" * size) == size:
                        pass

    def empty(self) -> None:
        """Give the room back."""
        self._ballast.unlink(missing_ok=True)

    def __enter__(self) -> SmallDisk:
        self.folder.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", self._options, "echostudy-tests", str(self.folder)]
        subprocess.run(command, check=True)
        return self

    def __exit__(self, *error: object) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)
