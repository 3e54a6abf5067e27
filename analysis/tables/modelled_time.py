"""Training time modelled from the fresh examples to the target and R: the table of figure 4.

An upstream step and e downstream steps overlap and take max(R, e) downstream times (Choi et al., arXiv
1907.05550, section 2), so that S(e) = F(1) / F(e) * max(R, 1) / max(R, e).
"""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from analysis.tables.planned import CONDITION_TYPES

RATIOS = (1.0, 2.0, 4.0, 8.0)
"""The R = t_upstream / t_downstream that figure 4 shows where none has been measured."""

STREAMED = 6.0
"""R of the paper's ResNet-50 read from cloud storage."""

TYPES = CONDITION_TYPES | {"R": "float64"}
TYPES |= {
    f"{name}{end}": "float64" for name in ("relative_time", "speed_up") for end in ("", "_low", "_high")
}
TYPES |= {"share_of_ideal": "float64"}


def modelled_time(by_condition: pd.DataFrame, ratios: Sequence[float] = RATIOS) -> pd.DataFrame:
    """A row a condition and R, from the table of figure 3.

    Columns, after the condition's own and `R`: `relative_time` (to the target, the baseline's is 1) and its
    inverse `speed_up`, each with its interval (that of the ratio of fresh examples); `share_of_ideal`:
    the speed-up over min(e, max(R, 1)), what it would be if repeats were as good as fresh examples.
    NaN where the ratio is unknown. The model holds for stages that overlap fully and keep their pace.
    """
    parts = []
    for ratio in ratios:
        factor = by_condition["echo_factor"]
        pace = factor.clip(lower=ratio) / max(ratio, 1.0)
        part = by_condition[list(CONDITION_TYPES)].assign(
            R=ratio,
            relative_time=by_condition["ratio_to_baseline"] * pace,
            relative_time_low=by_condition["ratio_low"] * pace,
            relative_time_high=by_condition["ratio_high"] * pace,
        )
        part["speed_up"] = 1 / part["relative_time"]
        part["speed_up_low"] = 1 / part["relative_time_high"]
        part["speed_up_high"] = 1 / part["relative_time_low"]
        part["share_of_ideal"] = part["speed_up"] / factor.clip(upper=max(ratio, 1.0))
        parts.append(part)
    return pd.concat(parts, ignore_index=True)[list(TYPES)].astype(TYPES)
