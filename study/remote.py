"""Connecting to a Ray cluster that runs already, with its token, and taking our code along."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from study.cluster import QUIET, WITHOUT_A_WORD, Ray, node_name
from study.commit import commit_variables
from study.errors import UserError
from study.token import TOKEN_ADVICE

CODE = ("models", "pipelines", "study")
"""What a worker runs. Its packages (PyTorch, ...) are those that the nodes have."""

IN_A_JOB = "RAY_JOB_CONFIG_JSON_ENV_VAR"
"""Set where Ray's job API has started this process, and has taken the code along already."""

CLIENT = "ray://"
"""Begins the address of Ray's client server: for a driver outside of the cluster."""

ANSWER_WITHIN_S = 10.0

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


@contextmanager
def cluster_ray(address: str, trials: int | None = None) -> Iterator[Ray]:
    """A running cluster for the duration of the block; it is left running.

    `study.token.use_token` has to have been called before Ray was loaded.

    `address` is `auto` (the one on this machine, or in `RAY_ADDRESS`), `host:port` for a driver on a machine
    of the cluster, or `ray://host:port` for one elsewhere; `trials` is how many run at a time (default: as
    many as there is room for; more lets a cluster grow).

    Raises:
        UserError: nothing answers there, the versions differ, or the token is not right.
    """
    os.environ.update(QUIET)
    _check_that_it_answers(address)
    runtime_env: dict[str, Any] = {"env_vars": dict(QUIET)}
    if IN_A_JOB not in os.environ:
        root = Path(__file__).parents[1]
        runtime_env = {
            "env_vars": QUIET | commit_variables(),
            "py_modules": [str(root / name) for name in CODE],
            "excludes": ["__pycache__"],
        }
    try:
        _connect(address, runtime_env)
    except Exception as error:  # Ray raises what it likes, from ValueError to its own
        raise UserError(_why_not(address, error)) from error
    try:
        yield Ray(asked=trials)
    finally:
        ray.shutdown()


def _connect(address: str, runtime_env: dict[str, Any]) -> None:
    """Connect; once more where the server of a busy head has not started a process for a client in time."""
    for is_last in (False, True):
        try:
            ray.init(address=address, runtime_env=runtime_env, **WITHOUT_A_WORD)
        except Exception as error:
            ray.shutdown()
            if is_last or "Initialization failure" not in str(error):
                raise
        else:
            return


def on_every_node(look: Callable[[Asked, str], Answer], asked: Asked, within_s: float) -> dict[str, Answer]:
    """What `look(asked, node id)` gives on every living node, by the node's name; without those that fail."""
    tasks = {}
    for node in (one for one in ray.nodes() if one["Alive"]):
        there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        task = ray.remote(num_cpus=0, max_retries=0)(look).options(scheduling_strategy=there)
        tasks[task.remote(asked, node["NodeID"])] = node_name(node)
    done, _ = ray.wait(list(tasks), num_returns=len(tasks), timeout=within_s)
    answers = {}
    for one in done:
        with suppress(RayError):
            answers[tasks[one]] = ray.get(one)
    return answers


def _check_that_it_answers(address: str) -> None:
    """`UserError` if nothing listens at `host:port`: Ray itself would try for a minute."""
    if address == "auto":
        return
    host, _, port = address.removeprefix(CLIENT).rpartition(":")
    if not host or not port.isdigit():
        raise UserError(
            f"'{address}' is not the address of a Ray cluster; give auto, host:6379 or ray://host:10001."
        )
    try:
        socket.create_connection((host.strip("[]"), int(port)), ANSWER_WITHIN_S).close()
    except (OSError, OverflowError) as error:
        raise UserError(_why_not(address, error)) from error


def _why_not(address: str, error: Exception) -> str:
    text = f"{error} {error.__cause__ or ''} {error.__context__ or ''}"
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    if "auth" in text.lower() and "token" in text.lower():
        what_to_do = TOKEN_ADVICE
    elif "version" in text.lower() and "mismatch" in text.lower():
        reason = " ".join(str(error).split())
        what_to_do = "install the cluster's versions of Ray and Python here."
    else:
        what_to_do = "see that the cluster runs and can be reached from here."
    return f"Cannot connect to the Ray cluster at {address} ({reason}); {what_to_do}"
