"""A real MLflow server on the loopback interface, that can be killed and started again on the same port."""

import os
import signal
import subprocess
import sys
import urllib.request
from contextlib import ExitStack
from pathlib import Path

from servers.ports import free_port, wait_until

QUIET = {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false", "MLFLOW_DISABLE_TELEMETRY": "true"}


class MlflowServer:
    """`mlflow server` with one worker on a database; `uri` is its address."""

    def __init__(self, backend: str, folder: Path) -> None:
        self.port = free_port()
        self.uri = f"http://127.0.0.1:{self.port}"
        self._command = [
            *(sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(self.port)),
            *("--workers", "1", "--backend-store-uri", backend),
            *("--artifacts-destination", (folder / "served-artifacts").as_uri()),
        ]
        self._log = folder / "mlflow-server.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                self._command, env=os.environ | QUIET, stdout=log, stderr=log, start_new_session=True
            )
        wait_until(self._answers, f"MLflow's server ({self._log})")

    def kill(self) -> None:
        """End it at once, with all of its processes."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.uri}/health", timeout=2):
                return True
        except OSError:
            return False

    def __enter__(self) -> "MlflowServer":
        with ExitStack() as stack:
            stack.callback(self.kill)
            self.start()
            stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
