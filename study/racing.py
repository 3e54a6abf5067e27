"""Exact racing: stop a trial once it can no longer be its search's result.

Why it is exact. A search's result is the minimum of the ranks (fresh examples, updates, point) of its
trials that reach the target (`study.result`). A trial that has not reached it by one evaluation can reach
it at the next at the earliest, so its rank is at least the rank it would get there. Once another trial of
the search has *reached* with a smaller rank, the slower one is not the minimum, whatever it does later;
leaving it out changes neither the minimum nor whether any trial reached. Ranks of reached trials are
never taken back, so the argument holds in any order of events, with any number of workers, and across
restarts.

Since the order is free, it is chosen well (`study.queue`): in rungs, the most promising first. No exact
method without prior knowledge can do with much less than the floor: every trial but the best must be shown
not to reach before the best does, which takes it as many fresh examples, so a search consumes about
`points x best fresh examples x e`: less by what diverged trials leave, and by one evaluation for each of
the larger points, which would lose a tie. Racing consumes more only by what trials are run past the best
before the best is known.
"""

from __future__ import annotations

from study.result import Rank, best_trial


def cannot_win(best: Rank | None, earliest: Rank) -> bool:
    """True if a trial whose earliest possible rank is `earliest` comes after `best` in any case."""
    return best is not None and best < earliest


class Race:
    """The best rank so far of every search, by search id."""

    def __init__(self) -> None:
        self._best: dict[str, Rank] = {}

    def best(self, search_id: str) -> Rank | None:
        """The best rank so far; None while no trial of the search has reached the target."""
        return self._best.get(search_id)

    def record(self, search_id: str, rank: Rank) -> None:
        """Note that a trial has reached the target with this rank."""
        best = best_trial(filter(None, (rank, self.best(search_id))))
        assert best is not None
        self._best[search_id] = best
