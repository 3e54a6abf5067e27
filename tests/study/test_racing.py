"""Racing against running everything, on random learning curves."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from study.racing import Race, cannot_win
from study.result import Rank, best_trial

BUDGET = 12
"""Evaluations a trial has at most."""


def rank(at: int, point: int) -> Rank:
    """Rank of a trial that reaches the target at its evaluation number `at` (from 1)."""
    return Rank(256.0 * at, 8 * at, point)


def exhaustive(reached_at: list[int | None]) -> Rank | None:
    return best_trial(rank(at, point) for point, at in enumerate(reached_at) if at is not None)


def raced(reached_at: list[int | None], seed: int, slots: int, restart_every: int) -> tuple[Rank | None, int]:
    """Run trials on `slots` slots that advance in random order; every now and then the driver dies.

    Then running trials lose their progress and the race is rebuilt from the trials that have ended. Returns
    the search's result and the number of evaluations made.
    """
    chooser = random.Random(seed)
    waiting = list(range(len(reached_at)))
    chooser.shuffle(waiting)
    running: dict[int, int] = {}
    ended: dict[int, Rank | None] = {}
    race, made = Race(), 0
    while waiting or running:
        while waiting and len(running) < slots:
            running[waiting.pop(0)] = 0
        point = chooser.choice(sorted(running))
        running[point] += 1
        made += 1
        if reached_at[point] == running[point]:
            ended[point] = rank(running.pop(point), point)
            race.record("search", ended[point])
        elif running[point] == BUDGET or cannot_win(race.best("search"), rank(running[point] + 1, point)):
            ended[point] = None
            del running[point]
        if restart_every and made % restart_every == 0 and made < 200:
            waiting = sorted(running) + waiting
            running.clear()
            race = Race()
            for known in filter(None, ended.values()):
                race.record("search", known)
    return best_trial(filter(None, ended.values())), made


@settings(max_examples=500)
@given(
    reached_at=st.lists(st.one_of(st.none(), st.integers(1, BUDGET)), min_size=1, max_size=16),
    seed=st.integers(0, 2**32),
    slots=st.integers(1, 4),
    restart_every=st.sampled_from([0, 3, 7, 20]),
)
def test_racing_gives_the_result_of_running_everything(reached_at, seed, slots, restart_every):
    result, _ = raced(reached_at, seed, slots, restart_every)
    assert result == exhaustive(reached_at)


def test_racing_saves_evaluations_once_a_trial_has_reached():
    reached_at = [2, 2, 2, 2] + [None] * 6
    _, made = raced(reached_at, seed=0, slots=1, restart_every=0)
    assert made < BUDGET * len(reached_at) / 2


def test_a_trial_that_could_still_tie_with_a_smaller_point_goes_on():
    best = rank(4, point=5)
    assert not cannot_win(best, rank(4, point=3))
    assert cannot_win(best, rank(4, point=7))
    assert not cannot_win(None, rank(12, point=0))
