"""A real PostgreSQL on the loopback interface, from Debian's package, run as a user that is not root."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path

from servers.ports import free_port, wait_until
from servers.processes import family, kill_all

USER = "postgres"
"""Who runs it where the tests run as root: PostgreSQL refuses to. Debian's package makes this user."""


def postgres_bin() -> Path | None:
    """The folder of `initdb` and `postgres`; Debian keeps them out of the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    in_path = shutil.which("initdb")
    return found[-1].parent if found else Path(in_path).parent if in_path else None


class Postgres:
    """An empty database `mlflow`, that can be killed and started again; `uri` is its address."""

    def __init__(self) -> None:
        self.port = free_port()
        self.uri = f"postgresql://mlflow@127.0.0.1:{self.port}/mlflow"
        self._bin = postgres_bin()
        self._folder = Path(tempfile.mkdtemp(prefix="es-pg-"))
        self._data = self._folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._user = USER if os.getuid() == 0 else None
        if self._user:
            owner = pwd.getpwnam(self._user)
            os.chown(self._folder, owner.pw_uid, owner.pw_gid)

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(
                [
                    *(str(self._tool("postgres")), "-D", str(self._data), "-p", str(self.port)),
                    *("-c", "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={self._folder}"),
                ],
                user=self._user,
                group=self._user,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        wait_until(self._is_ready, f"PostgreSQL ({self._folder / 'log'})")

    def kill(self) -> None:
        """End it at once: what it has not committed is lost."""
        if self._process is not None:
            kill_all(family(self._process.pid))
            self._process.wait()
            self._process = None

    def _tool(self, name: str) -> Path:
        assert self._bin is not None, "PostgreSQL is not here: apt-get install postgresql"
        return self._bin / name

    def _is_ready(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self._folder / "log").read_text()
        return self._run("pg_isready", "-h", "127.0.0.1", "-p", str(self.port), check=False) == 0

    def _run(self, tool: str, *arguments: str, check: bool = True) -> int:
        done = subprocess.run(
            [str(self._tool(tool)), *arguments],
            user=self._user,
            group=self._user,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.returncode

    def __enter__(self) -> Postgres:
        with ExitStack() as stack:
            stack.push(self.__exit__)
            self._run(
                "initdb", "-D", str(self._data), "-U", "mlflow", "-A", "trust", "-E", "UTF8", "--no-sync"
            )
            self.start()
            self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "mlflow", "mlflow")
            stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
