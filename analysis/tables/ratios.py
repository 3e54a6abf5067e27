"""What repeats are worth, from the table of trials alone: for studies whose file is not at hand."""

from __future__ import annotations

import math

import pandas as pd

from analysis.results import SETTLED
from analysis.statistics import Interval, welch_log_ratio
from analysis.tables.planned import CONDITION_TYPES
from study.result import Outcome

TYPES = CONDITION_TYPES | {
    "repeats": "int64",
    "repeats_reached": "int64",
    "ratio_to_baseline": "float64",
    "ratio_low": "float64",
    "ratio_high": "float64",
}


def stored_ratios(trials: pd.DataFrame) -> pd.DataFrame:
    """A row a condition that has a result, from a study's table of trials (`analysis.load`).

    Columns, after the condition's own: `repeats` (searches with a result) and `repeats_reached`; the ratio to
    the baseline of the same batch size, and its interval, as in the table of figure 3. Whether a search has
    run to its end, the trials do not tell: of an unfinished study these are its results so far.
    """
    by_search = settled_searches(trials)
    rows = []
    for condition, mine in by_search.groupby(list(CONDITION_TYPES), sort=False):
        row = dict(zip(CONDITION_TYPES, condition, strict=True))
        alike = by_search["batch_size"] == row["batch_size"]
        baseline = by_search[alike & (by_search["insertion_point"] == "none")]
        ratio = fresh_ratio(mine["fresh_examples_to_target"], baseline["fresh_examples_to_target"])
        row |= {"repeats": len(mine), "repeats_reached": int(mine["fresh_examples_to_target"].count())}
        row |= {"ratio_to_baseline": ratio.estimate, "ratio_low": ratio.low, "ratio_high": ratio.high}
        rows.append(row)
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def settled_searches(trials: pd.DataFrame) -> pd.DataFrame:
    """A row a search with a result: its condition, and the fewest fresh examples to the target (or NaN)."""
    found = trials[trials["outcome"].isin(SETTLED)]
    reached = found["fresh_examples_to_target"].where(found["outcome"] == Outcome.REACHED)
    keys = list(CONDITION_TYPES)
    table = found[[*keys, "search_id"]].assign(fresh_examples_to_target=reached).astype(CONDITION_TYPES)
    by_search = table.groupby([*keys, "search_id"], sort=False)["fresh_examples_to_target"]
    return by_search.min().reset_index()


def fresh_ratio(needed: pd.Series, baseline: pd.Series) -> Interval:
    """Ratio of the geometric means of what searches needed, NaN where one has not reached its target.

    Those that have not count for nothing in the estimate, and then there is no interval.
    """
    ratio = welch_log_ratio(list(needed.dropna()), list(baseline.dropna()))
    if needed.isna().any() or baseline.isna().any():
        return Interval(ratio.estimate, math.nan, math.nan)
    return ratio
