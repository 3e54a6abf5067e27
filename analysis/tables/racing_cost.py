"""What a study's searches consumed, against other ways of getting the same result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from analysis.tables.planned import is_complete, results_by_search
from study.result import Outcome

if TYPE_CHECKING:
    from study.plan import Plan


@dataclass(frozen=True, slots=True)
class RaceCost:
    """Examples consumed (repeats included), summed over the searches that are complete.

    - `consumed`: by the trials as they ran;
    - `floor`: about what any exact method without prior knowledge needs: points x best fresh examples x e
      (the budget where no trial reached the target). Trials that diverge take less, and so do those of
      larger points, which would lose a tie: they are out one evaluation before the best;
    - `fixed`: by the same trials with the whole budget each, the paper's way;
    - `at_target_most`: at most, by the same trials stopped at the target or the budget. Trials that were
      beaten might have reached it anywhere between, so the least is what they did consume.
    """

    consumed: float
    floor: float
    fixed: float
    at_target_most: float

    @property
    def ratio_to_floor(self) -> float:
        """Consumed over the floor; about 1 is the best possible, NaN before a search is complete."""
        return self.consumed / self.floor if self.floor else float("nan")

    @property
    def times_fewer_than_fixed(self) -> float:
        """How many times fewer examples than with the whole budget for every trial."""
        return self.fixed / self.consumed if self.consumed else float("nan")


def race_cost(plan: Plan, trials: pd.DataFrame, searches: pd.DataFrame) -> RaceCost:
    """What the complete searches of a study consumed; `searches` is the table of that name, in plan order."""
    consumed = floor = fixed = at_target_most = 0.0
    complete = is_complete(plan, searches)
    best = searches["fresh_examples_to_target"]
    for (search, results), whole, fresh in zip(results_by_search(plan, trials), complete, best, strict=True):
        if not whole:
            continue
        factor = search.condition.echo_factor
        budget = float(plan.spec.budget_of(search.condition)[0])
        used = results["examples_consumed"].fillna(0.0)
        diverged = results["outcome"] == Outcome.DIVERGED
        open_ended = results["outcome"] == Outcome.BEATEN
        spent = used.where(diverged, used.clip(lower=budget * factor))
        consumed += float(used.sum())
        floor += len(results) * (budget if pd.isna(fresh) else float(fresh)) * factor
        fixed += float(spent.sum())
        at_target_most += float(used.where(~open_ended, spent).sum())
    return RaceCost(consumed, floor, fixed, at_target_most)
