"""Making a new store ahead of time: nothing is in its place before all checks have passed."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from study.folder import ResultsFolder
from study.store import open_store


@dataclass(frozen=True, slots=True)
class WaitingStore:
    """An empty store that lies elsewhere, or nothing where the results folder has one already."""

    made: Path | None
    place: Path

    def put_in_place(self) -> None:
        """Copy the store to where it belongs, all of it or nothing."""
        if self.made is None:
            return
        part = self.place.with_suffix(".part")
        with closing(sqlite3.connect(self.made)) as made, closing(sqlite3.connect(part)) as copy:
            made.backup(copy)
        part.replace(self.place)


@contextmanager
def store_in_waiting(results: ResultsFolder) -> Iterator[WaitingStore]:
    """Make an empty store for a results folder that has none; MLflow needs seconds to create its tables."""
    if results.database.exists():
        yield WaitingStore(None, results.database)
        return
    with tempfile.TemporaryDirectory(prefix="echostudy-") as folder:
        made = Path(folder, results.database.name)
        open_store(f"sqlite:///{made}")
        yield WaitingStore(made, results.database)
