"""What a reader gives, in one form whichever way it was read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

FIRST_CURVE_STEP = 1
"""Points of a curve have step = fresh examples, which is positive; final numbers are logged at step 0."""


@dataclass(frozen=True, slots=True)
class FetchedRun:
    """One run as MLflow knows it: `end_time` in ms, None while it runs; metrics are the latest values."""

    run_id: str
    status: str
    end_time: int | None
    tags: Mapping[str, str]
    params: Mapping[str, str]
    metrics: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Fetched:
    """What one look at the store found.

    `alive` are the ids of all of the study's trial runs that are not deleted; `runs` those of them that are
    new or have changed; `curves` their curves, in the form that `wide` gives.
    """

    alive: frozenset[str]
    runs: tuple[FetchedRun, ...]
    curves: pd.DataFrame


def wide(points: Iterable[tuple[str, str, int, float]]) -> pd.DataFrame:
    """Curves with a row a run and step, from (run id, metric, step, value).

    Columns: `run_id` (str), `fresh_examples` (int64, the step), and a float64 column a metric, in the order
    of their names; rows in the order of run id and step. Of two values at one step the later one wins.
    """
    columns = list(zip(*points, strict=True))
    if not columns:
        return pd.DataFrame({"run_id": pd.Series(dtype="str"), "fresh_examples": pd.Series(dtype="int64")})
    (run_codes, runs), (name_codes, names) = _coded(columns[0]), _coded(columns[1])
    steps = np.asarray(columns[2], dtype=np.int64)
    spread = int(steps.max()) + 1
    places, rows = np.unique(run_codes * spread + steps, return_inverse=True)
    values = np.full((len(places), len(names)), np.nan)
    values[rows, name_codes] = np.asarray(columns[3], dtype=np.float64)
    table = pd.DataFrame(values, columns=list(names))
    table.insert(0, "fresh_examples", places % spread)
    table.insert(0, "run_id", pd.array(runs[places // spread], dtype="str"))
    return table


def _coded(words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """The place of each word among the different ones, and those in their order."""
    codes, different = pd.factorize(np.asarray(words, dtype=object), sort=True)
    return codes.astype(np.int64), different
