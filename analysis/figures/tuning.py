"""The tuning-cost curve: the share of trials that have reached the target, by what each may spend."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from analysis.figures.panels import NOTHING_YET, curve_handles, panel_headings, panelled, say
from analysis.figures.style import SMALL, house_style, insertion_colour, text_width_in

CAPTION = (
    "A search of n trials finds one that reaches the target if about one in n does. Shares by Kaplan and "
    "Meier: beaten trials count up to where they were stopped, diverged ones as never reaching it. A curve "
    "ends with its last trial: few are left by then, and its last steps may be far off."
)
SHARED = ["batch_size", "echo_factor", "echo_buffer"]


def draw_tuning(table: pd.DataFrame, *, budget: float, title: str) -> Figure:
    """Draw `analysis.tables.tuning_cost`: panels as in figure 3, a step curve a condition."""
    is_baseline = table["insertion_point"] == "none"
    panels = []
    for _, rows in table[~is_baseline].groupby(SHARED, sort=False):
        baseline = table[is_baseline & (table["batch_size"] == rows["batch_size"].iloc[0])]
        panels.append(pd.concat([baseline, rows]))
    panels = panels or [table]
    with house_style():
        headings = panel_headings([rows.iloc[-1] for rows in panels if len(rows)])
        figure, axes = panelled(
            headings or ["no trial has a result yet"],
            axes_in=(max(2.6, 3 * text_width_in(f"{budget:,.0f}", SMALL)), 2.3),
            title=title,
            legend=curve_handles(list(table["insertion_point"])),
            caption=CAPTION,
        )
        for axis, rows in zip(axes, panels, strict=True):
            for point, curve in rows.groupby("insertion_point", sort=False):
                x = [*curve["fresh_examples"], min(curve["followed_to"].iloc[-1], budget)]
                y = [*curve["share_reached"], curve["share_reached"].iloc[-1]]
                axis.step(x, y, where="post", color=insertion_colour(str(point)), linewidth=1.4)
            axis.set_xlim(0, budget)
            axis.set_xticks([0, budget / 2, budget])
            axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            axis.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
            axis.set_xlabel("fresh examples a trial")
        axes[0].set_ylim(0, 1.02)
        axes[0].set_ylabel("trials that reached it")
        if table.empty:
            say(axes[0], NOTHING_YET)
    return figure
