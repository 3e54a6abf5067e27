"""How the trials of each condition ended, and where their time went."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from analysis.tables.planned import CONDITION_TYPES
from study.result import Outcome

if TYPE_CHECKING:
    from study.plan import Plan

OUTCOMES = [outcome.value for outcome in Outcome]
HOURS = ("input_wait_h", "update_h", "evaluation_h", "overhead_h")
TYPES = CONDITION_TYPES | dict.fromkeys(("trials", *OUTCOMES, "without_result"), "int64")
TYPES |= dict.fromkeys(HOURS, "float64")


def health(plan: Plan, trials: pd.DataFrame) -> pd.DataFrame:
    """A row a condition of the plan, in plan order.

    Columns, after the condition's own: `trials` of the plan, how many of them ended as each outcome
    (`crashed` and `out_of_memory` ones run again), `without_result` (not begun, running or cut off); hours of
    all of them spent waiting for input, updating, evaluating, and holding a slot otherwise (`overhead_h`).
    """
    mine = trials[trials["trial_id"].isin(list(plan.trial_by_id))]
    owners = [plan.trial_by_id[trial_id].search.condition for trial_id in mine["trial_id"]]
    planned = dict.fromkeys(plan.conditions, 0)
    for trial in plan.trials:
        planned[trial.search.condition] += 1
    rows = []
    for condition in plan.conditions:
        rows_here = mine.iloc[[at for at, owner in enumerate(owners) if owner == condition]]
        counts = rows_here["outcome"].value_counts()
        ended = {outcome: int(counts.get(outcome, 0)) for outcome in OUTCOMES}
        spent = [float(rows_here[name].sum()) / 3600 for name in ("input_wait_s", "update_s", "evaluation_s")]
        overhead = float((rows_here["slot_s"] - rows_here["training_s"]).clip(lower=0).sum()) / 3600
        rows.append(
            asdict(condition)
            | {"trials": planned[condition]}
            | ended
            | {"without_result": planned[condition] - sum(ended.values())}
            | dict(zip(HOURS, [*spent, overhead], strict=True))
        )
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)
