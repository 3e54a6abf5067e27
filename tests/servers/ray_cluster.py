"""A real Ray cluster on this machine: a head and nodes, a process each, with token authentication."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import psutil
from servers.ports import free_port, wait_until
from servers.processes import family, kill_all

HOST = "127.0.0.1"
OBJECT_STORE_BYTES = 100_000_000


class RayCluster:
    """A head of one CPU slot, and nodes that join and leave; all of it listens on 127.0.0.1 alone.

    Each node has a temporary folder of its own, as on machines of their own: where two share one, the second
    to take up a job deletes the first one's copy of its code.

    `environment` is what a process needs to connect; `address`, `client` and `dashboard` are where.
    """

    def __init__(self, folder: Path, token: str = "a-token-of-the-tests-0123456789abcdef") -> None:
        self._folder = folder
        self._gcs, dashboard, client = free_port(), free_port(), free_port()
        self.address = f"{HOST}:{self._gcs}"
        self.client = f"ray://{HOST}:{client}"
        self.dashboard = f"http://{HOST}:{dashboard}"
        self.environment = {
            "RAY_AUTH_TOKEN": token,
            "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
            "RAY_USAGE_STATS_ENABLED": "0",
        }
        self._folders: list[str] = []
        self._nodes: dict[str, subprocess.Popen[bytes]] = {}
        self._started = 0
        self._head = [
            *("--head", f"--port={self._gcs}", "--num-gpus=0"),
            f"--ray-client-server-port={client}",
            *(f"--dashboard-host={HOST}", f"--dashboard-port={dashboard}"),
        ]

    def add_node(self, name: str, *, gpus: int = 0) -> None:
        """Start a node of one CPU slot and so many GPUs, which need not be there."""
        self._start(name, [f"--address={self.address}", f"--num-gpus={gpus}"])

    def processes(self, name: str) -> list[psutil.Process]:
        """All processes of a node, its workers among them."""
        return family(self._nodes[name].pid)

    def kill_node(self, name: str) -> None:
        """Kill a node with all of its processes, as the loss of a machine would."""
        kill_all(self.processes(name))
        self._nodes.pop(name).wait()

    def _start(self, name: str, options: list[str]) -> None:
        self._started += 1
        log = self._folder / f"ray-{self._started}-{name}.log"
        temp = tempfile.mkdtemp(prefix="es-")  # short: sockets lie in it
        self._folders.append(temp)
        command = [
            *(sys.executable, str(Path(__file__).with_name("ray_start.py")), "start", *options),
            *(f"--node-ip-address={HOST}", "--num-cpus=1", "--disable-usage-stats", "--block"),
            f"--temp-dir={temp}",
            f"--object-store-memory={OBJECT_STORE_BYTES}",
        ]
        environment = {**os.environ, **self.environment, "RAY_AUTH_MODE": "token"}
        environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        del environment["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"]
        with open(log, "wb") as file:
            node = subprocess.Popen(
                command, env=environment, stdout=file, stderr=file, start_new_session=True
            )
        self._nodes[name] = node

        def is_up() -> bool:
            assert node.poll() is None, log.read_text()
            return "Ray runtime started" in log.read_text()

        wait_until(is_up, f"the Ray node {name} ({log})")

    def __enter__(self) -> RayCluster:
        with ExitStack() as stack:
            stack.push(self.__exit__)
            self._start("head", self._head)
            stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        for name in reversed(list(self._nodes)):
            self.kill_node(name)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
