"""Which trial runs next: all searches of a repeat advance together, and within a search good trials go first.

A raced search runs in rungs, as successive halving does (Jamieson and Talwalkar, arXiv 1502.07943), but drops
nothing: every trial runs to the end of a rung and is laid aside with its checkpoint, then those that came
farthest go on first. So the trial that sets the mark is found before the others have been run past it. The
order is all that is chosen here; what may be left out is decided by `study.racing`, which is exact in any
order.
"""

from __future__ import annotations

import math
from bisect import insort
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from study.plan import Plan, Trial

FIRST_RUNG = 4
"""Evaluations in the first rung; each further rung ends at twice as many."""


def rung_of(evaluations: int) -> int:
    """The rung that a trial with so many evaluations is in: 0, 1, 2, ..."""
    return max(0, (evaluations // FIRST_RUNG).bit_length())


def rung_end(rung: int) -> int:
    """The number of evaluations after which a rung ends."""
    return FIRST_RUNG << rung


@dataclass(frozen=True, slots=True, order=True)
class _Waiting:
    """A trial in its search's line: the more promising first, then the smaller point."""

    shortfall: float
    point: int
    trial: Trial = field(compare=False)


@dataclass
class _Lane:
    """A search's waiting trials by rung, and how many of each rung have been handed out."""

    repeat: int
    index: int
    rungs: dict[int, list[_Waiting]] = field(default_factory=lambda: defaultdict(list))
    taken: Counter[int] = field(default_factory=Counter)

    def turn(self) -> tuple[int, int, int, int]:
        """Smaller comes first: by repeat, then rung, then taking turns among the searches."""
        rung = min(self.rungs)
        return self.repeat, rung, self.taken[rung], self.index


class TrialQueue:
    """The trials that wait. `rungs`: race them; else a trial is handed out once, for its whole run."""

    def __init__(self, plan: Plan, *, rungs: bool) -> None:
        self._rungs = rungs
        self._lanes = {search.id: _Lane(search.repeat, index) for index, search in enumerate(plan.searches)}

    def add(self, trial: Trial, evaluations: int = 0, shortfall: float = 0.0) -> None:
        """A trial waits, new or laid aside.

        `evaluations` are those it has had, `shortfall` is how far it is from its target (NaN: unknown, last).
        """
        rung = rung_of(evaluations) if self._rungs else 0
        key = math.inf if math.isnan(shortfall) else shortfall
        insort(self._lanes[trial.search.id].rungs[rung], _Waiting(key, trial.point, trial))

    def take(self) -> tuple[Trial, int | None] | None:
        """The next trial, and after how many evaluations to lay it aside; None if none waits."""
        waiting = [lane for lane in self._lanes.values() if lane.rungs]
        if not waiting:
            return None
        lane = min(waiting, key=_Lane.turn)
        rung = min(lane.rungs)
        line = lane.rungs[rung]
        first = line.pop(0)
        if not line:
            del lane.rungs[rung]
        lane.taken[rung] += 1
        return first.trial, rung_end(rung) if self._rungs else None
