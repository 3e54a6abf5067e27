"""Starting a Ray of our own and leaving nothing of it behind."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray

from study.errors import SettingError, UserError
from study.spec import Resources

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    "TUNE_GLOBAL_CHECKPOINT_S": "1000000000",
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
}
"""Tune's own files and lines are not used: the plan and MLflow say what there is to run and what has run."""

WITHOUT_A_WORD = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": True}
"""For `ray.init`: what it and the workers have to say is in Ray's own logs."""


class Ray:
    """A Ray that is starting, or has started; `asked` is how many trials are to run at a time, if said."""

    def __init__(self, starting: Future[Path] | None = None, asked: int | None = None) -> None:
        self._starting = starting
        self._asked = asked

    def slots(self, resources: Resources) -> int:
        """Wait until Ray has started; how many trials it can run at a time.

        `SettingError` if none of its nodes can run even one: Tune itself would wait for ever.
        """
        if self._starting is not None:
            self._starting.result()
        if self._asked is not None:
            return self._asked
        nodes = self.nodes().values()
        for kind, amount in {"CPU": resources.cpu, "GPU": resources.gpu}.items():
            most = max(node.get(kind, 0) for node in nodes)
            if amount > most:
                raise SettingError(
                    ("resources", kind.lower()),
                    f"is {amount:g}, but Ray has {most:g} {kind} here; lower it.",
                )
        return sum(_slots_of(node, resources) for node in nodes)

    def slots_of_a_node(self, resources: Resources) -> int:
        """How many trials one node runs at a time, at most."""
        most = max(_slots_of(node, resources) for node in self.nodes().values())
        return most if self._asked is None else min(most, self._asked)

    def nodes(self) -> dict[str, dict[str, float]]:
        """What each living node offers, by a name for it."""
        return {node_name(node): node["Resources"] for node in ray.nodes() if node["Alive"]}


def node_name(node: Mapping[str, Any]) -> str:
    """What to call one of `ray.nodes()`: two may run on one machine."""
    return f"{node['NodeManagerAddress']} ({node['NodeID'][:6]})"


def _slots_of(node: Mapping[str, float], resources: Resources) -> int:
    """How many trials fit on a node; a share of a GPU is a share of one GPU."""
    slots = node.get("CPU", 0) / resources.cpu
    gpus = node.get("GPU", 0)
    if 0 < resources.gpu < 1:
        slots = min(slots, int(1 / resources.gpu) * gpus)
    elif resources.gpu:
        slots = min(slots, gpus / resources.gpu)
    return int(slots)


@contextmanager
def local_ray(cpus: int | None = None) -> Iterator[Ray]:
    """A Ray on this machine for the duration of the block; its session folder is removed at the end.

    It takes seconds to start, so it starts in the background. `cpus` limits the CPU slots (default: the
    machine's cores).
    """
    os.environ.update(QUIET)
    with ThreadPoolExecutor(max_workers=1) as background:
        starting = background.submit(_start, cpus)
        try:
            yield Ray(starting)
        finally:
            if starting.exception() is None:
                ray.shutdown()
                shutil.rmtree(starting.result(), ignore_errors=True)


def _start(cpus: int | None) -> Path:
    """Start Ray; its session folder. On a very busy machine Ray gives up after half a minute: then once more.

    Raises:
        UserError: it did not start at the second try either.
    """
    try:
        _init(cpus)
    except Exception:  # Ray raises the bare class, and leaves what has started for us to end
        ray.shutdown()
        try:
            _init(cpus)
        except Exception as error:
            ray.shutdown()
            raise UserError(
                f"Ray cannot start on this machine ({str(error).splitlines()[0]}); see that memory and "
                "processors are free, and run the same command again."
            ) from error
    return Path(ray._private.worker.global_worker.node.get_session_dir_path())


def _init(cpus: int | None) -> None:
    ray.init(
        num_cpus=cpus,
        include_dashboard=False,
        **WITHOUT_A_WORD,
    )
