"""Study health: how the trials of every condition ended."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from analysis.figures.best_values import NAME_IN, ROW_PAD_IN, condition_names
from analysis.figures.frame import lines
from analysis.figures.panels import panelled
from analysis.figures.style import BLACK, OUTCOME_COLOURS, SMALL, house_style, line_height_in

HATCHES = {"diverged": "///", "crashed": "xxx", "out_of_memory": "..."}


def draw_health(table: pd.DataFrame, *, title: str) -> Figure:
    """Draw `analysis.tables.health`: a bar a condition."""
    names = condition_names(table)
    heights = [lines(name) * line_height_in(SMALL) + ROW_PAD_IN for name in names]
    shown = [outcome for outcome in OUTCOME_COLOURS if table[outcome].any()]
    with house_style():
        figure, (axis,) = panelled(
            ["trials"],
            axes_in=(4 + NAME_IN, sum(heights)),
            title=title,
            legend=[
                Patch(facecolor=OUTCOME_COLOURS[one], hatch=HATCHES.get(one), label=one.replace("_", " "))
                for one in shown
            ],
            caption=_caption(table),
        )
        axis.grid(axis="y", visible=False)
        left = pd.Series(0, index=table.index)
        for outcome in shown:
            axis.barh(
                range(len(table)),
                table[outcome],
                left=left,
                height=0.7,
                color=OUTCOME_COLOURS[outcome],
                hatch=HATCHES.get(outcome),
                edgecolor=BLACK if outcome in HATCHES else None,
                linewidth=0,
            )
            left = left + table[outcome]
        axis.set_yticks(range(len(names)), names)
        axis.set_ylim(len(names) - 0.5, -0.5)
        axis.set_xlim(0, float(table["trials"].max()))
        axis.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    return figure


def _caption(table: pd.DataFrame) -> str:
    hours = {name: table[f"{name}_h"].sum() for name in ("input_wait", "update", "evaluation", "overhead")}
    total = sum(hours.values())
    if not total:
        return "No trial has run yet."
    shares = ", ".join(
        f"{name.replace('_', ' ')} {100 * value / total:.0f}%" for name, value in hours.items()
    )
    return f"{total:.2g} hours of slots so far: {shares}."
