"""Fresh examples to the target where some searches did not reach it: the product-limit estimate.

A censored search says "more than its budget", which a mean cannot use and an estimate of survival can (Kaplan
and Meier, J. Am. Stat. Assoc. 53, 1958; here SciPy's). Means are shown as long as few searches are censored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import CensoredData, ecdf

from analysis.statistics import LEVEL, Interval

MOST_CENSORED = 0.2
"""With a larger share of censored searches, the median by Kaplan and Meier takes the place of the mean."""


def not_reached(reached: Sequence[float], censored: Sequence[float], level: float = LEVEL) -> pd.DataFrame:
    """The share that has not reached the target, by fresh examples; a row a value at which some reached it.

    `reached` are the values of those that did, `censored` the values up to which the others were followed.
    Columns: `fresh_examples`, `share`, and the ends `low` and `high` of its interval (log-log), NaN
    where the estimate has no variance (everybody, or nobody, has reached it).
    """
    if not reached:
        return pd.DataFrame(columns=["fresh_examples", "share", "low", "high"], dtype="float64")
    data = CensoredData.right_censored([*reached, *censored], [False] * len(reached) + [True] * len(censored))
    found = ecdf(data).sf
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)
        ends = found.confidence_interval(level, method="log-log")
    table = pd.DataFrame(
        {
            "fresh_examples": found.quantiles,
            "share": found.probabilities,
            "low": ends.low.probabilities,
            "high": ends.high.probabilities,
        }
    )
    return table[np.isin(found.quantiles, reached)].reset_index(drop=True)


def median_to_target(reached: Sequence[float], censored: Sequence[float], level: float = LEVEL) -> Interval:
    """The fresh examples by which half have reached the target, and its interval.

    Where fewer than half did, the estimate is infinite: more than was tried. The ends are where the ends of
    the share's interval fall to a half (Brookmeyer and Crowley, Biometrics 38, 1982); infinite where they
    never do, NaN for fewer than two values.
    """
    if len(reached) + len(censored) < 2:
        value = reached[0] if reached else math.inf
        return Interval(value, math.nan, math.nan)
    table = not_reached(reached, censored, level)
    # Once all have reached it nobody is left, and the interval of "nobody" has no width.
    shares = {name: table[name].where(table["share"] > 0, 0.0) for name in ("share", "low", "high")}
    at = {name: _first_at_half(table["fresh_examples"], shares[name]) for name in shares}
    return Interval(at["share"], at["low"], at["high"])


def _first_at_half(values: pd.Series, shares: pd.Series) -> float:
    """The first value at which a share is a half or less; infinite if there is none."""
    at = values[shares <= 0.5 + 1e-12]
    return float(at.iloc[0]) if len(at) else math.inf
