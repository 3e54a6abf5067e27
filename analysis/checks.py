"""Checks on a study's answer: pure functions from tables to sentences, on what would make one doubt it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from analysis.tables.fresh_examples import of_condition
from analysis.tables.planned import results_by_search
from analysis.tables.racing_cost import race_cost
from analysis.tables.sensitivity import sensitivity
from study.result import Outcome

if TYPE_CHECKING:
    from study.plan import Plan

FEW = 3
"""A search in which fewer trials than this reached the target rests on luck."""

COARSEST = 0.05
"""Share of a result that the distance between two evaluations may be."""

POINT = 0.01
"""How far the target is moved, as a share of itself."""


def checks(plan: Plan, trials: pd.DataFrame, searches: pd.DataFrame, curves: pd.DataFrame) -> Iterator[str]:
    """All checks that have something to say; `searches` is the table of that name, in plan order.

    Whether best points lie at the end of a range is said by `analysis.sentences`.
    """
    yield from cost_of_the_answer(plan, trials, searches)
    yield from few_reached(plan, trials)
    yield from coarse_grid(plan, searches)
    yield from flips(plan, trials, curves)


def cost_of_the_answer(plan: Plan, trials: pd.DataFrame, searches: pd.DataFrame) -> Iterator[str]:
    """How much the complete searches consumed, beside the floor and the other stop rules."""
    cost = race_cost(plan, trials, searches)
    if not cost.consumed:
        return
    sentence = (
        f"The answer took {cost.consumed:,.0f} examples: {cost.ratio_to_floor:.2f} times points x best "
        "fresh examples x e (an exact method takes about that; less where trials diverge, or lose a tie one "
        f"evaluation early), and {cost.times_fewer_than_fixed:.1f} times fewer"
        " than the whole budget for every trial"
    )
    if cost.at_target_most > cost.consumed:
        most = cost.at_target_most / cost.consumed
        sentence += f"; stopping at the target alone would have taken up to {most:.1f} times as many"
    yield f"{sentence}."


def few_reached(plan: Plan, trials: pd.DataFrame) -> Iterator[str]:
    """Searches whose result rests on one or two trials. Racing ends trials early, so it cannot tell."""
    if plan.spec.stop == "racing":
        return
    reached = [
        int((results["outcome"] == Outcome.REACHED).sum()) for _, results in results_by_search(plan, trials)
    ]
    few = sum(0 < count < FEW for count in reached)
    if few:
        yield (
            f"In {few} of {len(reached)} searches fewer than {FEW} trials reached the target, so their "
            "results rest on luck; more points or narrower ranges would tell more."
        )


def coarse_grid(plan: Plan, searches: pd.DataFrame) -> Iterator[str]:
    """Conditions whose evaluations lie so far apart that the result is known to no better than 5%."""
    for condition in plan.conditions:
        found = of_condition(searches, condition)["fresh_examples_to_target"].dropna()
        every = float(plan.spec.budget_of(condition)[1])
        if len(found) and every > COARSEST * float(found.min()):
            share = every / float(found.min())
            yield (
                f"{condition.label}: evaluations lie {every:,.0f} fresh examples apart, {share:.0%} of the "
                f"result ({found.min():,.0f}); a smaller evaluate_every would tell more."
            )


def flips(plan: Plan, trials: pd.DataFrame, curves: pd.DataFrame) -> Iterator[str]:
    """Conditions that save fresh examples at the target but not at one a point beside it, or the reverse."""
    table = sensitivity(plan, trials, curves, (-POINT, 0.0, POINT))
    at_target = table[table["shift"] == 0]
    for shift in (-POINT, POINT):
        moved = table[table["shift"] == shift]
        for condition in plan.conditions:
            if condition.is_baseline or moved.empty:
                continue
            before, after = (
                float(of_condition(part, condition)["ratio_to_baseline"].iloc[0])
                for part in (at_target, moved)
            )
            if not math.isnan(before) and not math.isnan(after) and (before < 1) != (after < 1):
                target = float(moved["target"].iloc[0])
                yield (
                    f"{condition.label}: with the target at {target:g} the ratio to the baseline is "
                    f"{after:.2f} in place of {before:.2f}; the conclusion hangs on the target."
                )
