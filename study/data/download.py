"""Download a file by HTTP: resumed where it was cut, checked, and moved into place only when it is whole.

What has come so far lies in `NAME.part`, beside `NAME.part.version`: the server's mark of the version it is a
part of (`ETag` or `Last-Modified`). A later call asks for the rest of that very version (`If-Range`).
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from pathlib import Path

from study.data.checks import Progress, checksum, no_progress

_BLOCK = 1 << 18
_TIMEOUT_S = 60.0


class FetchError(Exception):
    """One origin did not give what was wanted; the words say why, to go after its name."""


class _CutError(FetchError):
    """The connection ended too early: worth another try, from where it ended."""


def download(
    url: str,
    file: Path,
    right_checksum: str | None = None,
    progress: Progress = no_progress,
    *,
    tries: int = 5,
    pause_s: float = 1.0,
) -> None:
    """Make `file` from `url`; a file that is there already stays as it is.

    A cut connection is taken up again up to `tries` times in all, with pauses that double from `pause_s`.

    Raises:
        FetchError: the server cannot be reached or refuses, it gives up too often, or the checksum is wrong
            (then nothing is kept; else what has come stays, for the next call).
    """
    if file.exists():
        return
    part = _Part(file)
    for number in range(tries):
        try:
            part.load_rest(url, progress)
            break
        except _CutError:
            if number == tries - 1:
                raise
            time.sleep(pause_s * 2**number)
    if right_checksum is not None:
        found = checksum(part.path, right_checksum.partition(":")[0], progress)
        if found != right_checksum:
            part.drop()
            raise FetchError(f"gave {file.name} with the checksum {found}, not {right_checksum}")
    part.path.replace(file)
    part.drop()


class _Part:
    """What has come of a file so far."""

    def __init__(self, file: Path) -> None:
        self.path = file.with_name(f"{file.name}.part")
        self._version = file.with_name(f"{file.name}.part.version")

    def drop(self) -> None:
        """Forget it."""
        self.path.unlink(missing_ok=True)
        self._version.unlink(missing_ok=True)

    def load_rest(self, url: str, progress: Progress) -> None:
        """Load what is missing; all of it, where the server cannot give the rest of the same version."""
        headers = {"User-Agent": "echostudy", "Accept-Encoding": "identity"}
        version = self._version.read_text(encoding="utf-8") if self._version.exists() else ""
        have = self.path.stat().st_size if version and self.path.exists() else 0
        if have:
            headers |= {"Range": f"bytes={have}-", "If-Range": version}
        try:
            with urllib.request.urlopen(
                urllib.request.Request(url, headers=headers), timeout=_TIMEOUT_S
            ) as answer:
                self._take(answer, have if answer.status == 206 else 0, progress)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == 416:  # nothing comes after what is there: it is whole, or of another file
                    self._whole_or_dropped(error.headers.get("Content-Range", ""), have)
                    return
                raise FetchError(f"answered {error.code} {error.reason}") from error
        except urllib.error.URLError as error:
            raise FetchError(f"cannot be reached ({_reason(error)})") from error
        except (http.client.HTTPException, OSError) as error:
            raise _CutError(f"broke off ({_reason(error)})") from error

    def _take(self, answer: http.client.HTTPResponse, start: int, progress: Progress) -> None:
        """Write the answer's body to the file, from byte `start` on."""
        length = answer.headers.get("Content-Length")
        total = start + int(length) if length is not None else None
        name = self.path.stem
        if not start:
            self._note_version(answer)
        done = start
        with self.path.open("r+b" if start else "wb") as stream:
            stream.seek(start)
            while block := answer.read1(_BLOCK):  # not `read`: what came before a cut would be lost
                stream.write(block)
                done += len(block)
                progress(f"downloading {name}", done, total)
            stream.truncate()
        if total is not None and done < total:
            raise _CutError(f"broke off after {done:,} of {total:,} bytes")

    def _note_version(self, answer: http.client.HTTPResponse) -> None:
        """Keep the mark that a later `If-Range` needs; weak ones do not serve (RFC 9110, section 13.1.5)."""
        tag = answer.headers.get("ETag", "")
        version = tag if tag.startswith('"') else answer.headers.get("Last-Modified", "")
        self._version.write_text(version, encoding="utf-8")

    def _whole_or_dropped(self, content_range: str, have: int) -> None:
        """After `416 Range Not Satisfiable`: the part is whole if it is as long as the server's file."""
        if content_range.rpartition("/")[2] != str(have):
            self.drop()
            raise _CutError("has another version of the file by now")


def _reason(error: Exception) -> str:
    """The words of an error, without the wrapping of urllib and the system's number."""
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    return getattr(inner, "strerror", None) or str(inner) or type(inner).__name__
