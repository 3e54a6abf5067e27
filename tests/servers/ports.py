"""Free ports on the loopback interface, and waiting for what listens there."""

import socket
import time
from collections.abc import Callable

START_WITHIN_S = 90.0


def free_port() -> int:
    """A port on 127.0.0.1 that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(answers: Callable[[], bool], what: str, within_s: float = START_WITHIN_S) -> None:
    """Until it answers; `TimeoutError` that names it."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if answers():
            return
        time.sleep(0.1)
    raise TimeoutError(f"{what} not ready within {within_s:g} s")
