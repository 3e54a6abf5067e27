"""When the two halves of a pipeline work and wait, with and without echoing: the table of figure 2."""

from __future__ import annotations

import pandas as pd

TYPES = {
    "echo_factor": "float64",
    "stage": "str",
    "fresh": "int64",
    "copy": "int64",
    "start": "float64",
    "end": "float64",
}


def idle_time(ratio: float, echo_factor: int, fresh: int = 4) -> pd.DataFrame:
    """A row a step of a stage, for `fresh` elements, without echoing and with it.

    Columns: `echo_factor` (1, and the given one), `stage` (`upstream`, `downstream`), `fresh` (which
    element), `copy` (0 upstream), `start` and `end`, in downstream steps. Upstream takes `ratio` (R) a fresh
    element and never waits; downstream takes 1 a copy, and begins once the element is there and the copy
    before is done.
    """
    rows = []
    for factor in dict.fromkeys((1, echo_factor)):
        free = 0.0
        for element in range(fresh):
            start, there = element * ratio, (element + 1) * ratio
            rows.append((factor, "upstream", element, 0, start, there))
            for copy in range(factor):
                begin = max(there, free)
                free = begin + 1
                rows.append((factor, "downstream", element, copy, begin, free))
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def idle_share(steps: pd.DataFrame, echo_factor: float) -> float:
    """The share of the time between its first and last step in which downstream waits."""
    mine = steps[(steps["stage"] == "downstream") & (steps["echo_factor"] == echo_factor)]
    span = float(mine["end"].max() - mine["start"].min())
    return 1 - float((mine["end"] - mine["start"]).sum()) / span
