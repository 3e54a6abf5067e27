"""Figures 5, 6 and 7: fresh examples to the target against the echo factor, batch size or echo buffer.

After Choi et al., arXiv 1907.05550, figures 5 to 7: mean of the repeats, bars from minimum to maximum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures.panels import (
    NOTHING_YET,
    SETTING_WORDS,
    count_axis,
    curve_handles,
    marker,
    panel_headings,
    panelled,
    say,
)
from analysis.figures.style import GREY, SMALL, house_style, insertion_colour, text_width_in
from analysis.statistics import range_words

HEIGHT_IN, LEAST_STEP_IN, LABEL_GAP_IN = 2.4, 0.6, 0.2
HEADROOM = 1.15
SPREAD = 0.14
"""How far apart the curves of a panel stand at one place, where places are 1 apart."""

AXIS_NAMES = {
    "echo_factor": "echo factor e",
    "batch_size": "batch size",
    "echo_buffer": "echo buffer (examples)",
}
IDEAL = "if as good as fresh"
BASELINE = "baseline's mean"


def draw_against(table: pd.DataFrame, setting: str, *, title: str) -> Figure:
    """Draw `analysis.tables.against(...)`; where there is nothing to show, the figure says so."""
    if table.empty:
        with house_style():
            figure, (axis,) = panelled(
                [AXIS_NAMES[setting]], axes_in=(5, 1.2), title=title, legend=[], caption=_needs(setting)
            )
            axis.set(xticks=[], yticks=[])
            say(axis, NOTHING_YET)
        return figure
    panels = [rows for _, rows in table.groupby("panel", sort=False)]
    places = _places(table, setting)
    labels = [SETTING_WORDS[setting].format(value).split()[-1] for value in places]
    step = max(LEAST_STEP_IN, *(text_width_in(label, SMALL) + LABEL_GAP_IN for label in labels))
    hidden = setting
    with house_style():
        figure, axes = panelled(
            panel_headings([rows.iloc[-1] for rows in panels], hidden),
            axes_in=(step * max(len(places), 4), HEIGHT_IN),
            title=title,
            legend=_legend(table, setting),
            caption=against_caption(table),
        )
        top = _top(table)
        for axis, rows in zip(axes, panels, strict=True):
            _draw_panel(axis, rows, setting, places)
            axis.set_xticks(range(len(places)), labels)
            axis.set_xlim(-0.5, len(places) - 0.5)
            axis.set_ylim(0, top)
            axis.set_xlabel(AXIS_NAMES[setting])
            count_axis(axis)
        axes[0].set_ylabel("fresh examples to target")
    return figure


def against_caption(table: pd.DataFrame) -> str:
    """What the marks mean."""
    counts = set(table["repeats_reached"])
    bar = range_words(counts.pop() if len(counts) == 1 else None)
    words = f"Mark: mean of the repeats that reached the target. Bar: {bar}."
    if table["censored"].any():
        words += (
            f" Hollow: some repeats did not reach the target within {table['budget'].iloc[0]:,.0f} fresh "
            "examples, so the mean is too low; no mark where none did."
        )
    if table["unfinished"].any():
        words += " Preliminary: searches are unfinished."
    return words


def _needs(setting: str) -> str:
    """What a study must have for a curve."""
    return f"A curve needs conditions that differ in the {AXIS_NAMES[setting]} alone."


def _places(table: pd.DataFrame, setting: str) -> list[float]:
    """The values of the setting, evenly spaced in the figure so that labels never meet."""
    return sorted(set(table[setting]))


def _draw_panel(axis: Axes, rows: pd.DataFrame, setting: str, places: Sequence[float]) -> None:
    """Draw the curves of one panel."""
    curves = [(str(name), curve) for name, curve in rows.groupby("curve", sort=False)]
    for at, (name, curve) in enumerate(curves):
        shift = SPREAD * (at - (len(curves) - 1) / 2)
        colour = insertion_colour(name)
        x = [places.index(value) + shift for value in curve[setting]]
        axis.plot(x, curve["mean"], color=colour, linewidth=1.2)
        for place, row in zip(x, curve.to_dict("records"), strict=True):
            if not math.isfinite(row["mean"]):
                continue
            ends = [[row["mean"] - row["min"]], [row["max"] - row["mean"]]]
            axis.errorbar(place, row["mean"], yerr=ends, color=colour, capsize=3, linewidth=1)
            face = "white" if row["censored"] else colour
            axis.plot(place, row["mean"], marker(name), color=colour, markerfacecolor=face, markersize=6)
    _draw_ideal(axis, rows, setting, places)


def _draw_ideal(axis: Axes, rows: pd.DataFrame, setting: str, places: Sequence[float]) -> None:
    """The dashed line: the baseline's mean over e."""
    ideal = rows[rows["insertion_point"] != "none"].drop_duplicates(setting).sort_values(setting)
    x = [places.index(value) for value in ideal[setting]]
    y = list(ideal["if_as_good_as_fresh"])
    if setting == "echo_factor" and y:
        x, y = [0, *x], [y[0] * ideal["echo_factor"].iloc[0], *y]
    axis.plot(x, y, color=GREY, linestyle="dashed", linewidth=1.2)
    if setting == "echo_buffer" and y:
        axis.axhline(y[0] * ideal["echo_factor"].iloc[0], color=GREY, linestyle="dotted", linewidth=1.2)


def _top(table: pd.DataFrame) -> float:
    """The upper end of the y-axis."""
    ideal = table["if_as_good_as_fresh"] * table["echo_factor"]
    shown = [*table["max"].dropna(), *ideal.dropna()]
    return HEADROOM * max(shown, default=float(table["budget"].iloc[0]))


def _legend(table: pd.DataFrame, setting: str) -> list[Line2D]:
    """Curves, and the dashed and dotted lines."""
    handles = curve_handles(list(table["curve"]))
    if table["if_as_good_as_fresh"].notna().any():
        handles.append(Line2D([], [], color=GREY, linestyle="dashed", label=IDEAL))
        if setting == "echo_buffer":
            handles.append(Line2D([], [], color=GREY, linestyle="dotted", label=BASELINE))
    return handles
