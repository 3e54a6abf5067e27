"""What tuning costs: the share of trials that have reached the target, by fresh examples spent on each."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from analysis.survival import not_reached
from analysis.tables.planned import CONDITION_TYPES, planned_results
from study.result import Outcome

if TYPE_CHECKING:
    from study.plan import Plan

NUMBERS = ("fresh_examples", "share_reached", "low", "high", "followed_to")
TYPES = CONDITION_TYPES | {"trials": "int64"} | dict.fromkeys(NUMBERS, "float64")


def tuning_cost(plan: Plan, trials: pd.DataFrame) -> pd.DataFrame:
    """A row a condition and value of fresh examples at which trials of it reached the target.

    Columns, after the condition's own: `trials` with a result; `fresh_examples` of one trial;
    `share_reached` by then, and its 95% interval `low`, `high` (Kaplan and Meier: a trial that was beaten, or
    ended at its budget, is followed up to there; one that diverged will never reach it); `followed_to`, the
    most fresh examples of any trial that did not diverge: past it the share is unknown. The first row of a
    condition is at 0; conditions without a result have no row.
    """
    found = planned_results(plan, trials)
    conditions = [plan.trial_by_id[trial_id].search.condition for trial_id in found["trial_id"]]
    rows = []
    for condition in plan.conditions:
        budget = float(plan.spec.budget_of(condition)[0])
        mine = found.iloc[[at for at, one in enumerate(conditions) if one == condition]]
        if not len(mine):
            continue
        is_reached = mine["outcome"] == Outcome.REACHED
        reached = mine.loc[is_reached, "fresh_examples_to_target"]
        others = mine[~is_reached]
        followed = (others["examples_consumed"] / condition.echo_factor).fillna(0.0)
        is_diverged = others["outcome"] == Outcome.DIVERGED
        furthest = max([0.0, *map(float, reached), *map(float, followed[~is_diverged])])
        followed = followed.where(~is_diverged, budget)
        steps = not_reached([*map(float, reached)], [*map(float, followed)])
        for fresh, share, low, high in [(0.0, 1.0, 1.0, 1.0), *steps.itertuples(index=False)]:
            rows.append(
                asdict(condition)
                | {"trials": len(mine), "fresh_examples": fresh}
                | {"share_reached": 1 - share, "low": 1 - high, "high": 1 - low, "followed_to": furthest}
            )
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)
