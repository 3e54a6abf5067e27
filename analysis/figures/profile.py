"""Where the time of a pipeline goes: its stages, its batches one after the other, and R."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from analysis.figures.panels import marker, panelled
from analysis.figures.style import BLUE, GREY, ORANGE, SMALL, house_style, insertion_colour, insertion_name

ON_DEVICE = ("transfer", "update")
"""The stages that are not the pipeline's."""

CAPTION = (
    "Left: each stage alone, and quartiles over parts of the measurement. Middle: what each batch takes with "
    "nobody who uses it."
)
OF_RATIOS = " Right: R = upstream / downstream at each insertion point; above 1 the device waits."
ROW_IN = 0.34


def draw_profile(profile: Mapping[str, Any], *, title: str) -> Figure:
    """Draw `pipelines.Profile.as_dict`: stages, batches in order, and R where it is known."""
    ratios = profile["R"]
    headings = ["time of a batch by stage", "batches in order, with no consumer"]
    headings += ["R by insertion point"] if ratios else []
    update_s = profile["update_s"]
    legend: list[Artist] = [Patch(color=BLUE, label="pipeline")]
    if update_s is not None:
        legend.append(Patch(color=ORANGE, label="device"))
        legend.append(Line2D([], [], color=ORANGE, ls="dashed", label="an update, its input at hand"))
    with house_style():
        figure, axes = panelled(
            headings,
            axes_in=(2.8, max(1.8, ROW_IN * len(profile["stages_s"]))),
            title=title,
            legend=legend,
            caption=CAPTION + (OF_RATIOS if ratios else ""),
            share_y=False,
        )
        _draw_stages(axes[0], profile)
        _draw_batches(axes[1], profile["batches_s"], update_s)
        if ratios:
            _draw_ratios(axes[2], ratios, profile["R_quartiles"])
    return figure


def _draw_stages(axis: Axes, profile: Mapping[str, Any]) -> None:
    stages = profile["stages_s"]
    for place, (name, seconds) in enumerate(stages.items()):
        low, high = profile["stages_quartiles_s"][name]
        axis.barh(place, 1000 * seconds, color=ORANGE if name in ON_DEVICE else BLUE, height=0.6)
        axis.hlines(place, 1000 * low, 1000 * high, color="black", linewidth=1.2)
        axis.annotate(
            f"{1000 * seconds:.3g}",
            (1000 * max(seconds, high), place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontproperties=SMALL,
        )
    axis.set_yticks(range(len(stages)), list(stages))
    axis.set_ylim(len(stages) - 0.5, -0.5)
    axis.set_xlim(
        0, 1200 * max([*stages.values(), *(high for _, high in profile["stages_quartiles_s"].values())])
    )
    _lines_across(axis)
    axis.set_xlabel("ms a batch")


def _draw_batches(axis: Axes, seconds: list[float], update_s: float | None) -> None:
    times = [1000 * one for one in seconds]
    axis.bar(range(1, len(times) + 1), times, width=0.8, color=BLUE)
    if update_s is not None:
        axis.axhline(1000 * update_s, color=ORANGE, linestyle="dashed", linewidth=1.4)
    axis.set_xlim(0.4, len(times) + 0.6)
    axis.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axis.set_ylim(0, 1.1 * max([*times, 1000 * (update_s or 0)]) or 1)
    axis.set_xlabel("batch")
    axis.set_ylabel("ms")


def _draw_ratios(
    axis: Axes, ratios: Mapping[str, float], quartiles: Mapping[str, tuple[float, float]]
) -> None:
    for place, (point, ratio) in enumerate(ratios.items()):
        colour = insertion_colour(point)
        axis.hlines(place, *quartiles[point], color=colour, linewidth=2)
        axis.plot([ratio], [place], marker=marker(point), color=colour, markersize=7, clip_on=False)
        words = axis.annotate(
            f"{ratio:.2f}", (ratio, place), (0, 7), textcoords="offset points", ha="left", va="bottom"
        )
        words.set(fontproperties=SMALL, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    axis.axvline(1, color=GREY, linestyle="dotted", linewidth=1.2)
    axis.set_yticks(range(len(ratios)), [insertion_name(point).replace(" ", "\n") for point in ratios])
    axis.set_ylim(len(ratios) - 0.5, -0.6)
    axis.set_xlim(0, 1.15 * max([2.0, *ratios.values(), *(high for _, high in quartiles.values())]))
    _lines_across(axis)
    axis.set_xlabel("R")


def _lines_across(axis: Axes) -> None:
    axis.grid(visible=False, axis="y")
    axis.grid(visible=True, axis="x")
