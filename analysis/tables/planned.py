"""The bridge from a plan to the results it has: which rows count, and whose they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from study.result import Outcome

if TYPE_CHECKING:
    from study.plan import Plan, Search

RESULTS = [outcome.value for outcome in Outcome if outcome.is_result]

CONDITION_TYPES = {
    "workload": "str",
    "batch_size": "int64",
    "echo_factor": "float64",
    "insertion_point": "str",
    "echo_buffer": "int64",
}
"""The first columns of every table, and their types; the buffer is in examples."""

SEARCH_TYPES = CONDITION_TYPES | {"repeat": "int64"}
"""The columns that name a search."""


def planned_results(plan: Plan, trials: pd.DataFrame) -> pd.DataFrame:
    """The rows of `trials` (`analysis.results.load_trials`) that the plan asks for and that have a result.

    A trial is known by its id, which changes with all that its result depends on: runs of an older version
    of the study file stay out, and those it shares with the present one come in.
    """
    return trials[trials["outcome"].isin(RESULTS) & trials["trial_id"].isin(list(plan.trial_by_id))]


def results_by_search(plan: Plan, trials: pd.DataFrame) -> Iterator[tuple[Search, pd.DataFrame]]:
    """Each search of the plan, in table order, with the rows of its results; no rows if it has none yet."""
    found = planned_results(plan, trials)
    owners = [plan.trial_by_id[trial_id].search.id for trial_id in found["trial_id"]]
    groups = {str(owner): rows for owner, rows in found.groupby(owners)} if owners else {}
    for search in plan.searches:
        yield search, groups.get(search.id, found.iloc[:0])


def search_key(search: Search) -> dict[str, object]:
    """The values that name a search, by column."""
    return asdict(search.condition) | {"repeat": search.repeat}


def is_complete(plan: Plan, searches: pd.DataFrame) -> pd.Series:
    """For each row of the table of searches, whether every point of the plan has a result."""
    planned = {tuple(search_key(search).values()): search.points for search in plan.searches}
    keys = searches[list(SEARCH_TYPES)].itertuples(index=False, name=None)
    done = [points >= planned[key] for points, key in zip(searches["points"], keys, strict=True)]
    return pd.Series(done, index=searches.index, dtype="bool")
