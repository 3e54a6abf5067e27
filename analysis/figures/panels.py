"""A grid of axes of a given size inside the frame, and what the figures say alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.figures.frame import framed, lines
from analysis.figures.style import (
    GREY,
    HEADING,
    INSERTION_MARKERS,
    insertion_colour,
    insertion_name,
    line_height_in,
    wrapped,
)
from analysis.tables.against import SETTINGS

SIDE_IN, GAP_IN, TICKS_IN, LEAST_WIDTH_IN = 0.95, 0.3, 0.5, 6.4
MOST_COLUMNS = 3
NOTHING_YET = "Nothing to show yet."
SETTING_WORDS = {
    "batch_size": "batch size {:,}",
    "echo_factor": "e = {:g}",
    "echo_buffer": "echo buffer {:,}",
}


def panelled(
    headings: Sequence[str],
    *,
    axes_in: tuple[float, float],
    title: str,
    legend: Sequence[Artist],
    caption: str,
    ticks_in: float = TICKS_IN,
    share_y: bool = True,
) -> tuple[Figure, list[Axes]]:
    """A figure with a row-wise grid of axes of about `axes_in` (width, height), one a heading.

    `ticks_in` is the height that the labels below an axis take. To be called inside `house_style()`.
    """
    columns = 2 if len(headings) == 4 else min(len(headings), MOST_COLUMNS)
    rows = math.ceil(len(headings) / columns)
    width = max(axes_in[0], LEAST_WIDTH_IN / columns - SIDE_IN)
    headings = [wrapped(heading, width, HEADING) for heading in headings]
    above = max(map(lines, headings)) * line_height_in(HEADING)
    figure, body = framed(
        columns * (width + SIDE_IN),
        rows * (axes_in[1] + above + ticks_in + GAP_IN),
        title=title,
        legend=legend,
        caption=caption,
    )
    grid = list(body.subplots(rows, columns, sharey=share_y, squeeze=False).flat)
    for axis in grid[len(headings) :]:
        axis.set_axis_off()
    axes = grid[: len(headings)]
    for axis, heading in zip(axes, headings, strict=True):
        axis.set_title(heading, loc="left", color=GREY)
    return figure, axes


def panel_headings(rows: Sequence[pd.Series], hidden: str = "") -> list[str]:
    """What sets panels apart, from a row of each: the settings that differ; all of them if there is one."""
    shown = [name for name in SETTINGS if name != hidden]
    differing = [name for name in shown if len({row[name] for row in rows}) > 1]
    names = differing or shown
    return [", ".join(SETTING_WORDS[name].format(row[name]) for name in names) for row in rows]


def curve_handles(curves: Sequence[str]) -> list[Line2D]:
    """Legend entries of insertion points, by colour and marker."""
    return [
        Line2D([], [], color=insertion_colour(name), marker=marker(name), label=insertion_name(name))
        for name in dict.fromkeys(curves)
    ]


def marker(insertion_point: str) -> str:
    """The mark of an insertion point: figures can be read without their colours."""
    return INSERTION_MARKERS.get(insertion_point, "v")


def count_axis(axis: Axes) -> None:
    """A y-axis of counts: from 0, with thousands parted."""
    axis.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def say(axis: Axes, words: str) -> None:
    """Words in the middle of an empty axis."""
    text = axis.text(0.5, 0.5, words, transform=axis.transAxes, color=GREY)
    text.set(horizontalalignment="center", verticalalignment="center", backgroundcolor="white")
