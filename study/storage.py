"""Where unfinished trials keep their state: a folder, or an object store that all nodes reach."""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from study.errors import UserError

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem


@dataclass(frozen=True, slots=True)
class Storage:
    """A study's checkpoints, whole or not there at all; plain text, so that it travels to any node.

    `place` is an absolute folder, or the address of an object store as PyArrow takes it: `s3://bucket/path`,
    with `?endpoint_override=host:9000&scheme=http` for one that is not Amazon's, or `gs://bucket/path`.
    `folder` is the study's within it.
    """

    place: str
    folder: str

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Put it there in one step, in place of an older one; makes the folder."""
        if "://" in self.place:
            files, folder = self._opened()
            with files.open_output_stream(
                f"{folder}/{name}"
            ) as stream:  # an object is there once it is closed
                stream.write(data)
            return
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{name}.{secrets.token_hex(4)}.part")
        try:
            part.write_bytes(data)
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise

    def read(self, name: str) -> bytes | None:
        """What is there; None if nothing is. `OSError` if it cannot be read."""
        try:
            if "://" not in self.place:
                return self._path(name).read_bytes()
            files, folder = self._opened()
            with files.open_input_file(f"{folder}/{name}") as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            return None

    def remove(self, name: str) -> None:
        """Delete it if it is there, and what a process has left behind that died writing it."""
        if "://" not in self.place:
            path = self._path(name)
            for one in (path, *path.parent.glob(f"{name}.*.part")):
                one.unlink(missing_ok=True)
            return
        files, folder = self._opened()
        if files.get_file_info(f"{folder}/{name}").is_file:
            files.delete_file(f"{folder}/{name}")

    def clear(self) -> None:
        """Delete all of the folder, if it is there."""
        if "://" not in self.place:
            shutil.rmtree(self._path(""), ignore_errors=True)
            return
        files, folder = self._opened()
        if files.get_file_info(folder).type.name != "NotFound":
            files.delete_dir(folder)

    def _path(self, name: str) -> Path:
        return Path(self.place, self.folder, name)

    def _opened(self) -> tuple[FileSystem, str]:
        files, path = _file_system(self.place)
        return files, f"{path.rstrip('/')}/{self.folder}"


@lru_cache(maxsize=4)
def _file_system(place: str) -> tuple[FileSystem, str]:
    """PyArrow's file system for an address, and the path in it; opening one may ask the network."""
    from pyarrow.fs import FileSystem

    files, path = FileSystem.from_uri(place)
    return files, str(path)


def checkpoint_name(trial_id: str) -> str:
    """What a trial's checkpoint is called in its study's storage."""
    return f"{trial_id}.pt"


def check_place(place: str) -> None:
    """`UserError` if checkpoints cannot be kept there, as far as the text tells; nothing is opened."""
    if "://" not in place:
        if not Path(place).is_absolute():
            raise UserError(
                f"'{place}' is not the same folder on every node; give an absolute one, or s3://bucket/path."
            )
        return
    parts = urlsplit(place)
    if parts.scheme not in ("s3", "gs", "file"):
        raise UserError(
            f"Checkpoints cannot be kept at '{parts.scheme}://'; give a folder, or s3://bucket/path."
        )
    if "@" in parts.netloc:
        raise UserError(
            "The address of the checkpoints has a key in it, which log files would show; set "
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY on the nodes instead."
        )
