"""Opening the MLflow store, with one clear sentence where it cannot be opened."""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")

from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient

from study.errors import UserError

SQLITE = "sqlite:///"


def store_exists(tracking_uri: str) -> bool:
    """False for an embedded store whose file is not there yet."""
    return not tracking_uri.startswith(SQLITE) or Path(tracking_uri.removeprefix(SQLITE)).exists()


def open_store(tracking_uri: str) -> MlflowClient:
    """A client on the store, whose schema is created first if it is new.

    The driver calls this before anything else opens the store: several processes that create a database
    at once all fail. `UserError` if the store is damaged, not a store, or not reachable.
    """
    if tracking_uri.startswith(SQLITE):
        _check_sqlite(Path(tracking_uri.removeprefix(SQLITE)))
    for name in ("mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        client = MlflowClient(tracking_uri)
        client.search_experiments(max_results=1)
    except (MlflowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"The MLflow store at {tracking_uri} cannot be opened ({reason}); "
            "move it away, or choose another folder with --results."
        ) from error
    return client


def _check_sqlite(file: Path) -> None:
    """Raise `UserError` if an existing file is not a healthy SQLite database."""
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            health = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        health = str(error)
    if health != "ok":
        raise UserError(
            f"The MLflow store {file} is damaged ({health}); "
            "restore it from a copy or move it away: a new run then starts from nothing."
        )
