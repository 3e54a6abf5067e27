"""The table of searches: what each of them found, by the one result rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from analysis.tables.planned import SEARCH_TYPES, results_by_search, search_key
from study.result import Outcome, Rank, best_trial

if TYPE_CHECKING:
    from study.plan import Plan

TYPES = SEARCH_TYPES | {
    "points": "int64",
    "reached": "bool",
    "fresh_examples_to_target": "float64",
    "best_point": "Int64",
}


def searches(plan: Plan, trials: pd.DataFrame) -> pd.DataFrame:
    """A row a search of the plan, in plan order, from the trials that have a result.

    Columns: the condition (`workload`, `batch_size`, `echo_factor`, `insertion_point`, `echo_buffer` in
    examples), `repeat`, `points` (how many of the search's points have a result), `reached`,
    `fresh_examples_to_target` and `best_point` (the point index) of the search's best trial.

    If no trial reached the target, the last two are missing: the search is censored at the budget once all
    of its points have a result. A trial that was beaten in the race never holds the best rank, so the table
    is the same whether trials were raced or not.
    """
    rows = []
    for search, results in results_by_search(plan, trials):
        best = best_trial(_ranks(plan, results))
        rows.append(
            search_key(search)
            | {
                "points": len(results),
                "reached": best is not None,
                "fresh_examples_to_target": None if best is None else best.fresh_examples,
                "best_point": None if best is None else best.point,
            }
        )
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def _ranks(plan: Plan, results: pd.DataFrame) -> Iterator[Rank]:
    """The ranks of the trials that reached the target."""
    reached = results[results["outcome"] == Outcome.REACHED]
    columns = ["trial_id", "fresh_examples_to_target", "updates_to_target"]
    for trial_id, fresh_examples, updates in reached[columns].itertuples(index=False):
        yield Rank(fresh_examples, int(updates), plan.trial_by_id[trial_id].point)
