"""A local copy of what was read, so that the next look at a store fetches only what is new.

Two parquet files in a folder: `trials.parquet`, `curves.parquet`. Only trials whose result is settled are
kept; the rest is read anew every time. A copy that is damaged, of another study or of another version of this
module counts as none: it costs time and never a result.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from analysis.files import replacing

VERSION = 2
FILES = ("trials", "curves")
_KEY = b"echostudy"


@dataclass(frozen=True, slots=True)
class Cache:
    """The copy of one study of one store in `folder`."""

    folder: Path
    store: str
    study: str

    def load(self) -> tuple[pd.DataFrame, pd.DataFrame] | None:
        """The trials and curves that were kept, or None if there is no copy that can be used."""
        try:
            trials, curves = (pq.read_table(self._file(name)) for name in FILES)
        except (OSError, pa.ArrowException):
            return None
        marks = [(one.schema.metadata or {}).get(_KEY) for one in (trials, curves)]
        if any(mark != self._mark(trials.num_rows) for mark in marks):
            return None
        return trials.to_pandas(), curves.to_pandas()

    def save(self, trials: pd.DataFrame, curves: pd.DataFrame) -> None:
        """Keep a copy; `OSError` where the folder cannot be written to."""
        for name, table in zip(FILES, (trials, curves), strict=True):
            arrow = pa.Table.from_pandas(table, preserve_index=False)
            marked = {**(arrow.schema.metadata or {}), _KEY: self._mark(len(trials))}
            with replacing(self._file(name)) as temporary:
                pq.write_table(arrow.replace_schema_metadata(marked), temporary)

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.parquet"

    def _mark(self, trials: int) -> bytes:
        """What both files must say of themselves; the number of trials ties the two together."""
        return json.dumps([VERSION, self.store, self.study, trials]).encode()
