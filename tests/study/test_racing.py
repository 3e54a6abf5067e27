"""Racing in rungs against running everything, on random learning curves, through the sweep's own queue."""

import random
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from study.counting import Ended, points_missing, points_planned
from study.plan import Plan, make_plan
from study.queue import TrialQueue
from study.racing import Race, cannot_win
from study.result import Rank, best_trial
from study.spec import load_spec
from study.topup import more_trials

BUDGET = 20
"""Evaluations a trial has at most: three rungs, the last one cut."""


@dataclass(frozen=True)
class Curve:
    """A trial's fate: the evaluation at which it reaches the target, or after which it diverges, if any."""

    reaches: int | None
    diverges_after: int | None
    noise: int

    def ends_at(self, evaluation: int, point: int) -> Ended | None:
        """How a run of all the budget ends at this evaluation, or None if it goes on."""
        if self.diverges_after is not None and evaluation > self.diverges_after:
            return Ended(None, rank(evaluation, point), at_once=evaluation == 1)
        return None


def rank(at: int, point: int) -> Rank:
    """Rank of a trial that reaches the target at its evaluation number `at` (from 1)."""
    return Rank(256.0 * at, 8 * at, point)


def reached(curve: Curve, point: int) -> Rank | None:
    """What a trial is worth that runs on whatever the others do; one that diverges reaches no more."""
    if curve.reaches is None or (curve.diverges_after is not None and curve.diverges_after < curve.reaches):
        return None
    return rank(curve.reaches, point)


def exhaustive(curves: list[Curve], wanted: int, *, non_divergent: bool) -> tuple[Rank | None, int]:
    """The result and the number of points by running every trial, in the words of the rule."""
    points = wanted
    while True:
        ranks = [reached(curve, point) for point, curve in enumerate(curves[:points])]
        best = best_trial(filter(None, ranks))
        counted = sum(
            one.diverges_after is None
            or got is not None
            or (best is not None and rank(one.diverges_after + 1, point) > best)
            for point, (one, got) in enumerate(zip(curves[:points], ranks, strict=True))
        )
        if not non_divergent or counted >= wanted or points == len(curves):
            return best, points
        points += 1


@dataclass
class Driver:
    """A sweep in small: slots that advance in random order, a queue, a race; now and then it dies."""

    plan: Plan
    curves: list[Curve]
    seed: int
    slots: int
    restart_every: int
    non_divergent: bool

    def run(self) -> tuple[Rank | None, int, int]:
        """The result, the number of points and the evaluations made."""
        chooser = random.Random(self.seed)
        self.ended: dict[int, Ended] = {}
        made, progress = 0, {}
        self._restart(progress)
        while True:
            while len(self.running) < self.slots and (turn := self.queue.take()) is not None:
                trial, until = turn
                at = progress.get(trial.point, 0)
                if at and cannot_win(self.race.best("search"), rank(at + 1, trial.point)):
                    self._end(trial.point, Ended())
                else:
                    self.running[trial.point] = (trial, until)
            if not self.running:
                break
            point = chooser.choice(sorted(self.running))
            step = self._advance(point, progress)
            made += step
            if step and self.restart_every and made % self.restart_every == 0 and made < 300:
                self._restart(progress)
        return best_trial(filter(None, (one.rank for one in self.ended.values()))), len(self.ended), made

    def _restart(self, progress: dict[int, int]) -> None:
        """Only results and checkpoints (here: of whole evaluations) are left; some were not yet written."""
        self.running = {}
        self.race = Race()
        for known in self.ended.values():
            if known.rank is not None:
                self.race.record("search", known.rank)
        for point in list(progress):
            progress[point] -= progress[point] % 3
        wanted = self.plan.spec.search.points
        known = [self.ended.get(point) for point in range(len(self.curves))]
        self.points = points_planned(known, wanted) if self.non_divergent else wanted
        self.points = min(self.points, len(self.curves))
        self.queue = TrialQueue(self.plan, rungs=True)
        (search,) = self.plan.searches
        for trial in more_trials(self.plan, replace(search, points=0), self.points):
            if trial.point not in self.ended:
                self.queue.add(trial)
        self._top_up()

    def _advance(self, point: int, progress: dict[int, int]) -> int:
        trial, until = self.running[point]
        curve, at = self.curves[point], progress.get(point, 0)
        if at >= until:  # it had come farther before a restart
            del self.running[point]
            self.queue.add(trial, at, curve.noise)
            return 0
        at += 1
        progress[point] = at
        end = curve.ends_at(at, point)
        if end is not None:
            self._end(point, end)
        elif curve.reaches == at:
            self._end(point, Ended(rank(at, point)))
        elif at == BUDGET or cannot_win(self.race.best("search"), rank(at + 1, point)):
            self._end(point, Ended())
        elif at >= until:
            del self.running[point]
            self.queue.add(trial, at, curve.noise)
        return 1

    def _end(self, point: int, ended: Ended) -> None:
        self.running.pop(point, None)
        self.ended[point] = ended
        if ended.rank is not None:
            self.race.record("search", ended.rank)
        self._top_up()

    def _top_up(self) -> None:
        if not self.non_divergent or len(self.ended) < self.points:
            return
        missing = points_missing(self.ended.values(), self.plan.spec.search.points)
        missing = min(missing, len(self.curves) - self.points)
        (search,) = self.plan.searches
        for trial in more_trials(self.plan, replace(search, points=self.points), missing):
            self.queue.add(trial)
        self.points += missing


