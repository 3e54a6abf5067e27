"""Opening a store whose last writer was killed in the middle of a write."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from analysis.reading.sqlite import fetch_by_sql
from study.folder import ResultsFolder
from study.plan import make_plan
from study.spec import load_spec
from study.store import open_store
from study.tracking import StudyWriter


def left_half_written(results: ResultsFolder, elsewhere: ResultsFolder) -> None:
    """Copy the store as a writer leaves it that is killed once a part of its changes is in the file."""
    elsewhere.make_writable()
    with closing(sqlite3.connect(results.database)) as writer:
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        for number in range(2000):
            writer.execute("INSERT INTO experiment_tags VALUES (?, 'half-written', 0)", (f"{number}",))
        shutil.copy(results.database, elsewhere.database)
        shutil.copy(f"{results.database}-journal", f"{elsewhere.database}-journal")
        writer.rollback()


@pytest.mark.parametrize(
    "read",
    [
        lambda store: open_store(store.tracking_uri).get_experiment_by_name("digits").tags,
        lambda store: fetch_by_sql(store.database, "digits", {}).alive,
    ],
    ids=["by a driver", "by an analysis"],
)
def test_what_a_killed_driver_left_half_written_is_undone(read, results, tmp_path):
    StudyWriter(open_store(results.tracking_uri), make_plan(load_spec("study/specs/digits.yaml")), None, {})
    killed = ResultsFolder(tmp_path / "killed")
    left_half_written(results, killed)
    assert read(killed) == read(results)
    with closing(sqlite3.connect(killed.database)) as store:
        assert store.execute("SELECT count(*) FROM experiment_tags").fetchone()[0] < 10
