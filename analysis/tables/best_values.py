"""The best value of the metric that each condition had within its budget: the table of figure 8."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from analysis.statistics import Interval, summarise, welch_difference
from analysis.tables.fresh_examples import baseline_of
from analysis.tables.planned import CONDITION_TYPES, SEARCH_TYPES, results_by_search, search_key

if TYPE_CHECKING:
    from study.plan import Plan

SEARCH_COLUMNS = SEARCH_TYPES | {"points": "int64", "best_value": "float64"}
TYPES = CONDITION_TYPES | {"repeats": "int64"}
NUMBERS = ("mean", "min", "max", "median", "difference", "difference_low", "difference_high")
TYPES |= dict.fromkeys(NUMBERS, "float64")


def best_by_search(plan: Plan, trials: pd.DataFrame) -> pd.DataFrame:
    """A row a search, in plan order: the best value of the target's metric that any of its trials had.

    Columns: those that name the search, `points` with a result, `best_value` (NaN if there is none). It is
    the best at the fixed budget only if the study is `exhaustive`: else trials stop at the target.
    """
    rule = plan.spec.rule
    column, rows = f"best_{rule.metric}", []
    for search, results in results_by_search(plan, trials):
        values = results[column].dropna() if column in results else pd.Series(dtype="float64")
        best = math.nan
        for value in values:
            best = rule.better(best, float(value))
        rows.append(search_key(search) | {"points": len(results), "best_value": best})
    return pd.DataFrame(rows, columns=list(SEARCH_COLUMNS)).astype(SEARCH_COLUMNS)


def figure8(plan: Plan, by_search: pd.DataFrame) -> pd.DataFrame:
    """A row a condition, in plan order, from the table of `best_by_search`.

    Columns, after the condition's own: `repeats` with a value; `mean`, `min`, `max`, `median` of it;
    `difference` of the mean to the baseline of the same batch size and its 95% Welch interval
    (`difference_low`, `difference_high`), in the metric's own unit.
    """
    values = {
        condition: [
            float(value)
            for search, value in zip(plan.searches, by_search["best_value"], strict=True)
            if search.condition == condition and math.isfinite(value)
        ]
        for condition in plan.conditions
    }
    rows = []
    for condition in plan.conditions:
        summary = summarise(values[condition])
        difference = welch_difference(values[condition], values[baseline_of(plan, condition)])
        if condition.is_baseline:
            difference = Interval(difference.estimate, math.nan, math.nan)
        rows.append(
            asdict(condition)
            | {"repeats": summary.n, "mean": summary.mean, "min": summary.min, "max": summary.max}
            | {"median": summary.median, "difference": difference.estimate}
            | {"difference_low": difference.low, "difference_high": difference.high}
        )
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)
