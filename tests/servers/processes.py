"""Ending a process that a test has started, with everything it has started itself."""

from __future__ import annotations

from contextlib import suppress

import psutil


def family(pid: int) -> list[psutil.Process]:
    """A process and all of its descendants; none if it has ended."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return [process, *process.children(recursive=True)]
    return []


def kill_all(processes: list[psutil.Process]) -> None:
    """Kill these at once (kill -9), and wait until they are gone."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=30)
