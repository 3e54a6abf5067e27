"""What a study cost, and what its stop rule saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from analysis.tables.planned import SEARCH_TYPES, planned_results, results_by_search, search_key
from study.result import Outcome

if TYPE_CHECKING:
    from study.plan import Plan

OUTCOMES = (Outcome.REACHED, Outcome.MISSED, Outcome.DIVERGED, Outcome.BEATEN)
SUMS = ("examples_consumed", "training_s")
TYPES = SEARCH_TYPES | {f"points_{outcome}": "int64" for outcome in OUTCOMES} | dict.fromkeys(SUMS, "float64")


def cost(plan: Plan, trials: pd.DataFrame) -> pd.DataFrame:
    """A row a search of the plan, in plan order: how its trials ended, and what they took.

    Columns: those that name the search (as in `searches`), `points_reached`, `points_missed`,
    `points_diverged`, `points_beaten` (how many of its points ended so), `examples_consumed` (repeats
    included) and `training_s` (input, updates and evaluation), both summed over its results. Crashed and
    unfinished runs have no result and are not counted. Unlike `searches`, this table does depend on racing.
    """
    rows = []
    for search, results in results_by_search(plan, trials):
        counts = results["outcome"].value_counts()
        rows.append(
            search_key(search)
            | {f"points_{outcome}": counts.get(outcome.value, 0) for outcome in OUTCOMES}
            | {name: results[name].sum() for name in SUMS}
        )
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


@dataclass(frozen=True, slots=True)
class Saving:
    """Examples consumed by the trials with a result, and by the same trials run to the whole budget."""

    consumed: float
    exhaustive: float

    @property
    def share(self) -> float:
        """The share of the exhaustive consumption that was saved, 0 to 1; 0 if there is nothing yet."""
        return 1 - self.consumed / self.exhaustive if self.exhaustive else 0.0


def share_saved(plan: Plan, trials: pd.DataFrame) -> Saving:
    """What stopping early saved: examples consumed, against running every trial to the end of its budget.

    Over the trials of the plan that have a result. Exhaustively, a trial would have consumed the budget
    times its echo factor (never less than it did consume: the last batch may go past the budget); a diverged
    trial ends where it diverges under either rule and counts as what it consumed. What a trial consumed is
    known as of its last evaluation: nothing for one that diverged before the first. The saving is an upper
    bound in so far as a trial that was stopped might have diverged later on.
    """
    found = planned_results(plan, trials)
    consumed = found["examples_consumed"].fillna(0).to_numpy(dtype=np.float64)
    conditions = [plan.trial_by_id[one].search.condition for one in found["trial_id"]]
    budgets = np.array([float(plan.spec.budget_of(one)[0]) * one.echo_factor for one in conditions])
    whole = np.maximum(budgets, consumed)
    diverged = (found["outcome"] == Outcome.DIVERGED).to_numpy()
    return Saving(float(consumed.sum()), float(np.where(diverged, consumed, whole).sum()))
