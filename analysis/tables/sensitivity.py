"""Would another target have told another story? Answered from the curves, without a new run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from analysis.statistics import Interval, summarise, welch_log_ratio
from analysis.tables.fresh_examples import baseline_of
from analysis.tables.planned import CONDITION_TYPES, planned_results

if TYPE_CHECKING:
    from study.plan import Plan

SHIFTS = (-0.02, -0.01, 0.0, 0.01, 0.02)
"""Targets looked at, as shares of the study's; negative is easier to reach."""

TYPES = {"target": "float64", "shift": "float64"} | CONDITION_TYPES
TYPES |= {"repeats": "int64", "repeats_reached": "int64"}
TYPES |= dict.fromkeys(("mean", "ratio_to_baseline", "ratio_low", "ratio_high"), "float64")


def sensitivity(
    plan: Plan, trials: pd.DataFrame, curves: pd.DataFrame, shifts: Sequence[float] = SHIFTS
) -> pd.DataFrame:
    """A row a target and condition: what the study would have found with that target.

    Columns: `target` (a value of the metric), `shift` (as a share of the study's target, negative = easier),
    the condition's, `repeats`, `repeats_reached`, `mean` of fresh examples to that target, and the ratio to
    the baseline with its Welch interval as in `figure3` (no interval where a search did not reach it).

    Trials that stop when they reach the target say nothing of harder ones, so those are left out unless the
    study is `exhaustive`. Easier ones are exact under racing, too: a trial is stopped only after its
    search's best trial has reached the study's target, and so every easier one. Fresh examples are those of
    the curves, whole numbers, and of curves of at most 200 points.
    """
    rows = []
    for shift in sorted(shifts):
        if shift > 0 and plan.spec.stop != "exhaustive":
            continue
        target = _shifted(plan, shift)
        first = _first_reached(plan, trials, curves, target)
        values = {
            condition: [first[search.id] for search in plan.searches if search.condition == condition]
            for condition in plan.conditions
        }
        for condition in plan.conditions:
            mine, base = values[condition], values[baseline_of(plan, condition)]
            found = [value for value in mine if math.isfinite(value)]
            base_found = [value for value in base if math.isfinite(value)]
            ratio = welch_log_ratio(found, base_found)
            if condition.is_baseline or len(found) < len(mine) or len(base_found) < len(base):
                ratio = Interval(ratio.estimate, math.nan, math.nan)
            rows.append(
                {"target": target, "shift": shift}
                | asdict(condition)
                | {"repeats": len(mine), "repeats_reached": len(found), "mean": summarise(found).mean}
                | {
                    "ratio_to_baseline": ratio.estimate,
                    "ratio_low": ratio.low,
                    "ratio_high": ratio.high,
                }
            )
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def _shifted(plan: Plan, shift: float) -> float:
    """The target moved by a share of itself, negative to the easier side."""
    rule = plan.spec.rule
    easier_is_lower = 1 if rule.higher_is_better else -1
    return rule.value + shift * easier_is_lower * abs(rule.value)


def _first_reached(plan: Plan, trials: pd.DataFrame, curves: pd.DataFrame, target: float) -> dict[str, float]:
    """Fewest fresh examples to a target by search; infinite where none of its trials got there."""
    first = dict.fromkeys((search.id for search in plan.searches), math.inf)
    rule = plan.spec.rule
    if rule.metric not in curves or not len(curves):
        return first
    values = curves[rule.metric]
    there = values >= target if rule.higher_is_better else values <= target
    mine = curves["trial_id"].isin(planned_results(plan, trials)["trial_id"])
    for trial_id, fresh in curves[there & mine].groupby("trial_id")["fresh_examples"].min().items():
        search = plan.trial_by_id[str(trial_id)].search.id
        first[search] = min(first[search], float(fresh))
    return first
