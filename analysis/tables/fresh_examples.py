"""The table of figure 3: fresh examples to the target, a row a condition."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from analysis.statistics import Interval, summarise
from analysis.tables.planned import CONDITION_TYPES, is_complete
from analysis.tables.ratios import fresh_ratio

if TYPE_CHECKING:
    from study.plan import Condition, Plan

TYPES = CONDITION_TYPES | {
    "repeats": "int64",
    "repeats_reached": "int64",
    "censored": "int64",
    "unfinished": "int64",
    "mean": "float64",
    "min": "float64",
    "max": "float64",
    "median": "float64",
    "if_as_good_as_fresh": "float64",
    "ratio_to_baseline": "float64",
    "ratio_low": "float64",
    "ratio_high": "float64",
    "budget": "float64",
}


def figure3(plan: Plan, searches: pd.DataFrame) -> pd.DataFrame:
    """A row a condition of the plan, in plan order, from the table of its searches.

    Columns, after the condition's own:

    - `repeats` (searches), `repeats_reached`, `censored` (no trial reached the target, and every point has a
      result), `unfinished` (a point has no result yet);
    - `mean`, `min`, `max`, `median` of the fresh examples to the target, over the repeats that reached it;
    - `if_as_good_as_fresh`: the baseline's mean over the echo factor;
    - `ratio_to_baseline`, `ratio_low`, `ratio_high`: ratio of the geometric means to that of the baseline of
      the same batch size, and its 95% interval (`analysis.statistics.welch_log_ratio`);
    - `budget`: where censored searches ended, in fresh examples.

    Where a repeat is censored, the mean of the others is shown and is too low. Where one has not reached the
    target, here or in the baseline, the ratio has no interval. The baseline's ratio to itself is 1.
    """
    rows = [_row(plan, searches, condition) for condition in plan.conditions]
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def reached_values(searches: pd.DataFrame) -> list[float]:
    """Fresh examples to the target of the searches that reached it."""
    return [float(value) for value in searches.loc[searches["reached"], "fresh_examples_to_target"]]


def baseline_of(plan: Plan, condition: Condition) -> Condition:
    """The baseline that a condition is compared with: that of its batch size."""
    return next(one for one in plan.conditions if one.is_baseline and one.batch_size == condition.batch_size)


def of_condition(table: pd.DataFrame, condition: Condition) -> pd.DataFrame:
    """The rows of one condition."""
    chosen = pd.Series(True, index=table.index)
    for name, value in asdict(condition).items():
        chosen &= table[name] == value
    return table[chosen]


def _row(plan: Plan, searches: pd.DataFrame, condition: Condition) -> dict[str, object]:
    """The row of one condition."""
    mine = of_condition(searches, condition)
    baseline = of_condition(searches, baseline_of(plan, condition))
    complete = is_complete(plan, mine)
    summary = summarise(reached_values(mine))
    ratio = fresh_ratio(_needed(mine), _needed(baseline))
    if condition.is_baseline:
        ratio = Interval(ratio.estimate, math.nan, math.nan)
    return asdict(condition) | {
        "repeats": len(mine),
        "repeats_reached": summary.n,
        "censored": int((complete & ~mine["reached"]).sum()),
        "unfinished": int((~complete).sum()),
        "mean": summary.mean,
        "min": summary.min,
        "max": summary.max,
        "median": summary.median,
        "if_as_good_as_fresh": summarise(reached_values(baseline)).mean / condition.echo_factor,
        "ratio_to_baseline": ratio.estimate,
        "ratio_low": ratio.low,
        "ratio_high": ratio.high,
        "budget": float(plan.spec.budget_of(condition)[0]),
    }


def _needed(searches: pd.DataFrame) -> pd.Series:
    """Fresh examples to the target of each search; NaN where it has not been reached."""
    return searches["fresh_examples_to_target"].where(searches["reached"])
