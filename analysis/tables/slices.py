"""The points of the searches, metaparameter by metaparameter, and whether the best lie at an end."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.tables.planned import SEARCH_TYPES, planned_results, search_key
from study.ranges import Range

if TYPE_CHECKING:
    from study.plan import Condition, Plan

EDGE = 0.05
"""The outermost share of a metaparameter's range, on its scale, that counts as its end."""

SHARES = tuple(i / 4096 for i in range(4097))
"""Where ranges are looked up to find the place of a value."""

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
    """A row a result and metaparameter with a range, in the order of condition, repeat and point.

    Columns: those that name the search, `point`, `metaparameter`, `value`, its `place` in the range, 0 to 1
    on the range's own scale, `outcome`, `fresh_examples_to_target` (NaN if not reached), `is_best` (the
    search's result), `at_end` (in the outermost 5% of the range).
    """
    best = set(
        zip((search.id for search in plan.searches), searches["best_point"].astype("object"), strict=True)
    )
    place_of = lru_cache(maxsize=None)(partial(_places, plan))
    rows = []
    for result in planned_results(plan, trials).to_dict("records"):
        trial = plan.trial_by_id[result["trial_id"]]
        for name, places in place_of(trial.search.condition).items():
            value = result.get(f"param.{name}", math.nan)
            if math.isnan(value):
                continue
            place = float(np.interp(value, places, SHARES))
            rows.append(
                search_key(trial.search)
                | {"point": trial.point, "metaparameter": name, "value": value, "place": place}
                | {"outcome": result["outcome"]}
                | {"fresh_examples_to_target": result["fresh_examples_to_target"]}
                | {"is_best": (trial.search.id, trial.point) in best}
                | {"at_end": not EDGE <= place <= 1 - EDGE}
            )
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def place_name(plan: Plan, name: str, place: float) -> str:
    """What lies at a place in a metaparameter's range, or which end it is where conditions differ in it."""
    spaces = [plan.spec.space(condition)[name] for condition in plan.conditions]
    if any(space != spaces[0] for space in spaces):
        return {0.0: "low end", 1.0: "high end"}.get(place, "middle")
    return f"{spaces[0].at(min(place, SHARES[-1])):.3g}"


def _places(plan: Plan, condition: Condition) -> dict[str, list[float]]:
    """By metaparameter, the values at `SHARES` of its range; choices have no places and are left out."""
    space = plan.spec.space(condition)
    return {
        name: [found.at(share) for share in SHARES]
        for name, found in space.items()
        if isinstance(found, Range)
    }
