"""The bytes of a shard from its front, over as many connections as it takes."""

from __future__ import annotations

import io
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import fsspec  # type: ignore[import-untyped]

from pipelines.checks import real_number, whole_number
from pipelines.sources import SourceError

_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
_MOST_DOUBLINGS = 6
_BLOCK = 1 << 18
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Patience:
    """What is done where a connection fails: nobody answers, it breaks off, nothing comes any more.

    Attributes:
        retries: how many times in a row it is tried again without a byte more than before.
        timeout_s: seconds in which a server has to answer, or to go on. Storage other than HTTP has timeouts
            of its own.
        pause_s: seconds before the first retry; doubled for each further one, up to 64 times as long.
        sleep: waits so many seconds.

    Raises:
        ValueError: a number is out of range.
    """

    retries: int = 4
    timeout_s: float = 30.0
    pause_s: float = 1.0
    sleep: Callable[[float], object] = time.sleep

    def __post_init__(self) -> None:
        whole_number(self.retries, "retries", 0, "give a number of tries after the first, or 0")
        real_number(self.timeout_s, "timeout_s", sys.float_info.min, "give seconds, more than 0")
        real_number(self.pause_s, "pause_s", 0, "give seconds, or 0")

    def pause_before(self, retry: int) -> float:
        """Seconds to wait before retry number 1, 2, ... in a row."""
        return float(self.pause_s * 2 ** min(retry - 1, _MOST_DOUBLINGS))


def open_shard(shard: str, patience: Patience) -> Any:
    """The shard as a binary file that is read from the front, each byte once, however often it breaks off.

    A local file is opened as it is. The others are opened again where they broke off; over HTTP the rest is
    asked for, and what a server sends of the beginning all the same is dropped. What the server says is not
    there, or not ours to read, is not tried again; whatever else it refuses neither, but for "try later".

    Raises:
        SourceError: when reading: it was tried as often as `patience` says, or the shard has changed since it
            was opened. Other errors of the storage pass through.
    """
    if fsspec.utils.get_protocol(shard) == "file":
        return fsspec.open(shard, "rb").open()
    return io.BufferedReader(_Steady(shard, patience), _BLOCK)


class _Steady(io.RawIOBase):
    """A remote file that is connected to anew wherever it breaks off."""

    def __init__(self, shard: str, patience: Patience) -> None:
        self._shard, self._patience = shard, patience
        self._position = 0
        self._file: Any = None
        self._version: tuple[int | None, str | None] = None, None

    def readable(self) -> bool:
        """See `io.RawIOBase`."""
        return True

    def readinto(self, buffer: Any) -> int:
        """See `io.RawIOBase`; gives what has come, which may be less than there is room for."""
        retries = 0
        while True:
            try:
                content = self._more(len(buffer))
                break
            except OSError as error:
                self._hang_up()
                if isinstance(error, _FINAL):
                    raise
                self._wait_or_give_up(retries, error)
                retries += 1
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)

    def close(self) -> None:
        """See `io.RawIOBase`."""
        self._hang_up()
        super().close()

    def _more(self, most: int) -> bytes:
        if self._file is None:
            self._file = _connect(self._shard, self._position, self._patience.timeout_s)
            self._check_version(getattr(self._file, "size", None), getattr(self._file, "tag", None))
        content: bytes = self._file.read(most)
        size = self._version[0]
        if not content and size is not None and self._position < size:
            raise ConnectionError(f"it ended before byte {size}")
        return content

    def _check_version(self, *version: Any) -> None:
        """Of a shard that has been replaced meanwhile, the rest does not fit to what has been read."""
        for known, now in zip(self._version, version, strict=True):
            if None not in (known, now) and known != now:
                raise SourceError(
                    f"Shard {self._shard} has changed while it was read, somewhere before byte "
                    f"{self._position}; leave shards as they are during training, and read it again."
                )
        self._version = version

    def _wait_or_give_up(self, retries: int, error: OSError) -> None:
        what = f"{type(error).__name__}: {error}"
        if retries == self._patience.retries:
            raise SourceError(
                f"Shard {self._shard} cannot be read beyond byte {self._position}: tried {retries + 1} times "
                f"in a row, at last {what}; check the server, or give it more retries or a longer timeout_s."
            ) from error
        pause_s = self._patience.pause_before(retries + 1)
        _log.warning(
            "Shard %s broke off at byte %d (%s); trying again in %g s.",
            self._shard,
            self._position,
            what,
            pause_s,
        )
        self._patience.sleep(pause_s)

    def _hang_up(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            file.close()


def _connect(shard: str, position: int, timeout_s: float) -> Any:
    """A file that goes on at `position`; may know its whole `size`, and a `tag` that no other version has."""
    if shard.startswith(("http://", "https://")):
        from pipelines.web import WebFile  # aiohttp, for those who need it

        return WebFile(shard, position, timeout_s)
    file = fsspec.open(shard, "rb").open()
    if position:
        file.seek(position)
    return file