def plan_of(points: int) -> Plan:
    settings = [f"search.points={points}", "search.repeats=1", "conditions.echo_factor=[1]"]
    return make_plan(load_spec("study/specs/digits.yaml", settings))


curves = st.builds(
    Curve,
    reaches=st.one_of(st.none(), st.integers(1, BUDGET), st.sampled_from([6, 7])),
    diverges_after=st.one_of(st.none(), st.none(), st.integers(0, BUDGET - 1)),
    noise=st.integers(-3, 3),
)


@settings(max_examples=500)
@given(
    curves=st.lists(curves, min_size=1, max_size=16),
    seed=st.integers(0, 2**32),
    slots=st.integers(1, 4),
    restart_every=st.sampled_from([0, 3, 7, 20]),
    non_divergent=st.booleans(),
    share=st.floats(0.1, 1),
)
def test_racing_gives_the_result_of_running_everything(
    curves, seed, slots, restart_every, non_divergent, share
):
    wanted = max(1, round(share * len(curves))) if non_divergent else len(curves)
    driver = Driver(PLANS[wanted], curves, seed, slots, restart_every, non_divergent)
    result, points, _ = driver.run()
    assert (result, points) == exhaustive(curves, wanted, non_divergent=non_divergent)


PLANS = {points: plan_of(points) for points in range(1, 17)}


def test_racing_saves_evaluations_once_a_trial_has_reached():
    fates = [Curve(2, None, 0)] * 4 + [Curve(None, None, 0)] * 6
    _, _, made = Driver(PLANS[10], fates, 0, 1, 0, False).run()
    assert made < BUDGET * len(fates) / 2


def test_where_promise_tells_the_truth_racing_consumes_the_floor():
    reaches = [12, 17, 9, 14, None, 11, 20, 13]
    fates = [Curve(at, None, 30 if at is None else at) for at in reaches]
    result, _, made = Driver(PLANS[8], fates, 0, 1, 0, False).run()
    assert result == rank(9, point=2)
    floor = len(fates) * 9
    assert floor - len(fates) <= made <= floor + 1


def test_a_trial_that_could_still_tie_with_a_smaller_point_goes_on():
    best = rank(4, point=5)
    assert not cannot_win(best, rank(4, point=3))
    assert cannot_win(best, rank(4, point=7))
    assert not cannot_win(None, rank(12, point=0))
