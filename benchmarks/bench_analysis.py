"""Loading the results of 10,000 trials: `analysis.load` against plain paging of `mlflow.search_runs`.

The store is made of one trial of every condition, written through the tracking code, and of copies of its
rows. Usage: python benchmarks/bench_analysis.py [RUNS]
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import study
from analysis import load
from study.folder import ResultsFolder
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome
from study.spec import load_spec
from study.store import open_store
from study.tracking import StudyWriter, runs_of_kind

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
EVALUATIONS = 30
NEW_RUNS = 50
TABLES = {
    "runs": "run_uuid",
    "tags": "run_uuid",
    "params": "run_uuid",
    "latest_metrics": "run_uuid",
    "metrics": "run_uuid",
}


def write_templates(results: ResultsFolder) -> None:
    plan = make_plan(load_spec(Path(study.__file__).parent / "specs" / "digits.yaml"))
    writer = StudyWriter(open_store(results.tracking_uri), plan, None, {})
    for trial in plan.trials[::48]:
        evaluations = [
            Evaluation(
                256.0 * at,
                8 * at,
                {
                    "valid_accuracy": 1 - 0.5 / at,
                    "valid_loss": 1 / at,
                    "train_loss": 1 / at,
                    "examples_read": 256.0 * at,
                    "examples_consumed": 256.0 * at,
                    "updates": 8.0 * at,
                    "duplicate_share": 0.01,
                    "mean_lag_updates": 20.0,
                    "buffer_examples": 0.0,
                    "buffer_fill": 0.0,
                },
            )
            for at in range(1, EVALUATIONS + 1)
        ]
        writer.write_trial(TrialRecord(trial, plan.spec.rule, evaluations, Outcome.REACHED))


def add_copies(results: ResultsFolder, count: int) -> None:
    """`count` more trial runs, each a copy of the first with ids of its own."""
    with closing(sqlite3.connect(results.database)) as connection, connection:
        template = connection.execute(
            "SELECT run_uuid FROM tags WHERE key = 'echostudy.kind' AND value = 'trial' LIMIT 1"
        ).fetchone()[0]
        ids = [(uuid.uuid4().hex,) for _ in range(count)]
        connection.execute("PRAGMA synchronous = OFF")
        indexes = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'metrics' AND sql > ''"
        ).fetchall()
        for name, _ in indexes if count > NEW_RUNS else ():  # made anew at the end: many times quicker
            connection.execute(f"DROP INDEX {name}")
        connection.execute("CREATE TEMP TABLE copies (id TEXT PRIMARY KEY)")
        connection.executemany("INSERT INTO copies VALUES (?)", ids)
        for table, key in TABLES.items():
            names = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            chosen = ["copies.id" if name == key else f'{table}."{name}"' for name in names]
            connection.execute(
                f"INSERT INTO {table} SELECT {', '.join(chosen)} FROM copies, {table} WHERE {key} = ?",
                (template,),
            )
        connection.execute(
            "UPDATE tags SET value = substr(run_uuid, 1, 16) WHERE key = 'echostudy.trial_id' "
            "AND run_uuid IN (SELECT id FROM copies)"
        )
        connection.execute(
            "UPDATE runs SET end_time = end_time + 100000 WHERE run_uuid IN (SELECT id FROM copies)"
        )
        for _, sql in indexes if count > NEW_RUNS else ():
            connection.execute(sql)


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = ResultsFolder(Path(folder))
        write_templates(results)
        add_copies(results, RUNS - 4)
        uri, cache = results.tracking_uri, Path(folder) / "cache"
        client = open_store(uri)
        paging = timed(lambda: list(runs_of_kind(client, "digits", "trial")))
        first = timed(lambda: load("digits", uri, cache))
        cached = timed(lambda: load("digits", uri, cache))
        add_copies(results, NEW_RUNS)
        incremental = timed(lambda: load("digits", uri, cache))
        assert len(load("digits", uri, cache).trials) == RUNS + NEW_RUNS
        print(f"{RUNS:,} trials with {EVALUATIONS} evaluations each, seconds and share of paging:")
        rows = {
            "mlflow.search_runs, page by page, without curves": paging,
            "analysis.load, first": first,
            "analysis.load, cached": cached,
            f"analysis.load, {NEW_RUNS} trials new": incremental,
        }
        for name, seconds in rows.items():
            print(f"  {name:50} {seconds:6.2f}  {seconds / paging:5.2f}")


if __name__ == "__main__":
    main()
