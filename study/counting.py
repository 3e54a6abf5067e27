"""The count rule `non_divergent`: how many points a search needs until enough of them did not diverge.

The paper runs its searches until 100 (50) trials did not diverge. Which trials count has to be said so that
it is the same whether trials are raced or not: a trial counts as diverged if it had diverged by the time it
would have had to reach the target to be the search's result; one that diverges later has shown, as far as the
search had to look, that it does not. The search is the shortest beginning of its table of points in which
enough trials count.

Racing knows all it takes: a trial that diverges by then is not beaten before it does, since the mark to beat
is never below the result. A point more can only lower the result, and with it the number of diverged trials
that count, so the shortest beginning is found by growing it: in one step by as many as diverged before their
first evaluation (no later point can come before that), else by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from study.result import Rank, best_trial


@dataclass(frozen=True, slots=True)
class Ended:
    """A trial's end.

    `rank` if it reached; `diverged_at` if it diverged: the rank it would have got by reaching the target at
    the evaluation that found it diverged; `at_once`: that was its first evaluation.
    """

    rank: Rank | None = None
    diverged_at: Rank | None = None
    at_once: bool = False


def points_missing(ended: Iterable[Ended], wanted: int) -> int:
    """How many points to add to a search all of whose trials have ended; 0 if enough of them count."""
    ended = list(ended)
    best = best_trial(one.rank for one in ended if one.rank is not None)
    diverged = [one for one in ended if one.diverged_at and (best is None or one.diverged_at < best)]
    missing = wanted - (len(ended) - len(diverged))
    at_once = sum(one.at_once for one in diverged)
    return 0 if missing <= 0 else max(1, wanted + at_once - len(ended))


def points_planned(ended: Sequence[Ended | None], wanted: int) -> int:
    """How many points a search has, by what is known of its first ones (None: not ended)."""
    points = wanted
    while len(ended) >= points:
        first = [one for one in ended[:points] if one is not None]
        if len(first) < points or not (more := points_missing(first, wanted)):
            break
        points += more
    return points
