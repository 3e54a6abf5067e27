"""Confirmation: each search's winner again, with new seeds.

The best of many noisy trials flatters: at 10% noise from run to run its own value is 6-7% too good. The same
point with new seeds tells what it is worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import mean

from study.conditions import Condition
from study.errors import UserError
from study.plan import Plan, Trial, stable_id
from study.result import best_trial
from study.stored import StoredTrial
from study.winners import ranks, winners


def confirmation(plan: Plan, stored: Mapping[str, StoredTrial], seeds: int) -> Plan:
    """The plan that runs every search's winner with `seeds` new seeds, to the target or the budget.

    A study of its own, `-confirm` behind its name, with a search for each that has a winner. Seeds are the
    same for all conditions of a repeat, as in the study. Raises `UserError` if no search has a winner yet.
    """
    spec = plan.spec.model_copy(
        update={
            "name": f"{plan.spec.name[:92]}-confirm",
            "stop": "at_target",
            "search": plan.spec.search.model_copy(update={"count": "points"}),
        }
    )
    searches, trials = [], []
    for winner in winners(plan, stored).values():
        search = winner.search
        again = replace(search, id=stable_id("confirmation", search.id, winner.point), points=seeds)
        searches.append(again)
        trials += [
            Trial(stable_id("confirmation", winner.id, i), again, i, winner.metaparameters, reseed=i + 1)
            for i in range(seeds)
        ]
    if not trials:
        raise UserError(f"No search of {plan.spec.name} has reached its target yet; run the study first.")
    conditions = tuple(one for one in plan.conditions if any(one == search.condition for search in searches))
    return Plan(spec, conditions, tuple(searches), tuple(trials))


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A condition's mean result, its winners' mean with new seeds, and how many of those reached the target.

    Both means are over the searches that have a winner, in fresh examples; `again` is None until a confirming
    trial has reached the target. Those that missed it are left out of the mean, which is too low then.
    """

    condition: Condition
    searches: int
    own: float
    again: float | None
    reached: int
    trials: int


def confirmed(
    plan: Plan, stored: Mapping[str, StoredTrial], confirming: Plan, again: Mapping[str, StoredTrial]
) -> list[Confirmed]:
    """What the confirmation shows, a row a condition, in table order."""
    rows = []
    for condition in confirming.conditions:
        repeats = {one.repeat for one in confirming.searches if one.condition == condition}
        own = [
            best.fresh_examples
            for search in plan.searches
            if search.condition == condition and search.repeat in repeats
            if (best := best_trial(ranks(plan, search, stored))) is not None
        ]
        found = [
            known.rank.fresh_examples
            for trial in confirming.trials
            if trial.search.condition == condition
            if (known := again.get(trial.id)) is not None and known.rank is not None
        ]
        trials = sum(trial.search.condition == condition for trial in confirming.trials)
        rows.append(
            Confirmed(condition, len(own), mean(own), mean(found) if found else None, len(found), trials)
        )
    return rows
