"""The journal of a study: what has ended and may not be in the store yet, on disk before all else.

An entry is in the journal before the sweep counts it, and leaves it once the store holds it. A store that
does not answer delays results, then, and loses none: the next driver reads them here, and writes them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from study.entry import Entry
from study.errors import UserError


class Journal:
    """A file of entries, one a line, in the order in which they are to be written.

    Entries of an earlier driver that are still in it come first. Safe between two threads: one appends, the
    other says what has been written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._waiting = sum(1 for _ in read_journal(path))
        self._end = path.read_bytes().rfind(b"\n") + 1 if path.exists() else 0

    @property
    def waiting(self) -> int:
        """How many entries are not known to be in the store."""
        return self._waiting

    def append(self, entry: Entry) -> None:
        """Add an entry: on disk when this returns. `UserError`, and no half entry, where it cannot be."""
        line = entry.as_line().encode() + b"\n"
        with self._lock:
            try:
                with open(self.path, "ab") as file:
                    file.truncate(self._end)
                    file.write(line)
                    file.flush()
                    os.fsync(file.fileno())
            except OSError as error:
                with suppress(OSError):
                    os.truncate(self.path, self._end)
                raise UserError(
                    f"Cannot write results to {self.path} ({error.strerror}); free some room or make it "
                    "writable, and run the same command again: nothing that has ended before is lost."
                ) from error
            self._end += len(line)
            self._waiting += 1

    def written(self) -> None:
        """The oldest entry is in the store; once all are, the file goes."""
        with self._lock:
            self._waiting -= 1
            if self._waiting == 0:
                self.path.unlink(missing_ok=True)
                self._end = 0


def read_journal(path: Path) -> Iterator[Entry]:
    """The entries of a journal; of a line that a dying driver left half-written there is nothing to know."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except FileNotFoundError:
        return
    for line in lines:
        if line.endswith("\n"):
            with suppress(ValueError, TypeError, KeyError):
                yield Entry.from_line(line)
