"""What to do: the echoing that a study has found to save the most, and what to expect of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import pandas as pd

from analysis.figures.style import insertion_name
from analysis.material import Material
from analysis.statistics import LEVEL
from analysis.tables.modelled_time import RATIOS, modelled_time

CHOSEN_AFTER = (
    "The best of several conditions flatters itself: expect a little less, and run it anew with other "
    "seeds where much hangs on it."
)


def advice(material: Material) -> Iterator[str]:
    """Sentences: the best condition, the best at each insertion point, and the best at each R.

    Says so where the study has shown no saving. Best = lowest ratio of fresh examples (or modelled time) to
    the baseline's; a saving counts as shown if its whole interval is.
    """
    table = material.by_condition
    echoed = table[(table["insertion_point"] != "none") & table["ratio_to_baseline"].notna()]
    if echoed.empty:
        yield "No advice yet: no condition with echoing and its baseline have both reached the target."
        return
    shown = shown_to_save(table)
    if shown.empty:
        yield "Echoing has not been shown to save fresh examples here: no interval lies below the baseline."
    for point, rows in echoed.groupby("insertion_point", sort=False):
        yield _expectation(rows.iloc[int(rows["ratio_to_baseline"].argmin())], str(point))
    if not shown.empty:
        yield from _by_ratio(shown)
    if len(echoed) > 1:
        yield CHOSEN_AFTER


def _expectation(row: pd.Series, point: str) -> str:
    """What to expect at one insertion point."""
    factor = 1 / row["ratio_to_baseline"]
    where = insertion_name(point).capitalize()
    settings = _settings(row)
    if math.isnan(row["ratio_low"]):
        ratio = row["ratio_to_baseline"]
        return f"{where}, {settings}: {ratio:.2f}x the fresh examples of the baseline so far (no interval)."
    low, high = 1 / row["ratio_high"], 1 / row["ratio_low"]
    if low > 1:
        words = (
            f"expect {factor:.2f}x fewer fresh examples ({100 * LEVEL:g}% interval {low:.2f} to {high:.2f})"
        )
    else:  # the ratio itself: "0.87x fewer" would mean more
        words = (
            f"{row['ratio_to_baseline']:.2f}x the fresh examples of the baseline ({100 * LEVEL:g}% interval "
            f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}); not shown to save any"
        )
    return f"{where}, {settings}: {words}."


def shown_to_save(by_condition: pd.DataFrame) -> pd.DataFrame:
    """The conditions with echoing whose interval lies below the baseline, of a table like figure 3's."""
    return by_condition[(by_condition["insertion_point"] != "none") & (by_condition["ratio_high"] < 1)]


def fastest(shown: pd.DataFrame, ratios: Mapping[str, float]) -> pd.Series | None:
    """The condition with the shortest modelled time, R given by insertion point; None if not shown faster.

    A row of the table of `modelled_time`. Conditions at other insertion points are left out.
    """
    groups = shown.groupby("insertion_point", sort=False)
    tables = [modelled_time(rows, [ratios[str(point)]]) for point, rows in groups if point in ratios]
    if not tables:
        return None
    table = pd.concat(tables)
    best = table.iloc[int(table["speed_up"].argmax())]
    return best if best["speed_up_low"] > 1 else None


def time_to_expect(best: pd.Series) -> str:
    """What to expect of a condition that `fastest` gave, with its settings."""
    low, high = best["speed_up_low"], best["speed_up_high"]
    return (
        f"{insertion_name(best['insertion_point'])}, {_settings(best)}: expect "
        f"{best['speed_up']:.2f}x less time ({low:.2f} to {high:.2f}, modelled)."
    )


def _by_ratio(shown: pd.DataFrame) -> Iterator[str]:
    """The condition with the shortest modelled time at each R."""
    for ratio in RATIOS:
        best = fastest(shown, dict.fromkeys(shown["insertion_point"], ratio))
        if best is None:
            yield f"At R = {ratio:g}: do not echo to save time; no condition is shown to be faster."
        else:
            yield f"At R = {ratio:g}: {time_to_expect(best)}"


def _settings(row: pd.Series) -> str:
    """The settings of a condition, as a study file names them."""
    return f"e = {row['echo_factor']:g}, buffer = {row['echo_buffer']:,}, batch size = {row['batch_size']:,}"
