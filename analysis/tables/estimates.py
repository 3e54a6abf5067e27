"""Every estimate for every condition: means, medians, ratios, pairs and bounds, with their intervals."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from analysis.statistics import Interval, log_t_interval, min_max_coverage, paired_log_ratio
from analysis.survival import MOST_CENSORED, median_to_target
from analysis.tables.fresh_examples import baseline_of, of_condition, reached_values
from analysis.tables.planned import CONDITION_TYPES, is_complete

if TYPE_CHECKING:
    from study.plan import Condition, Plan

TYPES = CONDITION_TYPES | {
    "repeats_reached": "int64",
    "censored": "int64",
    "range_holds_median": "float64",
    "geometric_mean": "float64",
    "geometric_low": "float64",
    "geometric_high": "float64",
    "mean_at_least": "float64",
    "km_median": "float64",
    "km_low": "float64",
    "km_high": "float64",
    "pairs": "int64",
    "paired_ratio": "float64",
    "paired_low": "float64",
    "paired_high": "float64",
    "ratio_at_least": "float64",
    "ratio_at_most": "float64",
}


def estimates(plan: Plan, searches: pd.DataFrame) -> pd.DataFrame:
    """A row a condition of the plan, in plan order, from the table of its searches.

    Columns, after the condition's own, `repeats_reached` and `censored`:

    - `range_holds_median`: the probability that minimum to maximum of so many repeats holds the median;
    - `geometric_mean`, `geometric_low`, `geometric_high`: with its 95% interval by t on logarithms;
    - `mean_at_least`: the mean with every censored search at its budget, a lower bound; NaN without any;
    - `km_median`, `km_low`, `km_high`: median by Kaplan and Meier, where more than a fifth of the finished
      searches are censored, else NaN; infinite = more than the budget;
    - `pairs`, `paired_ratio`, `paired_low`, `paired_high`: repeats that reached the target here and in the
      baseline of the same batch size, the geometric mean of their ratios, and its 95% interval by t on the
      paired logarithms (repeats share their seeds); no interval where a search is censored, since the pairs
      that are left are the lucky ones;
    - `ratio_at_least`, `ratio_at_most`: bounds of the ratio of geometric means where searches of the
      condition, or of its baseline, are censored; NaN where the ratio is not bounded on that side, or not
      censored at all.
    """
    rows = [_row(plan, searches, condition) for condition in plan.conditions]
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def finished(plan: Plan, searches: pd.DataFrame) -> pd.DataFrame:
    """The searches all of whose points have a result."""
    return searches[is_complete(plan, searches)]


def _row(plan: Plan, searches: pd.DataFrame, condition: Condition) -> dict[str, object]:
    """The row of one condition."""
    mine = of_condition(searches, condition)
    baseline = of_condition(searches, baseline_of(plan, condition))
    budget = float(plan.spec.budget_of(condition)[0])
    values, cut = reached_values(mine), _censored(plan, mine)
    geometric, paired = log_t_interval(values), _paired(mine, baseline, is_baseline=condition.is_baseline)
    median = Interval(math.nan, math.nan, math.nan)
    if cut > MOST_CENSORED * (cut + len(values)):
        median = median_to_target(values, [budget] * cut)
    row: dict[str, object] = dict(asdict(condition))
    row |= {"repeats_reached": len(values), "censored": cut}
    row |= {"range_holds_median": min_max_coverage(len(values)), "pairs": len(_pairs(mine, baseline))}
    row |= {f"geometric_{end}": getattr(geometric, end) for end in ("low", "high")}
    row |= {"geometric_mean": geometric.estimate}
    row |= {"mean_at_least": (sum(values) + cut * budget) / (len(values) + cut) if cut else math.nan}
    row |= {"km_median": median.estimate, "km_low": median.low, "km_high": median.high}
    row |= {"paired_ratio": paired.estimate, "paired_low": paired.low, "paired_high": paired.high}
    return row | _bounds(values, cut, reached_values(baseline), _censored(plan, baseline), budget)


def _censored(plan: Plan, searches: pd.DataFrame) -> int:
    """How many searches ended without reaching the target."""
    return int((~finished(plan, searches)["reached"]).sum())


def _pairs(mine: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """The repeats that reached the target on both sides."""
    columns = ["repeat", "fresh_examples_to_target"]
    return mine.loc[mine["reached"], columns].merge(
        baseline.loc[baseline["reached"], columns], on="repeat", suffixes=("", "_baseline")
    )


def _paired(mine: pd.DataFrame, baseline: pd.DataFrame, *, is_baseline: bool) -> Interval:
    """The paired ratio to the baseline, without an interval where a search has not reached the target."""
    pairs = _pairs(mine, baseline)
    ratio = paired_log_ratio(
        list(pairs["fresh_examples_to_target"]), list(pairs["fresh_examples_to_target_baseline"])
    )
    if is_baseline or not (mine["reached"].all() and baseline["reached"].all()):
        return Interval(ratio.estimate, math.nan, math.nan)
    return ratio


def _bounds(
    values: list[float], cut: int, baseline: list[float], baseline_cut: int, budget: float
) -> dict[str, float]:
    """Bounds of the ratio: a censored search needed more than its budget, wherever it stands."""
    bounds = {"ratio_at_least": math.nan, "ratio_at_most": math.nan}
    if not (values or cut) or not (baseline or baseline_cut):
        return bounds
    above = log_t_interval([*values, *[budget] * cut]).estimate
    below = log_t_interval([*baseline, *[budget] * baseline_cut]).estimate
    if cut and not baseline_cut:
        bounds["ratio_at_least"] = above / below
    if baseline_cut and not cut:
        bounds["ratio_at_most"] = above / below
    return bounds
