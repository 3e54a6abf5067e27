"""The winner of each search, as the store knows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from study.plan import Plan, Search, Trial
from study.result import Rank, best_trial
from study.stored import StoredTrial


def ranks(plan: Plan, search: Search, stored: Mapping[str, StoredTrial]) -> Iterator[Rank]:
    """The ranks of a search's trials that have reached the target."""
    return (
        known.rank
        for trial in plan.trials_of(search)
        if (known := stored.get(trial.id)) is not None and known.rank is not None
    )


def winners(plan: Plan, stored: Mapping[str, StoredTrial]) -> dict[str, Trial]:
    """The best trial of each search that has one, by search id, in table order.

    With the metaparameters it ran with, which the plan of an adaptive search does not know.
    """
    found = {}
    for search in plan.searches:
        best = best_trial(ranks(plan, search, stored))
        if best is not None:
            trial = plan.trials_of(search)[best.point]
            found[search.id] = replace(trial, metaparameters=stored[trial.id].metaparameters)
    return found
