"""The points of the searches, metaparameter by metaparameter, and whether the best lie at an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.tables.planned import SEARCH_TYPES, planned_results, search_key

if TYPE_CHECKING:
    from study.plan import Plan

EDGE = 0.05
"""The outermost share of a metaparameter's range, on its scale, that counts as its end."""

GRID = 4096
TYPES = SEARCH_TYPES | {
    "point": "int64",
    "metaparameter": "str",
    "value": "float64",
    "place": "float64",
    "outcome": "str",
    "fresh_examples_to_target": "float64",
    "is_best": "bool",
    "at_end": "bool",
}


def slices(plan: Plan, trials: pd.DataFrame, searches: pd.DataFrame) -> pd.DataFrame:
    """A row a result and numeric metaparameter, in the order of condition, repeat and point.

    Columns: those that name the search, `point`, `metaparameter`, `value`, its `place` in the range, 0 to 1
    on the range's own scale, `outcome`, `fresh_examples_to_target` (NaN if not reached), `is_best` (the
    search's result), `at_end` (in the outermost 5% of the range).
    """
    best = set(
        zip((search.id for search in plan.searches), searches["best_point"].astype("object"), strict=True)
    )
    spaces = {name: _values(plan, name) for name in plan.spec.metaparameters}
    columns = ["trial_id", "outcome", "fresh_examples_to_target"]
    rows = []
    for trial_id, outcome, fresh in planned_results(plan, trials)[columns].itertuples(index=False):
        trial = plan.trial_by_id[trial_id]
        for name, value in trial.metaparameters.items():
            grid = spaces.get(name)
            if grid is None or not isinstance(value, (int, float)):
                continue
            place = float(np.interp(value, grid, np.linspace(0, 1, len(grid))))
            rows.append(
                search_key(trial.search)
                | {"point": trial.point, "metaparameter": name, "value": value, "place": place}
                | {"outcome": outcome, "fresh_examples_to_target": fresh}
                | {"is_best": (trial.search.id, trial.point) in best}
                | {"at_end": not EDGE <= place <= 1 - EDGE}
            )
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def _values(plan: Plan, name: str) -> list[float] | None:
    """The values along a metaparameter's range, evenly spaced on its scale; None where it has no scale."""
    space = plan.spec.metaparameters[name]
    values = [space.at(u) for u in np.linspace(0, 1, GRID, endpoint=False)]
    if not all(isinstance(value, (int, float)) for value in values):
        return None
    return [float(value) for value in values]
