"""Metaparameter slices: where in each range the trials lay, how they ended, and where the best ones are."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from analysis.figures.panels import NOTHING_YET, count_axis, curve_handles, marker, panelled, say
from analysis.figures.style import BLACK, GREY, LIGHT, house_style, insertion_colour
from analysis.tables.slices import EDGE

CAPTION = (
    "Mark: one trial that reached the target; ringed: its search's best. Crosses along the top: trials "
    "that did not (missed, beaten or diverged). Shaded: the outermost 5% of a range; best trials that "
    "gather there ask for a wider one."
)
TICKS = (0.0, 0.5, 1.0)


def draw_slices(
    table: pd.DataFrame, place_name: Callable[[str, float], str], *, budget: float, title: str
) -> Figure:
    """Draw `analysis.tables.slices`: a panel a metaparameter.

    `place_name(metaparameter, place)` says what lies at a place, 0 to 1, in its range.
    """
    names = list(dict.fromkeys(table["metaparameter"]))
    with house_style():
        figure, axes = panelled(
            names or ["no metaparameter has been tried yet"],
            axes_in=(2.6, 2.5),
            title=title,
            legend=[
                *curve_handles(list(table["insertion_point"])),
                Line2D([], [], color=GREY, marker="x", linestyle="", label="did not reach it"),
                Line2D([], [], color=BLACK, marker="o", ls="", mfc="none", ms=9, label="best of its search"),
                Patch(color=LIGHT, label="end of the range"),
            ],
            caption=CAPTION,
        )
        for axis, name in zip(axes, names, strict=False):
            mine = table[table["metaparameter"] == name]
            _draw_panel(axis, mine, budget)
            axis.set_xticks(TICKS, [place_name(name, place) for place in TICKS])
            first, *_, last = axis.get_xticklabels()
            first.set_horizontalalignment("left")
            last.set_horizontalalignment("right")
        for axis in axes:
            axis.set_xlim(-0.03, 1.03)
            count_axis(axis)
        axes[0].set_ylim(0, 1.1 * budget)
        axes[0].set_ylabel("fresh examples to target")
        if not names:
            say(axes[0], NOTHING_YET)
    return figure


def _draw_panel(axis: Axes, mine: pd.DataFrame, budget: float) -> None:
    """The trials of all conditions along one metaparameter."""
    for low, high in ((-0.03, EDGE), (1 - EDGE, 1.03)):
        axis.axvspan(low, high, color=LIGHT, linewidth=0)
    others = mine[mine["fresh_examples_to_target"].isna()]
    axis.plot(others["place"], [1.04 * budget] * len(others), "x", color=GREY, markersize=3, alpha=0.6)
    reached = mine.dropna(subset=["fresh_examples_to_target"])
    for point, rows in reached.groupby("insertion_point", sort=False):
        axis.plot(
            rows["place"],
            rows["fresh_examples_to_target"],
            marker(str(point)),
            color=insertion_colour(str(point)),
            markersize=4,
            alpha=0.7,
            markeredgewidth=0,
        )
    best = reached[reached["is_best"]]
    axis.plot(best["place"], best["fresh_examples_to_target"], "o", mfc="none", mec=BLACK, markersize=9)
