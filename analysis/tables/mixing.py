"""How well copies were mixed, beside what echoing saved: the paper's explanation, measured."""

from __future__ import annotations

import pandas as pd

from analysis.tables.planned import CONDITION_TYPES

MEASURES = ("duplicate_share", "mean_lag_updates")
TYPES = CONDITION_TYPES | dict.fromkeys(
    (*MEASURES, "ratio_to_baseline", "ratio_low", "ratio_high"), "float64"
)


def mixing(trials: pd.DataFrame, by_condition: pd.DataFrame) -> pd.DataFrame:
    """A row a condition with echoing, from the table of trials and that of figure 3.

    Columns, after the condition's own: `duplicate_share` (of the examples of a batch, those that are there
    already, 0 to 1) and `mean_lag_updates` (from one copy of an example to its next, in updates), means over
    the condition's trials as of their last evaluation; the ratio of fresh examples to the baseline's.
    """
    keys = list(CONDITION_TYPES)
    known = trials.dropna(subset=[*keys, *MEASURES])
    known = known[[*keys, *MEASURES]].astype(CONDITION_TYPES)
    means = known.groupby(keys, as_index=False)[list(MEASURES)].mean()
    echoed = by_condition[by_condition["insertion_point"] != "none"]
    ratios = echoed[[*keys, "ratio_to_baseline", "ratio_low", "ratio_high"]]
    return ratios.merge(means, on=keys, how="left")[list(TYPES)].astype(TYPES)
