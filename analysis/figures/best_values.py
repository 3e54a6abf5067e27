"""Figure 8: the best value of the metric within a fixed number of fresh examples, by condition.

After Choi et al., arXiv 1907.05550, figure 8; here with every repeat and the difference to the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from analysis.figures.frame import lines
from analysis.figures.panels import NOTHING_YET, marker, panelled, say
from analysis.figures.style import (
    GREY,
    SMALL,
    house_style,
    insertion_colour,
    insertion_name,
    line_height_in,
    wrapped,
)
from analysis.tables.against import SETTINGS
from analysis.tables.planned import CONDITION_TYPES

WIDTH_IN, NAME_IN, ROW_PAD_IN = 4.2, 2.2, 0.16
SHORT = {"batch_size": "b={:,}", "echo_factor": "e={:g}", "echo_buffer": "buffer={:,}"}


def condition_names(table: pd.DataFrame, width_in: float = NAME_IN) -> list[str]:
    """A name a row, in one or more lines: the insertion point and the settings that differ in the table."""
    echoed = table[table["insertion_point"] != "none"]
    differing = [name for name in SETTINGS if echoed[name].nunique() > 1 or table["batch_size"].nunique() > 1]
    names = []
    for row in table.to_dict("records"):
        shown = [name for name in differing if row["insertion_point"] != "none" or name == "batch_size"]
        words = [insertion_name(row["insertion_point"]), *(SHORT[name].format(row[name]) for name in shown)]
        names.append(wrapped(" ".join(words), width_in, SMALL))
    return names


def draw_figure8(table: pd.DataFrame, by_search: pd.DataFrame, *, metric: str, title: str) -> Figure:
    """Draw `analysis.tables.figure8`, with the repeats from the table of `best_by_search`."""
    names = condition_names(table)
    heights = [max(lines(name), 2) * line_height_in(SMALL) + ROW_PAD_IN for name in names]
    with house_style():
        figure, (axis,) = panelled(
            [f"best {metric}"],
            axes_in=(WIDTH_IN + NAME_IN, sum(heights)),
            title=title,
            legend=_legend(),
            caption=_caption(table),
        )
        axis.grid(axis="y", visible=False)
        axis.grid(axis="x", visible=True)
        for place, row in enumerate(table.to_dict("records")):
            colour, mine = insertion_colour(row["insertion_point"]), _repeats(by_search, row)
            axis.plot(mine, [place + 0.2] * len(mine), "o", color=colour, alpha=0.6, markersize=4)
            if math.isfinite(row["mean"]):
                axis.hlines(place - 0.1, row["min"], row["max"], colors=colour)
                axis.plot(row["mean"], place - 0.1, marker(row["insertion_point"]), color=colour)
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.5, -0.5)
        if table["repeats"].sum() == 0:
            axis.set_xticks([])
            say(axis, NOTHING_YET)
        else:
            axis.xaxis.set_major_locator(MaxNLocator(nbins=5))
    return figure


def _repeats(by_search: pd.DataFrame, row: Mapping[Hashable, object]) -> list[float]:
    chosen = pd.Series(True, index=by_search.index)
    for name in CONDITION_TYPES:
        chosen &= by_search[name] == row[name]
    return [float(value) for value in by_search.loc[chosen, "best_value"].dropna()]


def _caption(table: pd.DataFrame) -> str:
    echoed = table[table["insertion_point"] != "none"]
    worst = "the mean differs" if len(echoed) else ""
    words = "Dot: the best value of one search's trials. Mark: mean, with minimum to maximum."
    if worst and echoed["difference"].notna().any():
        low, high = echoed["difference"].min(), echoed["difference"].max()
        words += f" Against the baseline {worst} by {low:+.3g} to {high:+.3g}."
    return words


def _legend() -> list[Line2D]:
    return [
        Line2D([], [], color=GREY, marker="o", linestyle="", markersize=4, label="repeat"),
        Line2D([], [], color=GREY, marker="s", label="mean, min to max"),
    ]
