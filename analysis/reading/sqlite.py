"""Trial runs from the SQLite file behind an embedded store, read directly and read-only.

MLflow's public API has no call for many runs' curves and takes 10 s for 10,000 runs; SQL takes a part. The
result is that of `analysis.reading.api`, which `tests/analysis/test_reading.py` holds it to. The tables are
MLflow's own; where they are not as known, the caller falls back on the API.
"""

from __future__ import annotations

import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from analysis.reading.fetched import FIRST_CURVE_STEP, Fetched, FetchedRun, wide
from study.entry import KIND

Value = TypeVar("Value")

_ALIVE = """
SELECT runs.run_uuid, runs.status, runs.end_time
FROM experiments
JOIN runs ON runs.experiment_id = experiments.experiment_id
JOIN tags ON tags.run_uuid = runs.run_uuid AND tags.key = ? AND tags.value = 'trial'
WHERE experiments.name = ? AND runs.lifecycle_stage = 'active'
"""
_WORDS = "SELECT {0}.run_uuid, key, value FROM new JOIN {0} ON {0}.run_uuid = new.run_uuid"
_LATEST = """
SELECT latest_metrics.run_uuid, key, CASE WHEN is_nan THEN NULL ELSE value END
FROM new JOIN latest_metrics ON latest_metrics.run_uuid = new.run_uuid
"""
_CURVES = """
SELECT metrics.run_uuid, key, step, CASE WHEN is_nan THEN NULL ELSE value END
FROM new JOIN metrics ON metrics.run_uuid = new.run_uuid
WHERE step >= ?
ORDER BY metrics.rowid
"""


def fetch_by_sql(database: Path, study: str, known: Mapping[str, int], *, curves: bool = True) -> Fetched:
    """What `analysis.reading.api.fetch_by_api` gives, without its exception for purged runs.

    Raises `sqlite3.Error` where the file's tables are not those of a known MLflow.
    """
    # Not mode=ro: SQLite would refuse to undo what a process left half-written that was killed.
    with closing(sqlite3.connect(f"file:{database}?mode=rw", uri=True)) as connection:
        connection.execute("PRAGMA temp_store = MEMORY")
        alive: dict[str, tuple[str, int | None]] = {
            run_id: (status, ended) for run_id, status, ended in connection.execute(_ALIVE, (KIND, study))
        }
        new = [run_id for run_id, (_, ended) in alive.items() if known.get(run_id, -1) != ended]
        connection.execute("CREATE TEMP TABLE new (run_uuid TEXT PRIMARY KEY)")
        connection.executemany("INSERT INTO new VALUES (?)", ((run_id,) for run_id in new))
        tags, params = (_by_run(connection.execute(_WORDS.format(name))) for name in ("tags", "params"))
        metrics = _by_run(_numbers(connection.execute(_LATEST)))
        points = connection.execute(_CURVES, (FIRST_CURVE_STEP,)) if curves else ()
        table = wide(points)
    return Fetched(
        alive=frozenset(alive),
        runs=tuple(FetchedRun(one, *alive[one], tags[one], params[one], metrics[one]) for one in new),
        curves=table,
    )


def _by_run(rows: Iterable[tuple[str, str, Value]]) -> defaultdict[str, dict[str, Value]]:
    """Key -> value by run."""
    found: defaultdict[str, dict[str, Value]] = defaultdict(dict)
    for run_id, key, value in rows:
        found[run_id][key] = value
    return found


def _numbers(rows: Iterable[tuple[str, str, float | None]]) -> Iterator[tuple[str, str, float]]:
    """NULL is how SQLite gives NaN."""
    for run_id, key, value in rows:
        yield run_id, key, math.nan if value is None else value
