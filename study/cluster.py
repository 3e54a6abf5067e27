"""Starting a Ray of our own and leaving nothing of it behind."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

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


class LocalRay:
    """A Ray on this machine that is starting, or has started."""

    def __init__(self, starting: Future[Path]) -> None:
        self._starting = starting

    def slots(self, resources: Resources) -> int:
        """Wait until Ray has started; how many trials it can run at a time.

        `SettingError` if it cannot run even one: Tune itself would wait for ever.
        """
        self._starting.result()
        have = ray.cluster_resources()
        wanted = {"CPU": resources.cpu, "GPU": resources.gpu}
        for kind, amount in wanted.items():
            if amount > have.get(kind, 0):
                raise SettingError(
                    ("resources", kind.lower()),
                    f"is {amount:g}, but Ray has {have.get(kind, 0):g} {kind} here; lower it.",
                )
        return int(min(have[kind] / amount for kind, amount in wanted.items() if amount))


@contextmanager
def local_ray(cpus: int | None = None) -> Iterator[LocalRay]:
    """A Ray on this machine for the duration of the block; its session folder is removed at the end.

    It takes seconds to start, so it starts in the background. `cpus` limits the CPU slots (default: the
    machine's cores).
    """
    os.environ.update(QUIET)
    with ThreadPoolExecutor(max_workers=1) as background:
        starting = background.submit(_start, cpus)
        try:
            yield LocalRay(starting)
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
        log_to_driver=False,
        logging_level=logging.ERROR,
        configure_logging=True,
    )
