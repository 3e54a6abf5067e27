"""A campaign of faults against studies that run: which fault, where and when is a seed's choice."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import psutil
from servers.mlflow_server import MlflowServer
from servers.postgres import Postgres
from servers.processes import family, kill_all
from servers.ray_cluster import RayCluster
from servers.studies import study_command, tables
from servers.tmpfs import SmallDisk

WORKER = "ray::ResourceTrainable"
MARK = "ECHOSTUDY_CHAOS"
AWAY_S = (1.0, 5.0)
PAUSE_S = (1.0, 6.0)
OVER_WITHIN_S = 900.0


class Campaign:
    """Runs a study on a cluster, and does it harm on the way; a driver that has ended is started again.

    A study that is complete before all the harm is done is followed by the same one under another name.
    `log` has a line for each fault and each start; `done` counts the faults by name; of each study that was
    completed, `finished` has the tables, and `left` the names in its folder. Whatever the driver starts has
    `MARK` in its environment.
    """

    def __init__(
        self,
        seed: int,
        settings: list[str],
        *,
        cluster: RayCluster,
        server: MlflowServer,
        postgres: Postgres,
        disk: SmallDisk,
    ) -> None:
        self.log: list[str] = []
        self.done: Counter[str] = Counter()
        self.finished: dict[str, dict[str, bytes]] = {}
        self.left: dict[str, set[str]] = {}
        self._random = random.Random(seed)
        self._settings = settings
        self._cluster, self._server, self._postgres, self._disk = cluster, server, postgres, disk
        self._driver: subprocess.Popen[str] | None = None
        self._began = time.monotonic()
        self._nodes = ["one", "two"]
        self._faults: dict[str, Callable[[], bool]] = {
            "worker": self._kill_a_worker,
            "node": self._kill_a_node,
            "driver": self._kill_the_driver,
            "server": lambda: self._stop_for_a_while(self._server),
            "database": lambda: self._stop_for_a_while(self._postgres),
            "disk": self._fill_the_disk,
            "checkpoint": self._cut_a_checkpoint,
        }

    @property
    def name(self) -> str:
        """The study that is under way."""
        return f"chaos_{len(self.finished)}"

    @property
    def results(self) -> Path:
        """Where its results lie."""
        return self._disk.folder / "results"

    def run(self, faults: int) -> None:
        """Do so much harm, each kind of it at least once where there are enough, and let the study end."""
        names = sorted(self._faults)
        waiting = [names[i % len(names)] for i in range(faults)]
        self._random.shuffle(waiting)
        self._start()
        tries = 0
        while waiting:
            self._wait(self._random.uniform(*PAUSE_S), more=True)
            name = waiting.pop(0)
            if self._faults[name]():
                self.done[name] += 1
            else:  # there was nothing to harm at this moment
                tries += 1
                assert tries < 20 * faults, "\n".join(self.log)
                waiting.insert(self._random.randint(0, len(waiting)), name)
        self._wait(OVER_WITHIN_S, more=False)
        assert self._driver is None, "\n".join(self.log)

    def close(self) -> None:
        """End the driver if it still runs."""
        if self._driver is not None:
            kill_all(family(self._driver.pid))
            self._driver.communicate()
            self._driver = None

    def _wait(self, seconds: float, *, more: bool) -> None:
        """Let so much time pass, at most, unless the study ends before and there is to be no `more`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self._driver is not None:
            time.sleep(0.1)
            if self._driver.poll() is not None:
                self._go_on(more=more)

    def _start(self) -> None:
        self._say(f"start {self.name}")
        command = study_command(
            "run",
            *("--results", str(self.results), "--address", self._cluster.address),
            *("--tracking-uri", self._server.uri, "--set", f"name={self.name}"),
            settings=self._settings,
        )
        self._driver = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | self._cluster.environment | {MARK: str(os.getpid())},
        )

    def _go_on(self, *, more: bool) -> None:
        """After a driver's end: start it again, or the next study, or be done."""
        assert self._driver is not None
        said, code = self._driver.communicate()[0].strip(), self._driver.returncode
        self._driver = None
        self._say(f"driver ended with {code}: {said.splitlines()[-1][-300:] if said else ''}")
        assert "Traceback" not in said, said
        if code == 0:
            self.left[self.name] = {path.name for path in (self.results / self.name).iterdir()}
            self.finished[self.name] = tables(self.results, self.name)
            shutil.rmtree(self.results)
        if code != 0 or more:
            self._start()

    def _kill_a_worker(self) -> bool:
        names = ["head", *self._nodes]
        workers = [one for name in names for one in self._cluster.processes(name) if _is_worker(one)]
        if not workers:
            return False
        victim = self._random.choice(sorted(workers, key=lambda process: process.pid))
        self._say(f"kill worker {victim.pid}")
        kill_all([victim])
        return True

    def _kill_a_node(self) -> bool:
        at = self._random.randrange(len(self._nodes))
        self._say(f"kill node {self._nodes[at]}")
        self._cluster.kill_node(self._nodes[at])
        self._cluster.add_node(self._nodes[at])
        return True

    def _kill_the_driver(self) -> bool:
        assert self._driver is not None
        if self._driver.poll() is not None:
            return False
        self._say("kill the driver")
        self._driver.kill()
        return True

    def _stop_for_a_while(self, what: MlflowServer | Postgres) -> bool:
        seconds = self._random.uniform(*AWAY_S)
        self._say(f"{type(what).__name__} away for {seconds:.1f} s")
        what.kill()
        time.sleep(seconds)
        what.start()
        return True

    def _fill_the_disk(self) -> bool:
        seconds = self._random.uniform(*AWAY_S)
        self._say(f"disk full for {seconds:.1f} s")
        self._disk.fill()
        time.sleep(seconds)
        self._disk.empty()
        return True

    def _cut_a_checkpoint(self) -> bool:
        files = sorted(self.results.glob("*/checkpoints/*.pt"))
        if not files:
            return False
        file = self._random.choice(files)
        try:
            length = self._random.randrange(file.stat().st_size)
            os.truncate(file, length)
        except FileNotFoundError:
            return False
        self._say(f"cut {file.name} to {length} bytes")
        return True

    def _say(self, line: str) -> None:
        self.log.append(f"{time.monotonic() - self._began:6.1f} s  {line}")


def _is_worker(process: psutil.Process) -> bool:
    try:
        return any(WORKER in part for part in process.cmdline())
    except psutil.Error:
        return False
