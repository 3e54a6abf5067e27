"""MLflow's own pages on a store, served on this machine only."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from study.errors import UserError
from study.folder import ResultsFolder
from study.store import open_store
from study.view import VIEW, VIEW_TAG

HOST = "127.0.0.1"
START_WITHIN_S = 60.0


@contextmanager
def serve(results: ResultsFolder, port: int) -> Iterator[dict[str, str]]:
    """Run `mlflow server` for the duration of the block; the value maps study name -> link to its runs table.

    One worker process (more make every request slower on SQLite), no job execution. The links lead past
    MLflow's start page for language-model traces, which says nothing about studies, to the study's own view
    of the runs table. `UserError` if there is no store, or the port is taken.
    """
    if not results.database.exists():
        raise UserError(
            f"There is no MLflow store {results.database}; run a study first, or name its --results."
        )
    links = {
        experiment.name: f"http://{HOST}:{port}/#/experiments/{experiment.experiment_id}/runs"
        + (f"?viewStateShareKey={VIEW}" if VIEW_TAG in experiment.tags else "")
        for experiment in open_store(results.tracking_uri).search_experiments()
        if experiment.name != "Default"
    }
    _check_port(port)
    command = [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        "--host",
        HOST,
        "--port",
        str(port),
        "--workers",
        "1",
    ]
    command += [
        "--backend-store-uri",
        results.tracking_uri,
        "--default-artifact-root",
        results.artifacts.as_uri(),
    ]
    quiet = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}
    server = subprocess.Popen(
        command,
        env=os.environ | quiet,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_until_it_answers(server, port)
        yield links
    finally:
        server.terminate()
        try:
            server.wait(timeout=10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise UserError(
                f"Port {port} on {HOST} is not free ({error.strerror}); choose another with --port."
            ) from error


def _wait_until_it_answers(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_WITHIN_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"http://{HOST}:{port}/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise UserError(f"MLflow's server did not start on port {port}; choose another with --port.")
