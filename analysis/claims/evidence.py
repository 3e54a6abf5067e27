"""The comparisons that findings rest on, taken from a study's searches."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from analysis.claims.claim import Evidence
from analysis.figures.style import insertion_name
from analysis.material import Material
from analysis.statistics import Interval, log_contrast
from analysis.tables.fresh_examples import baseline_of, of_condition, reached_values
from study.plan import Condition


def echoed(material: Material, **settings: object) -> list[Condition]:
    """The conditions with echoing that have these settings."""
    return [
        one
        for one in material.plan.conditions
        if not one.is_baseline and all(getattr(one, name) == value for name, value in settings.items())
    ]


def named(condition: Condition) -> str:
    """A condition in short words."""
    if condition.is_baseline:
        return f"baseline, batch size {condition.batch_size:,}"
    return (
        f"{insertion_name(condition.insertion_point)}, e = {condition.echo_factor:g}, batch size "
        f"{condition.batch_size:,}, buffer {condition.echo_buffer:,}"
    )


def against_baseline(material: Material, conditions: list[Condition], *, scale: float = 1) -> list[Evidence]:
    """The ratios of fresh examples to the baseline's, times `scale`, of conditions that have one."""
    return list(
        _known(
            (named(one), contrast(material, [one, baseline_of(material.plan, one)], [1, -1], scale))
            for one in conditions
        )
    )


def between(material: Material, pairs: list[tuple[Condition, Condition]]) -> list[Evidence]:
    """The ratios of fresh examples of the first to the second of each pair."""
    return list(
        _known(
            (f"{named(one)} / {named(other)}", contrast(material, [one, other], [1, -1]))
            for one, other in pairs
        )
    )


def relative(material: Material, pairs: list[tuple[Condition, Condition]]) -> list[Evidence]:
    """The ratios of the ratios to the baseline of the first to the second of each pair."""
    found = []
    for one, other in pairs:
        four = [one, baseline_of(material.plan, one), other, baseline_of(material.plan, other)]
        found.append((f"{named(one)} / {named(other)}", contrast(material, four, [1, -1, -1, 1])))
    return list(_known(found))


def contrast(
    material: Material, conditions: list[Condition], weights: list[float], scale: float = 1
) -> Interval:
    """Product of powers of geometric means; no interval where a search is censored or unfinished."""
    groups = [of_condition(material.searches, condition) for condition in conditions]
    found = log_contrast([reached_values(group) for group in groups], weights)
    complete = all(group["reached"].all() for group in groups)
    missing = float("nan")
    return Interval(
        scale * found.estimate,
        scale * found.low if complete else missing,
        scale * found.high if complete else missing,
    )


def _known(found: Iterable[tuple[str, Interval]]) -> Iterator[Evidence]:
    for name, interval in found:
        if math.isfinite(interval.estimate):
            yield Evidence(name, interval)
