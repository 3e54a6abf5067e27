"""Duplicates in a batch, and the lag between copies, against what echoing saved."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.panels import NOTHING_YET, curve_handles, marker, panelled, say
from analysis.figures.style import GREY, house_style, insertion_colour

CAPTION = (
    "Mark: one condition; bar: 95% interval of its ratio. Left: share of a batch's examples that are "
    "there already. Right: updates from one copy of an example to its next, mean. Fewer duplicates and "
    "longer lags mean better mixed copies."
)
AXES = {"duplicate_share": "duplicates in a batch", "mean_lag_updates": "lag between copies (updates)"}


def draw_mixing(table: pd.DataFrame, *, title: str) -> Figure:
    """Draw `analysis.tables.mixing`: a panel a measure, a mark a condition."""
    shown = table.dropna(subset=["ratio_to_baseline"])
    with house_style():
        figure, axes = panelled(
            list(AXES.values()),
            axes_in=(2.6, 2.4),
            title=title,
            legend=curve_handles(list(table["insertion_point"])),
            caption=CAPTION,
        )
        for axis, measure in zip(axes, AXES, strict=True):
            for row in shown.dropna(subset=[measure]).to_dict("records"):
                colour = insertion_colour(row["insertion_point"])
                axis.vlines(row[measure], row["ratio_low"], row["ratio_high"], colors=colour, linewidth=1)
                axis.plot(
                    row[measure], row["ratio_to_baseline"], marker(row["insertion_point"]), color=colour
                )
            axis.axhline(1, color=GREY, linestyle="dotted", linewidth=1)
            axis.locator_params(axis="x", nbins=4)
            if shown[measure].notna().any():
                axis.set_xlim(-0.05 * (widest := float(shown[measure].max()) or 1.0), 1.15 * widest)
            else:
                axis.set_xticks([])
                say(axis, NOTHING_YET)
        highest = max([1.0, *shown["ratio_to_baseline"], *shown["ratio_high"].dropna()])
        axes[0].set_ylim(0, 1.1 * highest)
        axes[0].set_ylabel("fresh examples / baseline's")
    return figure
