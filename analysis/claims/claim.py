"""A claim: one finding of the paper held against a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from analysis.statistics import LEVEL, Interval

ABOUT_EQUAL = 1.05
"""Where the paper says "about equal" or "no worse", differences up to this factor are meant."""


class Verdict(StrEnum):
    """What a study says of a finding."""

    REPRODUCED = "reproduced"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NO_DATA = "no data"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One comparison that a finding is about: what is compared, and the interval that it rests on."""

    name: str
    interval: Interval

    def __str__(self) -> str:
        """`before augmentation, e = 2: 0.53 (0.35 to 0.83)`."""
        value = f"{self.name}: {self.interval.estimate:.3g}"
        if not self.interval.is_known:
            return f"{value} (no interval)"
        return f"{value} ({self.interval.low:.3g} to {self.interval.high:.3g})"


@dataclass(frozen=True, slots=True)
class Claim:
    """A finding with its verdict: `sentence` says it in plain words, `evidence` are the numbers."""

    name: str
    source: str
    finding: str
    verdict: Verdict
    sentence: str
    evidence: tuple[Evidence, ...] = ()


def judged_below(evidence: Sequence[Evidence], bound: float) -> Verdict:
    """Whether all of the values lie below a bound.

    Reproduced if every interval does as a whole, contradicted if one lies above it as a whole, else
    undecided: no interval, or one that holds the bound, decides nothing.
    """
    if not evidence:
        return Verdict.NO_DATA
    known = [one.interval for one in evidence if one.interval.is_known]
    if any(one.low > bound for one in known):
        return Verdict.CONTRADICTED
    if len(known) == len(evidence) and all(one.high < bound for one in known):
        return Verdict.REPRODUCED
    return Verdict.UNDECIDED


def judged_above(evidence: Sequence[Evidence], bound: float) -> Verdict:
    """Whether all of the values lie above a bound; see `judged_below`."""
    inverse = [
        Evidence(one.name, Interval(-one.interval.estimate, -one.interval.high, -one.interval.low))
        for one in evidence
    ]
    return judged_below(inverse, -bound)


def counted(evidence: Sequence[Evidence], bound: float, what: str) -> str:
    """`3 of 3 comparisons are below 1 with their whole 95% interval`."""
    below = sum(one.interval.is_known and one.interval.high < bound for one in evidence)
    above = sum(one.interval.is_known and one.interval.low > bound for one in evidence)
    total = len(evidence)
    return (
        f"of {total} {what}{'s' if total > 1 else ''}, {below} lie below {bound:g} and {above} above it "
        f"with the whole {100 * LEVEL:g}% interval, {total - below - above} with neither"
    )


def all_below(
    name: str,
    source: str,
    finding: str,
    evidence: list[Evidence],
    bound: float,
    *,
    needs: str,
    what: str = "condition",
) -> Claim:
    """A claim that all of its evidence lies below a bound."""
    if not evidence:
        return no_data(name, source, finding, needs)
    sentence = f"Ratios: {counted(evidence, bound, what)}."
    return Claim(name, source, finding, judged_below(evidence, bound), sentence, tuple(evidence))


def no_data(name: str, source: str, finding: str, needs: str) -> Claim:
    """A claim of which the study cannot say anything: it lacks what the finding `needs`."""
    return Claim(name, source, finding, Verdict.NO_DATA, f"This study has no data for it: it takes {needs}.")
