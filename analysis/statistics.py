"""Summaries of a handful of repeats, and intervals that hold at n = 5.

Fresh examples to a target are positive and their spread grows with their size, so intervals are made on
logarithms: a t-interval for one group's geometric mean, Welch's for the ratio of two. Coverage at n = 5 and
a nominal 95%, by simulation with log-normal values: t on logs 94-95%, Welch on logs 95%, where a bootstrap
of the mean covers 83% (`tests/analysis/test_statistics.py` repeats the first two).

An interval is not given (NaN ends) where the values cannot support one: fewer than two repeats, or no spread
at all. Results lie on the evaluation grid, so a few equal repeats are common, and an interval of width zero
would claim a certainty that is the grid's and not the experiment's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

LEVEL = 0.95
"""The confidence level of every interval that the product shows."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the figures show of one group of values; all NaN for an empty group."""

    n: int
    mean: float
    min: float
    max: float
    median: float


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the ends of its confidence interval; NaN ends where there is none."""

    estimate: float
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """True if there is an interval around the estimate."""
        return math.isfinite(self.low) and math.isfinite(self.high)


def summarise(values: Sequence[float]) -> Summary:
    """Mean, minimum, maximum and median of finite values."""
    if len(values) == 0:
        return Summary(0, math.nan, math.nan, math.nan, math.nan)
    found = np.asarray(values, dtype=np.float64)
    return Summary(
        len(found), float(found.mean()), float(found.min()), float(found.max()), float(np.median(found))
    )


def min_max_coverage(n: int) -> float:
    """Probability that the range of `n` independent draws holds the median of their distribution.

    All draws fall on one side of the median with probability 2 * 0.5**n: 93.75% is left for n = 5. Exact for
    every continuous distribution (David and Nagaraja, Order Statistics, 3rd ed., section 7.1).
    """
    return 1 - 2 * 0.5**n if n > 0 else 0.0


def range_words(n: int | None) -> str:
    """What the range of `n` values says, for a caption; None where groups differ in size."""
    if n is None:
        return "minimum to maximum"
    return f"minimum to maximum, which holds the median with {100 * min_max_coverage(n):.4g}% at {n} repeats"


def ratio_words(*, with_interval: bool, level: float = LEVEL) -> str:
    """What `welch_log_ratio` gives, for a caption."""
    words = "ratio of the geometric means"
    return (
        f"{words}, and its {100 * level:g}% interval by Welch's t on logarithms" if with_interval else words
    )


def log_t_interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Geometric mean of positive values, with Student's t-interval made on their logarithms.

    Exact for log-normal values. No values: the estimate too is NaN; one value, or values without any spread:
    no interval. Raises `ValueError` for a value that is not positive.
    """
    return _exponentiated(*_contrast([_logs(values)], [1], level))


def welch_log_ratio(values: Sequence[float], baseline: Sequence[float], level: float = LEVEL) -> Interval:
    """Ratio of two groups' geometric means, with Welch's t-interval made on the logarithms.

    The groups may differ in spread and size (Welch, Biometrika 34, 1947; degrees of freedom by
    Satterthwaite). One group without spread is covered by the formula; if neither has any, or a group has
    fewer than two values, there is no interval. An empty group: the estimate too is NaN. Raises `ValueError`
    for a value that is not positive.
    """
    return log_contrast([values, baseline], [1, -1], level)


def log_contrast(
    groups: Sequence[Sequence[float]], weights: Sequence[float], level: float = LEVEL
) -> Interval:
    """Product of the groups' geometric means, each to the power of its weight, with an interval as Welch's.

    Weights (1, -1) give a ratio, (1, -1, -1, 1) a ratio of two ratios. What `welch_log_ratio` says of groups
    without spread, of one value or of none holds for any number of groups.
    """
    return _exponentiated(*_contrast([_logs(group) for group in groups], weights, level))


def paired_log_ratio(values: Sequence[float], baseline: Sequence[float], level: float = LEVEL) -> Interval:
    """Geometric mean of the ratios of paired values, with Student's t-interval made on their logarithms.

    For repeats that share their seeds: what both conditions of a pair have in common cancels out, and the
    interval is narrower the more that is. Raises `ValueError` where the two differ in length, or a value is
    not positive.
    """
    above, below = _logs(values), _logs(baseline)
    if above.shape != below.shape:
        raise ValueError(f"Paired values need partners, not {above.size} against {below.size}.")
    return _exponentiated(*_contrast([above - below], [1], level))


def welch_difference(values: Sequence[float], baseline: Sequence[float], level: float = LEVEL) -> Interval:
    """Difference of two groups' means with Welch's t-interval, for values that are no sizes (accuracies)."""
    groups = [np.asarray(group, dtype=np.float64) for group in (values, baseline)]
    centre, half = _contrast(groups, [1, -1], level)
    return Interval(centre, centre - half, centre + half)


def _contrast(
    groups: Sequence[NDArray[np.float64]], weights: Sequence[float], level: float
) -> tuple[float, float]:
    """Weighted sum of the groups' means, and half the width of its interval by Welch and Satterthwaite."""
    if min(group.size for group in groups) == 0:
        return math.nan, math.nan
    centre = sum(weight * float(group.mean()) for group, weight in zip(groups, weights, strict=True))
    if min(group.size for group in groups) < 2 or not any(map(_has_spread, groups)):
        return centre, math.nan
    errors = np.array([w**2 * _squared_error(group) for group, w in zip(groups, weights, strict=True)])
    freedom = np.array([group.size - 1 for group in groups])
    satterthwaite = float(errors.sum() ** 2 / (errors**2 / freedom).sum())
    return centre, _t_quantile(satterthwaite, level) * math.sqrt(errors.sum())


def _logs(values: Sequence[float]) -> NDArray[np.float64]:
    """Natural logarithms; `ValueError` unless every value is positive and finite."""
    found = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(found) & (found > 0)).all():
        raise ValueError(f"Intervals on logarithms need positive finite values, not {list(values)}.")
    return np.log(found)


def _has_spread(logs: NDArray[np.float64]) -> bool:
    """True unless there is one value only or all are equal (compared exactly: a variance is rounded)."""
    return bool(logs.size > 1 and logs.min() < logs.max())


def _squared_error(logs: NDArray[np.float64]) -> float:
    """Squared standard error of the mean; exactly 0 for equal values."""
    return float(logs.var(ddof=1) / logs.size) if _has_spread(logs) else 0.0


def _t_quantile(freedom: float, level: float) -> float:
    """How many standard errors the two-sided interval reaches."""
    return float(stdtrit(freedom, (1 + level) / 2))


def _exponentiated(centre: float, half: float) -> Interval:
    """An interval on logs, taken back to the values' own unit."""
    return Interval(math.exp(centre), math.exp(centre - half), math.exp(centre + half))
