"""Saved states know their pipeline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pipelines.echo import EchoSpec
from pipelines.keys import key
from pipelines.trace import Trace

Settings = dict[str, int | str]


def fingerprint(
    source: int | str, batch_size: int, echo: EchoSpec, augment: object, seed: int, shard: tuple[int, int]
) -> Settings:
    """What decides a pipeline's stream, in words that are the same in every process."""
    without_echo = not echo.is_adaptive and echo.ratio == 1
    return {
        "examples": source,
        "batch_size": batch_size,
        "echo_factor": _factor_in_words(echo),
        "insertion_point": "none" if without_echo else echo.insertion_point,
        "echo_buffer": 0 if without_echo else int(echo.buffer),
        "augment": re.sub(r" at 0x[0-9a-fA-F]+", "", repr(augment)),
        "seed": seed,
        "shard": f"{shard[0]} of {shard[1]}",
    }


def _factor_in_words(echo: EchoSpec) -> str:
    if isinstance(echo.factor, Trace):
        return f"replay of trace {key(echo.factor.ceiling, str(echo.factor)):016x}"
    return f"adaptive, at most {echo.ceiling}" if echo.is_adaptive else str(echo.ratio)


def damaged_state() -> ValueError:
    """What is raised for a state that cannot be one."""
    return ValueError("This state of a pipeline is damaged; load another one, or start without it.")


def require_same(settings: Settings, state: Mapping[str, Any]) -> None:
    """`ValueError` unless `state` was saved by a pipeline with these settings."""
    theirs = state.get("pipeline") if isinstance(state, Mapping) else None
    if not isinstance(theirs, Mapping):
        raise ValueError("This is no state of a pipeline; give what a pipeline's state_dict() returned.")
    if theirs.keys() != settings.keys():
        raise ValueError(
            "This state is that of another kind of pipeline: a Pipeline and a wrapper (echo_examples, "
            "echo_batches) cannot load each other's; give it to the kind that saved it."
        )
    for name, mine in settings.items():
        if theirs.get(name) != mine:
            raise ValueError(
                f"This state belongs to a pipeline with {name} = {theirs.get(name)!r}, not {mine!r}; "
                "give both the same settings, or start without the state."
            )
