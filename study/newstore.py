"""Making a new store ahead of time: nothing is in its place before all checks have passed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from study.folder import ResultsFolder


@dataclass(frozen=True, slots=True)
class WaitingStore:
    """An empty store that `maker` makes elsewhere; no maker where there is one already."""

    maker: BaseProcess | None
    made: Path
    place: Path

    def put_in_place(self) -> None:
        """Copy the store to where it belongs, all of it or nothing; one that is there by now stays.

        If it could not be made, whoever opens the store next makes it, and says what is wrong.
        """
        if self.maker is None:
            return
        self.maker.join()
        if self.maker.exitcode != 0:
            return
        part = self.place.with_suffix(f".{os.getpid()}.part")
        with closing(sqlite3.connect(self.made)) as made, closing(sqlite3.connect(part)) as copy:
            made.backup(copy)
        _move_unless_there(part, self.place)


@contextmanager
def store_in_waiting(results: ResultsFolder) -> Iterator[WaitingStore]:
    """Make an empty embedded store for a results folder that needs one, in a process of its own.

    MLflow needs seconds to create its tables; this one is free for other work meanwhile.
    """
    place = results.database
    if results.server is not None or place.exists():
        yield WaitingStore(None, place, place)
        return
    with tempfile.TemporaryDirectory(prefix="echostudy-", ignore_cleanup_errors=True) as folder:
        made = Path(folder, place.name)
        maker = multiprocessing.get_context("spawn").Process(target=_make, args=(made,), daemon=True)
        maker.start()
        try:
            yield WaitingStore(maker, made, place)
        finally:
            maker.kill()
            maker.join()


def _move_unless_there(part: Path, place: Path) -> None:
    """Another study's driver may have put its own store there a moment ago, and have written to it."""
    try:
        os.link(part, place)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        if not place.exists():
            part.replace(place)
    part.unlink(missing_ok=True)


def _make(file: Path) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that waits
    from study.store import open_store

    open_store(f"sqlite:///{file}")
