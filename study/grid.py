"""When a trial is evaluated: on a grid of fresh examples that is the same in every condition."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

from study.job import TrialJob
from study.result import Rank


@dataclass(frozen=True, slots=True)
class Next:
    """A trial's next evaluation: due after so many updates and fresh examples.

    `rank` is the rank that the trial would get, at the best, by reaching the target there.
    """

    updates: int
    fresh_examples: float
    rank: Rank

    def is_due(self, updates: int, fresh_examples: float) -> bool:
        """True once it has come."""
        return updates >= self.updates and fresh_examples >= self.fresh_examples


class EvaluationGrid:
    """A trial's evaluations: the first update at or past every multiple of `evaluate_every` fresh examples
    below the budget, and the first at or past the budget itself.

    By a fixed factor it is known beforehand which updates these are; with adaptive echoing it turns out.
    """

    def __init__(self, job: TrialJob) -> None:
        self._job = job
        self._updates = [] if job.is_adaptive else list(job.evaluation_updates())

    def after(self, updates: int, fresh_examples: float) -> Next | None:
        """The next evaluation after one at so many updates and fresh examples; None if that was the last."""
        if self._job.is_adaptive:
            return self._after_fresh(updates, fresh_examples)
        place = bisect_right(self._updates, updates)
        if place == len(self._updates):
            return None
        return Next(self._updates[place], 0, self._job.rank_at(self._updates[place]))

    def _after_fresh(self, updates: int, fresh_examples: float) -> Next | None:
        every, budget = self._job.evaluate_every, self._job.budget_fresh_examples
        if fresh_examples >= budget:
            return None
        point = float(min((math.floor(fresh_examples / every) + 1) * every, budget))
        return Next(updates + 1, point, Rank(point, updates + 1, self._job.point))
