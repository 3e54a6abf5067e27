"""Figure 3: fresh examples to the target, by insertion point.

After Choi et al., arXiv 1907.05550, figure 3: mean, and a bar from the minimum to the maximum of the repeats.
Added here: every repeat as a dot, the median, censored searches as arrows, and the ratio to the baseline.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis.figures.frame import framed, lines
from analysis.figures.style import (
    GREY,
    HEADING,
    SMALL,
    house_style,
    insertion_colour,
    line_height_in,
    wrapped,
)
from analysis.statistics import range_words, ratio_words
from analysis.tables.fresh_examples import reached_values
from analysis.tables.planned import CONDITION_TYPES

if TYPE_CHECKING:
    from study.plan import Plan

CATEGORY_IN, SIDE_IN, AXES_IN, GAP_IN, LEAST_WIDTH_IN = 1.05, 0.95, 2.6, 0.25, 6.4
MOST_COLUMNS, LEAST_CATEGORIES = 3, 4
HEADROOM, HEADROOM_FOR_WORDS = 1.08, 1.25
BAR_AT, MEDIAN_AT, DOTS_AT, DOTS_WIDTH = -0.2, -0.06, 0.2, 0.24
"""Places and widths within a category, which is 1 wide."""

IF_AS_GOOD = "if as good as fresh"
NOTHING_YET = "Nothing to show yet:\nno search has reached the target\nor used up its budget."
PANEL_WORDS = {
    "batch_size": "batch size {:,}",
    "echo_factor": "e = {:g}",
    "echo_buffer": "echo buffer {:,}",
}


def figure3_title(plan: Plan) -> str:
    """The figure's title: workload, measure and target."""
    target = plan.spec.rule
    sign = "≥" if target.higher_is_better else "≤"
    return f"{plan.spec.workload}: fresh examples to {target.metric} {sign} {target.value:g}"


def figure3_caption(table: pd.DataFrame) -> str:
    """What the marks in the figure mean, in the words of the estimators behind the table."""
    sentences = []
    counts = sorted(set(table["repeats_reached"]))
    if counts[-1] > 0:
        sentences.append("Dot: one repeat of the whole search.")
    if counts[-1] > 1:
        bar = range_words(counts[0] if len(counts) == 1 else None)
        sentences.append(f"Square: mean. Bar: {bar}. Diamond: median.")
    if table.loc[table["echo_factor"] != 1, "ratio_to_baseline"].notna().any():
        ratio = ratio_words(with_interval=bool(table["ratio_low"].notna().any()))
        sentences += [
            f"Below the names, against the baseline: {ratio}.",
            "Dashed line: the baseline's mean over e, as if repeats were as good as fresh examples.",
        ]
    if censored := table["censored"].sum():
        rest = " The other marks are of the remaining searches, and too low." if counts[-1] > 0 else ""
        sentences.append(
            f"Arrow: a censored search (here {censored}), in which no trial reached the target within "
            f"{table['budget'].iloc[0]:,.0f} fresh examples.{rest}"
        )
    if unfinished := table["unfinished"].sum():
        sentences.append(f"Preliminary: {unfinished} of {table['repeats'].sum()} searches are unfinished.")
    return " ".join(sentences)


def draw_figure3(table: pd.DataFrame, searches: pd.DataFrame, *, title: str) -> Figure:
    """Draw figure 3 from `analysis.tables.figure3` and the table of searches that it was made of.

    A panel a batch size, echo factor and echo buffer, each with the baseline of its batch size. Where there
    is nothing to show, the figure says so.
    """
    panels = _panels(table)
    columns = 2 if len(panels) == 4 else min(len(panels), MOST_COLUMNS)
    rows = math.ceil(len(panels) / columns)
    width = CATEGORY_IN * max(LEAST_CATEGORIES, *map(len, panels))
    labels = [_categories(panel) for panel in panels]
    headings = [wrapped(text, width, HEADING) for text in _panel_titles(table, panels)]
    text_height = max(map(lines, headings)) * line_height_in(HEADING)
    text_height += max(lines(text) for texts in labels for text in texts) * line_height_in(SMALL)
    with house_style():
        figure, body = framed(
            max(LEAST_WIDTH_IN, columns * (width + SIDE_IN)),
            rows * (AXES_IN + text_height + GAP_IN),
            title=title,
            legend=_legend(table),
            caption=figure3_caption(table),
        )
        axes = body.subplots(rows, columns, sharey=True, squeeze=False)
        for axis, panel, heading, texts in zip(axes.flat, panels, headings, labels, strict=False):
            _draw_panel(axis, panel, searches)
            axis.set_xticks(range(len(panel)), texts)
            axis.set_title(heading, loc="left", color=GREY)
        for axis in axes.flat[len(panels) :]:
            axis.set_axis_off()
        for axis in axes[:, 0]:
            axis.set_ylabel("fresh examples to target")
            axis.set_ylim(0, _top(table))
    return figure


