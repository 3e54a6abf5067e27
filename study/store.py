"""Opening the MLflow store, with one clear sentence where it cannot be opened."""

from __future__ import annotations

import logging
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
# MLflow's own retries would create a run a second time where the answer to the first request was lost.
os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] = "0"
os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", "30")

import requests
from mlflow.exceptions import MlflowException
from mlflow.tracking import MlflowClient
from sqlalchemy.exc import SQLAlchemyError

from study.errors import UserError

SQLITE = "sqlite:///"
SCHEMES = ("http", "https", "postgresql", "mysql", "mssql")
PASSING = {
    "ABORTED",
    "CANCELLED",
    "DEADLINE_EXCEEDED",
    "INTERNAL_ERROR",
    "REQUEST_LIMIT_EXCEEDED",
    "RESOURCE_EXHAUSTED",
    "TEMPORARILY_UNAVAILABLE",
}
"""MLflow's codes for what may pass by itself; among them what it says of a connection that is refused."""


def store_name(tracking_uri: str) -> str:
    """The address as it may be shown: without a password."""
    parts = urlsplit(tracking_uri)
    if parts.password is None:
        return tracking_uri
    return parts._replace(netloc=f"{parts.username}:***@{parts.netloc.rpartition('@')[2]}").geturl()


def check_tracking_uri(tracking_uri: str) -> None:
    """`UserError` if this is not the address of a store that studies can be kept in."""
    scheme, found, rest = tracking_uri.partition("://")
    if not found or not rest or scheme.partition("+")[0] not in SCHEMES:
        raise UserError(
            f"'{store_name(tracking_uri)}' is not the address of an MLflow store; give that of a server "
            "(http://host:5000) or of a database (postgresql://user@host/name), or none for an embedded one."
        )
    if scheme.startswith("http") and "@" in urlsplit(tracking_uri).netloc:
        raise UserError(
            f"'{store_name(tracking_uri)}' has a user in it, whom log files would name; set "
            "MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD instead."
        )


def is_outage(error: Exception) -> bool:
    """True for an error of a store that may answer again by itself."""
    if isinstance(error, UserError):
        return isinstance(error.__cause__, Exception) and is_outage(error.__cause__)
    if isinstance(error, MlflowException):
        return error.error_code in PASSING
    return isinstance(error, ConnectionError | TimeoutError | requests.RequestException | SQLAlchemyError)


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
    except (MlflowException, SQLAlchemyError, OSError, ImportError) as error:
        raise _cannot_open(tracking_uri, error) from error
    return client


def _cannot_open(tracking_uri: str, error: Exception) -> UserError:
    reason = str(error).splitlines()[0]
    if tracking_uri.startswith(SQLITE):
        what_to_do = "move it away, or choose another folder with --results."
    elif isinstance(error, ImportError):
        what_to_do = "install the database's driver, for PostgreSQL: pip install 'psycopg[binary]'."
    else:
        what_to_do = "see that it runs and can be reached from here, and that --tracking-uri is its address."
    return UserError(
        f"The MLflow store at {store_name(tracking_uri)} cannot be opened ({reason}); {what_to_do}"
    )


def _check_sqlite(file: Path) -> None:
    """Raise `UserError` if an existing file is not a healthy SQLite database."""
    if not file.exists():
        return
    try:
        # Not mode=ro: SQLite would refuse to undo what a process left half-written that was killed.
        with closing(sqlite3.connect(f"file:{file}?mode=rw", uri=True)) as connection:
            health = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        health = str(error)
    if health != "ok":
        raise UserError(
            f"The MLflow store {file} is damaged ({health}); "
            "restore it from a copy or move it away: a new run then starts from nothing."
        )
