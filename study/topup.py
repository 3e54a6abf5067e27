"""Making up for diverged trials: the plan that the store's results ask for under the count rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from study.counting import Ended, points_planned
from study.plan import Plan, Search, Trial, make_plan
from study.spec import StudySpec
from study.stored import StoredTrial, has_result


def topped_up(spec: StudySpec, stored: Mapping[str, StoredTrial]) -> Plan:
    """The plan of a study with the points that make up for the diverged trials in the store.

    Stays within `limits.trials`. Under `count: points` it is the plan of the study file.
    """
    plan = make_plan(spec)
    while stored and spec.search.count == "non_divergent":
        found = [stored.get(trial.id) for trial in plan.trials]
        known = [ended_of(one) if one is not None and has_result(one) else None for one in found]
        points: dict[str, int] = {}
        start = 0
        for search in plan.searches:
            points[search.id] = points_planned(known[start : start + search.points], spec.search.points)
            start += search.points
        if spec.limits.trials is not None and sum(points.values()) > spec.limits.trials:
            break
        if sum(points.values()) == plan.trial_count:
            break
        plan = make_plan(spec, points)
    return plan


def ended_of(stored: StoredTrial) -> Ended:
    """What the count rule needs to know of a stored result."""
    return Ended(stored.rank, stored.diverged_at, at_once=not stored.evaluated)


def more_trials(plan: Plan, search: Search, points: int) -> list[Trial]:
    """The next trials of a search that has `search.points`."""
    return plan.trials_of(replace(search, points=search.points + points))[search.points :]
