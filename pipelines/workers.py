"""Where the death of a DataLoader's worker process is told: to who reads, and nowhere else."""

from __future__ import annotations

from typing import Any

from torch._C import _remove_worker_pids

_BROKEN_PIPES = (ConnectionError, EOFError, FileNotFoundError)


def tell_of_deaths_when_read(reading: Any) -> None:
    """Let the iterator of a DataLoader with workers tell of their deaths in `next` alone.

    torch also raises them from a signal handler, in whatever the main thread is doing just then: a training
    step, or saving a state. `next` looks for itself, every few seconds of waiting, whether workers are alive.
    """
    if reading._worker_pids_set:
        _remove_worker_pids(id(reading))
        reading._worker_pids_set = False


def tells_of_death(error: Exception) -> bool:
    """Whether a DataLoader raised this because a worker died, rather than its data set in a worker.

    A worker that dies while it hands over a tensor leaves a broken pipe behind.
    """
    return "DataLoader worker (pid" in str(error) or (
        isinstance(error, _BROKEN_PIPES) and " in DataLoader worker process " not in str(error)
    )
