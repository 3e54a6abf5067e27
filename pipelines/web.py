"""One HTTP connection: a file from some byte on, as it comes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import aiohttp
import fsspec  # type: ignore[import-untyped]

_TRY_LATER = (408, 429)
_SKIPPED_AT_ONCE = 1 << 18
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


class WebFile:
    """What follows byte `position` of a file, in one stream: no block is asked for, and none is kept.

    Args:
        address: http:// or https://, with the options that fsspec has been configured with.
        position: where to begin. The server is asked for the rest; if it sends all, the beginning is dropped.
        timeout_s: seconds without a byte, or an answer.

    Attributes:
        size: bytes of the whole file, where the server says so.
        tag: what this version of the file has for its own (a strong ETag), where the server has such.

    Raises:
        OSError: nobody answers, or tells to try later; likewise while reading, if it breaks off.
        FileNotFoundError, aiohttp.ClientError: the address is refused for good.
    """

    def __init__(self, address: str, position: int, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        storage, path = fsspec.core.url_to_fs(address)
        headers = storage.kwargs.get("headers", {}) | {"Accept-Encoding": "identity"}
        if position:
            headers |= {"Range": f"bytes={position}-"}
        with self._told_as_os_errors():
            # block_size=0 asks for a stream; a size given, whatever it is, spares a request for it
            self._file = storage.open(
                path,
                block_size=0,
                size=1,
                headers=headers,
                auto_decompress=False,  # the tar's bytes are counted, and it unpacks itself
                timeout=aiohttp.ClientTimeout(
                    total=None, connect=timeout_s, sock_connect=timeout_s, sock_read=timeout_s
                ),
            )
        try:
            self.size, self.tag, begin = _facts(self._file.r)
            self._skip(position - begin)
        except BaseException:
            self.close()
            raise

    def read(self, most: int) -> bytes:
        """What has come, at least a byte and at most so many; none at the end."""
        with self._told_as_os_errors():
            content: bytes = self._file.read(most)
        return content

    def close(self) -> None:
        """Hang up."""
        self._file.close()

    def _skip(self, count: int) -> None:
        if count < 0:
            raise ConnectionError(f"the server left out {-count} bytes")
        while count:
            skipped = len(self.read(min(count, _SKIPPED_AT_ONCE)))
            if not skipped:
                raise ConnectionError(f"it ended {count} bytes earlier than before")
            count -= skipped

    @contextmanager
    def _told_as_os_errors(self) -> Iterator[None]:
        """Errors that may pass become `OSError`s, those of other storage; the others stay."""
        try:
            yield
        except TimeoutError as error:
            raise TimeoutError(f"nothing came for {self._timeout_s:g} s") from error
        except aiohttp.ClientResponseError as error:
            if error.status in _TRY_LATER or error.status >= 500:
                raise ConnectionError(f"the server answered {error.status} {error.message}") from error
            raise
        except aiohttp.InvalidURL:
            raise
        except aiohttp.ClientError as error:
            raise ConnectionError(f"{error}") from error


def _facts(answer: Any) -> tuple[int | None, str | None, int]:
    """Of an answer: size and tag of the whole file, and the byte that it begins with."""
    headers = answer.headers
    tag = headers.get("ETag", "")
    strong = tag if tag.startswith('"') else None
    if answer.status == 206:
        place = _RANGE.match(headers.get("Content-Range", ""))
        if place is None:
            raise ConnectionError("the server sent a part of the file and did not say which")
        return (None if place[2] == "*" else int(place[2])), strong, int(place[1])
    length = headers.get("Content-Length")
    return (None if length is None else int(length)), strong, 0
