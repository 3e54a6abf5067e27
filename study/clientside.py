"""Ray Tune's driver behind a `ray://` client: what Ray provides for a driver inside a cluster alone.

`tune.Tuner` moves into the cluster with its callbacks where a client is connected; ours write to this
machine's journal and store, so the driver stays here. That reaches into Ray: a test on a cluster holds it to
the version that is locked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
from ray.train._internal import storage
from ray.tune.impl.tuner_internal import TunerInternal


def fit_here(folder: Path, **options: Any) -> None:
    """`tune.Tuner(**options).fit()` with the driver in this process; `folder` is for the driver's files."""
    with _session_folder(folder):
        TunerInternal(**options, _tuner_kwargs={"_remote": False}).fit()


@contextmanager
def _session_folder(folder: Path) -> Iterator[None]:
    """A folder for the driver's files: a client has no Ray session, whose folder Tune would take."""
    if not ray.util.client.ray.is_connected():
        yield
        return
    original = storage._get_ray_train_session_dir
    storage._get_ray_train_session_dir = lambda: str(folder)
    try:
        yield
    finally:
        storage._get_ray_train_session_dir = original
