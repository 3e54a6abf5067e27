"""Plans and states as plain objects, for `--json`: one object, whose keys other programs may rely on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from study.estimate import Estimate
from study.plan import Plan
from study.result import PROTOCOL_VERSION, Outcome
from study.status import ConditionStatus, StudyStatus


def plan_object(plan: Plan, status: StudyStatus, cost: Estimate) -> dict[str, Any]:
    """What is asked, down to every trial's metaparameters, what of it has run, and what the rest costs."""
    return _totals(plan, status) | {
        "cost": asdict(cost),
        "conditions": [_condition(one) for one in status.conditions],
        "searches": [
            {"search_id": one.id, "condition": one.condition.label, "repeat": one.repeat}
            for one in plan.searches
        ],
        "trials": [
            {
                "trial_id": one.id,
                "search_id": one.search.id,
                "point": one.point,
                "metaparameters": dict(one.metaparameters),
            }
            for one in plan.trials
        ],
    }


def status_object(plan: Plan, status: StudyStatus) -> dict[str, Any]:
    """How far the study is; `overhead_s` is the mean of (slot time - training time) a trial."""
    return _totals(plan, status) | {
        "overhead_s": status.overhead_s,
        "conditions": [
            _condition(one)
            | {
                "outcomes": {outcome.value: one.outcomes.get(outcome, 0) for outcome in Outcome},
                "best_fresh_examples": one.best_fresh_examples,
            }
            for one in status.conditions
        ],
    }


def _totals(plan: Plan, status: StudyStatus) -> dict[str, Any]:
    return {
        "study": plan.spec.name,
        "notes": list(status.notes),
        "protocol_version": PROTOCOL_VERSION,
        "trials_planned": status.trials,
        "trials_done": status.done,
        "trials_left": status.left,
        "timed": asdict(status.timed) if status.timed else None,
    }


def _condition(one: ConditionStatus) -> dict[str, Any]:
    return asdict(one.condition) | {
        "condition": one.condition.label,
        "trials": one.trials,
        "done": one.done,
        "left": one.left,
    }
