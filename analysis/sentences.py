"""What a study found, and what to mind about it, in plain sentences."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from analysis.statistics import LEVEL
from analysis.tables import Saving
from analysis.tables.fresh_examples import baseline_of, of_condition
from analysis.tables.planned import is_complete
from study.ranges import Choice, Range
from study.result import Outcome

if TYPE_CHECKING:
    from study.plan import Condition, Plan

EDGE = 0.05
"""The outermost share of a metaparameter's range, on its scale, that counts as its end."""


def findings(plan: Plan, figure3: pd.DataFrame) -> Iterator[str]:
    """A sentence a condition that has reached the target or is through with its budget, in table order."""
    for condition in plan.conditions:
        row = of_condition(figure3, condition).iloc[0]
        if row["repeats_reached"]:
            baseline = of_condition(figure3, baseline_of(plan, condition)).iloc[0]
            yield _reached(plan, condition, row, baseline)
        elif row["censored"]:
            yield (
                f"{_subject(plan, condition)} did not reach {_target(plan)} within {row['budget']:,.0f} fresh"
                f" examples in {row['censored']} of {_count(row['repeats'], 'repeat')}."
            )


def remarks(plan: Plan, trials: pd.DataFrame, searches: pd.DataFrame, saving: Saving) -> Iterator[str]:
    """What to mind about the findings: what is missing, censored or at the end of a range; what was saved."""
    if plan.note:
        yield f"Note: {plan.note}."
    mine = trials[trials["trial_id"].isin(list(plan.trial_by_id))]
    outcomes = Counter(mine["outcome"].dropna())
    done = sum(count for outcome, count in outcomes.items() if Outcome(outcome).is_result)
    if done < len(plan.trials):
        yield f"Unfinished: {done:,} of {len(plan.trials):,} trials have a result."
    if crashed := outcomes[Outcome.CRASHED]:
        yield f"Crashed: {_count(crashed, 'trial')}, to be run again with the study."
    if short := outcomes[Outcome.OUT_OF_MEMORY]:
        yield f"Out of memory: {_count(short, 'trial')}, to be run again with more of it, or a smaller batch."
    if diverged := outcomes[Outcome.DIVERGED]:
        yield f"Diverged: {diverged:,} of {_count(done, 'trial')}, counted as not having reached the target."
    censored = ~searches["reached"] & is_complete(plan, searches)
    if censored.any():
        yield _censored(int(censored.sum()), len(searches))
    yield from _edges(plan, searches)
    if saving.share >= 0.005:
        yield (
            f"Stopping trials early saved {100 * saving.share:.0f}% of the examples that they would have"
            f" consumed to the end of their budgets ({saving.consumed:,.0f} instead of"
            f" {saving.exhaustive:,.0f})."
        )


def _censored(censored: int, searches: int) -> str:
    """What the reader must know where searches ended without reaching the target."""
    advice = "A larger budget, more points or an easier target would tell more."
    if censored == searches:
        return f"Censored: no trial of any search reached the target. {advice}"
    return (
        f"Censored: in {censored:,} of {_count(searches, 'search', 'searches')} no trial reached the target;"
        f" means are over the others, and too low, and ratios have no interval. {advice}"
    )


def _reached(plan: Plan, condition: Condition, row: pd.Series, baseline: pd.Series) -> str:
    """The sentence of a condition that reached the target at least once."""
    start = f"{_subject(plan, condition)} reached {_target(plan)} with"
    repeats = _count(row["repeats"], "repeat")
    if row["repeats_reached"] < row["repeats"]:
        repeats = f"{row['repeats_reached']} of {repeats}"
    if condition.is_baseline or math.isnan(row["ratio_to_baseline"]):
        value = f"{row['mean']:,.0f} fresh examples"
        if row["repeats_reached"] > 1:
            value += " on average"
            repeats = f"{row['min']:,.0f} to {row['max']:,.0f}, {repeats}"
        end = "." if condition.is_baseline else "; its baseline has not reached it."
        return f"{start} {value} ({repeats}){end}"
    ratio = f"{row['ratio_to_baseline']:.2f}x the fresh examples of the baseline"
    if math.isnan(row["ratio_low"]):
        if baseline["repeats_reached"] < baseline["repeats"]:
            repeats += f"; baseline {baseline['repeats_reached']} of {baseline['repeats']}"
        return f"{start} {ratio} (no interval, {repeats})."
    interval = f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}"
    return f"{start} {ratio} ({100 * LEVEL:g}% interval {interval}, {repeats})."


def _edges(plan: Plan, searches: pd.DataFrame) -> Iterator[str]:
    """A sentence where most best trials of a condition lie at the same end of a metaparameter's range."""
    values = {(trial.search.id, trial.point): trial.metaparameters for trial in plan.trials}
    at_end: Counter[tuple[Condition, str, str]] = Counter()
    reached: Counter[Condition] = Counter()
    best_points = searches["best_point"].astype("object")
    for search, point, is_reached in zip(plan.searches, best_points, searches["reached"], strict=True):
        if not is_reached:
            continue
        reached[search.condition] += 1
        for name, value in values[search.id, point].items():
            space = plan.spec.space(search.condition)[name]
            if isinstance(space, Choice):
                continue
            if value < space.at(EDGE) or value > space.at(1 - EDGE):
                at_end[search.condition, name, "lower" if value < space.at(EDGE) else "upper"] += 1
    for (condition, name, end), count in at_end.items():
        if 2 * count > reached[condition]:
            space = plan.spec.space(condition)[name]
            assert isinstance(space, Range)
            yield (
                f"{_name(plan, condition)}: the best {name} lies at the {end} end of its range"
                f" ({space.low:g} to {space.high:g}) in {count} of {_count(reached[condition], 'repeat')};"
                " a wider range may do better."
            )


def _subject(plan: Plan, condition: Condition) -> str:
    """A condition as the beginning of a sentence."""
    name = _name(plan, condition)
    return f"{name}," if "," in name else name


def _name(plan: Plan, condition: Condition) -> str:
    """A condition in words, with as much as tells it from the study's others."""
    if condition.is_baseline:
        words = "The baseline"
    else:
        times = "twice" if condition.echo_factor == 2 else f"{condition.echo_factor:g} times"
        words = f"Echoing {times} {condition.insertion_point.replace('_', ' ')}"
    if len({one.batch_size for one in plan.conditions}) > 1:
        words += f", batch size {condition.batch_size}"
    if len({one.echo_buffer for one in plan.conditions if not one.is_baseline}) > 1:
        words += "" if condition.is_baseline else f", echo buffer {condition.echo_buffer}"
    return words


def _target(plan: Plan) -> str:
    """The target in words."""
    return f"{plan.spec.target.metric} {plan.spec.target.value:g}"


def _count(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
