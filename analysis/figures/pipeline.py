"""Figures 1 and 2: the pipeline with its three insertion points, and who waits for whom.

After Choi et al., arXiv 1907.05550, figures 1 and 2, drawn for a given or measured R.
"""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch

from analysis.figures.frame import framed
from analysis.figures.panels import panelled
from analysis.figures.style import (
    BLUE,
    GREY,
    HEADING,
    LIGHT,
    ORANGE,
    SMALL,
    YELLOW,
    house_style,
    insertion_colour,
    insertion_name,
)
from analysis.tables.idle import idle_share

STAGES = ("read & decode", "shuffle", "augment", "batch", "update")
POINTS = {"before_augmentation": 1.5, "after_augmentation": 2.5, "after_batching": 3.5}
"""Where each insertion point lies between the stages, in places of stages."""


def draw_figure1(*, title: str) -> Figure:
    """The pipeline: its stages, and where an echo stage can stand."""
    with house_style():
        figure, body = framed(
            8.0,
            2.3,
            title=title,
            legend=[],
            caption="An echo stage emits each element e times, and may shuffle what it emits. What stands "
            "before it is upstream, what stands behind it downstream.",
        )
        axis = body.subplots()
        axis.set_axis_off()
        axis.set_xlim(-0.5, len(STAGES) - 0.5)
        axis.set_ylim(-1.3, 0.6)
        for place, stage in enumerate(STAGES):
            box = FancyBboxPatch((place - 0.34, -0.3), 0.68, 0.6, boxstyle="round,pad=0.04")
            box.set(facecolor=LIGHT, edgecolor=GREY)
            axis.add_patch(box)
            axis.text(place, 0, stage, ha="center", va="center", fontproperties=SMALL)
            if place:
                axis.annotate("", (place - 0.39, 0), (place - 0.61, 0), arrowprops={"arrowstyle": "->"})
        for point, between in POINTS.items():
            colour = insertion_colour(point)
            axis.annotate(
                "echo e times\n" + insertion_name(point).replace(" ", "\n"),
                (between, -0.1),
                (between, -0.55),
                ha="center",
                va="top",
                color=colour,
                fontproperties=SMALL,
                arrowprops={"arrowstyle": "-|>", "color": colour},
            )
    return figure


def draw_figure2(steps: pd.DataFrame, *, ratio: float, title: str) -> Figure:
    """Draw `analysis.tables.idle_time`: a panel without and one with echoing, a row a stage."""
    factors = sorted(set(steps["echo_factor"]))
    shares = [f"downstream waits {100 * idle_share(steps, factor):.0f}% of its time" for factor in factors]
    headings = [
        f"{'without echoing' if factor == 1 else f'echoing, e = {factor:g}'}: {share}"
        for factor, share in zip(factors, shares, strict=True)
    ]
    with house_style():
        figure, axes = panelled(
            headings,
            axes_in=(3.6, 0.9),
            title=title,
            legend=[
                Patch(color=BLUE, label="upstream, a fresh element"),
                Patch(color=ORANGE, label="downstream, first copy"),
                Patch(color=YELLOW, label="downstream, a repeat"),
            ],
            caption=f"Upstream takes R = {ratio:g} times as long as downstream; gaps are waiting.",
        )
        for axis, factor in zip(axes, factors, strict=True):
            mine = steps[steps["echo_factor"] == factor]
            for row in mine.to_dict("records"):
                is_up = row["stage"] == "upstream"
                colour = BLUE if is_up else (YELLOW if row["copy"] else ORANGE)
                width = row["end"] - row["start"]
                axis.broken_barh(
                    [(row["start"], width)], (0.1 if is_up else 1.1, 0.8), facecolor=colour, edgecolor="white"
                )
                if width > 0.9:
                    axis.text(
                        row["start"] + width / 2,
                        0.5 if is_up else 1.5,
                        str(row["fresh"] + 1),
                        ha="center",
                        va="center",
                        fontproperties=HEADING,
                        color="white" if colour != YELLOW else "black",
                    )
            axis.grid(visible=False)
            axis.set_yticks([0.5, 1.5], ["upstream", "downstream"])
            axis.set_ylim(2, 0)
            axis.set_xlim(0, float(steps["end"].max()))
            axis.set_xlabel("time (downstream steps)")
            axis.locator_params(axis="x", nbins=6, integer=True)
    return figure