def _panels(table: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows of each panel, the baseline first."""
    panels = []
    for _, rows in table.groupby("batch_size", sort=False):
        is_baseline = rows["echo_factor"] == 1
        baseline, echoed = rows[is_baseline], rows[~is_baseline]
        groups = [group for _, group in echoed.groupby(["echo_factor", "echo_buffer"], sort=False)]
        panels += [pd.concat([baseline, group]) for group in groups] or [baseline]
    return panels


def _panel_titles(table: pd.DataFrame, panels: list[pd.DataFrame]) -> list[str]:
    """What sets each panel apart from the others; all that is known of it if there is but one."""
    echoed = table[table["echo_factor"] != 1]
    names = [name for name in PANEL_WORDS if len(panels) == 1 or echoed[name].nunique() > 1]
    titles = []
    for panel in panels:
        last = panel.iloc[-1]
        shown = names if last["echo_factor"] != 1 else ["batch_size"]
        titles.append(", ".join(PANEL_WORDS[name].format(last[name]) for name in shown))
    return titles


def _draw_panel(axis: Axes, panel: pd.DataFrame, searches: pd.DataFrame) -> None:
    """Draw the conditions of a panel side by side."""
    middle, half = (len(panel) - 1) / 2, max(len(panel), LEAST_CATEGORIES) / 2
    axis.set_xlim(middle - half, middle + half)
    axis.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    for place, (_, row) in enumerate(panel.iterrows()):
        mine = searches.merge(row[list(CONDITION_TYPES)].to_frame().T.astype(CONDITION_TYPES))
        _draw_condition(axis, place, row, reached_values(mine))
    ideal = panel["if_as_good_as_fresh"].iloc[-1]
    if len(panel) > 1 and math.isfinite(ideal):
        ends = 0.55, len(panel) - 0.55
        axis.hlines(ideal, *ends, colors=GREY, linestyles="dashed", linewidth=1.2, label=IF_AS_GOOD)
    if panel["censored"].any():
        axis.axhline(panel["budget"].iloc[0], color=GREY, linestyle="dotted", linewidth=1)
    if not (panel["repeats_reached"].any() or panel["censored"].any()):
        words = axis.text(middle, 0.5, NOTHING_YET, transform=axis.get_xaxis_transform(), color=GREY)
        words.set(horizontalalignment="center", verticalalignment="center", backgroundcolor="white")


def _draw_condition(axis: Axes, place: int, row: pd.Series, values: list[float]) -> None:
    """Draw the repeats of one condition: first those that reached the target, then the censored ones."""
    colour, repeats = insertion_colour(row["insertion_point"]), int(row["repeats"])
    centre = place + (DOTS_AT if len(values) > 1 else 0)
    slots = [centre + DOTS_WIDTH * ((k + 0.5) / repeats - 0.5) for k in range(repeats)]
    if len(values) > 1:
        ends = [[row["mean"] - row["min"]], [row["max"] - row["mean"]]]
        axis.errorbar(place + BAR_AT, row["mean"], yerr=ends, fmt="s", color=colour, markersize=6, capsize=4)
        axis.plot(place + MEDIAN_AT, row["median"], "D", color=colour, markerfacecolor="white", markersize=5)
    axis.plot(slots[: len(values)], values, "o", color=colour, markersize=5, alpha=0.65, markeredgewidth=0)
    for slot in slots[len(values) : len(values) + int(row["censored"])]:
        arrow = {"arrowstyle": "<|-", "color": colour, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
        axis.annotate("", (slot, row["budget"]), (0, 14), textcoords="offset points", arrowprops=arrow)
    if len(values) < repeats and (values or row["censored"]):
        axis.annotate(
            f"{len(values)}/{repeats} {'so far' if row['unfinished'] else 'reached'}",
            (place, row["budget"] if row["censored"] else row["max"]),
            (0, 17 if row["censored"] else 6),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontproperties=SMALL,
            color=colour,
        )


def _categories(panel: pd.DataFrame) -> list[str]:
    """The text below each condition: its name, its ratio to the baseline, and the ratio's interval."""
    names = []
    for factor, insertion_point in zip(panel["echo_factor"], panel["insertion_point"], strict=True):
        name = "no echo (baseline)" if factor == 1 else insertion_point.replace("_", " ")
        names.append(wrapped(name, 0.85 * CATEGORY_IN, SMALL))
    height = max(map(lines, names))
    return [
        name + "\n" * (height - lines(name)) + _ratio_text(row)
        for name, (_, row) in zip(names, panel.iterrows(), strict=True)
    ]


def _ratio_text(row: pd.Series) -> str:
    """Lines for the ratio and its interval, as far as there are any."""
    text = ""
    if row["echo_factor"] != 1 and math.isfinite(row["ratio_to_baseline"]):
        text += f"\n{row['ratio_to_baseline']:.2f}\N{MULTIPLICATION SIGN}"
    if math.isfinite(row["ratio_low"]):
        text += f"\n{row['ratio_low']:.2f} to {row['ratio_high']:.2f}"
    return text


def _top(table: pd.DataFrame) -> float:
    """The upper end of the y-axis: room for the highest mark and the words above it."""
    has_words = bool((table["repeats_reached"] < table["repeats"]).any())
    shown = [*table["max"].dropna(), *table.loc[table["censored"] > 0, "budget"]]
    top = max(shown, default=table["budget"].iloc[0])
    return float(top * (HEADROOM_FOR_WORDS if has_words else HEADROOM))


def _legend(table: pd.DataFrame) -> list[Line2D]:
    """The marks that occur in the figure."""
    handles = []
    if (table["repeats_reached"] > 0).any():
        handles.append(Line2D([], [], marker="o", color=GREY, linestyle="", markersize=5, label="repeat"))
    if (table["repeats_reached"] > 1).any():
        handles += [
            Line2D([], [], marker="s", color=GREY, markersize=6, label="mean, min to max"),
            Line2D([], [], marker="D", color=GREY, linestyle="", markerfacecolor="white", label="median"),
        ]
    if table.loc[table["echo_factor"] != 1, "if_as_good_as_fresh"].notna().any():
        handles.append(Line2D([], [], color=GREY, linestyle="dashed", label=IF_AS_GOOD))
    if table["censored"].any():
        handles.append(
            Line2D([], [], marker="^", color=GREY, linestyle="dotted", label="not reached within budget")
        )
    return handles
