"""Figure 4 and the pair of the authors' article: training time against e, modelled from R.

After Choi et al., arXiv 1907.05550 (v1), figure 4, and the authors' article on data echoing (R about 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import matplotlib
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures.panels import NOTHING_YET, curve_handles, marker, panelled, say
from analysis.figures.style import (
    GREY,
    SMALL,
    house_style,
    insertion_colour,
    insertion_name,
    text_width_in,
)

HEIGHT_IN, LEAST_STEP_IN, LABEL_GAP_IN = 2.3, 0.55, 0.2
MOST_OF_A_BAR = 2.5
"""How far an interval may reach beyond the highest point, times that; longer ones leave the figure."""
MARKERS = "osD^v<>P"
SHADES = matplotlib.colormaps["viridis"]
MODEL = (
    "Time is modelled, not measured: an upstream step and e downstream steps overlap and take max(R, "
    "e); R = 1 means that both take the same time. Bar: 95% interval of the ratio of fresh examples."
)
MEASURED = (
    " Rings: measured on the wall clock, median over repeats, with the filling of the echo buffer, which the "
    "curves leave out."
)


def draw_figure4(table: pd.DataFrame, *, title: str) -> Figure:
    """Draw `analysis.tables.modelled_time`: a panel an insertion point, a curve an R.

    With rings for what was measured, if the table has that (`analysis.tables.with_measured`).
    """
    echoed = table[table["insertion_point"] != "none"]
    keys = ["batch_size", "insertion_point", "echo_buffer"]
    groups = [rows for _, rows in echoed.groupby(keys, sort=False)]
    ratios = sorted(set(table["R"]))
    factors = sorted(set(echoed["echo_factor"]) | {1.0})
    labels = [f"{factor:g}" for factor in factors]
    is_measured = "measured_relative_time" in table
    several = [len(set(echoed[name])) > 1 for name in keys]
    with house_style():
        figure, axes = panelled(
            [_heading(rows.iloc[0], several) for rows in groups] or ["no echoing in this study"],
            axes_in=(_step(labels) * max(len(factors), 4), HEIGHT_IN),
            title=title,
            legend=_ratio_legend(ratios),
            caption=f"Curves: {MODEL[0].lower()}{MODEL[1:]}{MEASURED}" if is_measured else MODEL,
        )
        measured = list(echoed["measured_relative_time"].dropna()) if is_measured else []
        points = max([1.0, *echoed["relative_time"].dropna(), *measured])
        highs = echoed["relative_time_high"].dropna().clip(upper=MOST_OF_A_BAR * points)
        top = 1.1 * max([points, *highs])
        for axis, rows in zip(axes, groups, strict=False):
            for at, ratio in enumerate(ratios):
                curve = rows[rows["R"] == ratio]
                shift = 0.1 * (at - (len(ratios) - 1) / 2)
                colour = shade(at, len(ratios))
                _draw_curve(axis, curve, factors, colour, MARKERS[at % len(MARKERS)], shift)
                if is_measured:
                    x = [factors.index(factor) + shift for factor in curve["echo_factor"]]
                    y = list(curve["measured_relative_time"])
                    axis.plot(x, y, ls="none", marker="o", mfc="none", mec=colour, markersize=11, mew=1.5)
            _finish(axis, labels, top)
        if not groups or echoed["relative_time"].isna().all():
            say(axes[0], NOTHING_YET)
        axes[0].set_ylabel("time to target / baseline's")
    return figure


def draw_streamed(by_condition: pd.DataFrame, table: pd.DataFrame, *, title: str) -> Figure:
    """The pair at one R: fresh examples to the target against e, and the modelled time relative to e = 1."""
    echoed = table[table["insertion_point"] != "none"]
    factors = sorted(set(echoed["echo_factor"]) | {1.0})
    labels = [f"{factor:g}" for factor in factors]
    points = list(dict.fromkeys(echoed["insertion_point"]))
    with house_style():
        figure, axes = panelled(
            ["fresh examples to target / baseline's", "modelled time to target / baseline's"],
            axes_in=(_step(labels) * max(len(factors), 5), HEIGHT_IN),
            title=title,
            legend=[*curve_handles(points), Line2D([], [], color=GREY, ls="dashed", label="ideal")],
            caption=MODEL,
        )
        fresh = by_condition.rename(columns={"ratio_to_baseline": "relative_time"})
        fresh = fresh.rename(columns={f"ratio_{end}": f"relative_time_{end}" for end in ("low", "high")})
        top = 1.1
        ratio = float(table["R"].iloc[0]) if len(table) else 1.0
        for axis, source, ceiling in zip(axes, (fresh, table), (math.inf, ratio), strict=True):
            mine = source[source["insertion_point"] != "none"]
            keys = ["batch_size", "insertion_point", "echo_buffer"]
            curves = [(str(key[1]), rows) for key, rows in mine.groupby(keys, sort=False)]
            for at, (point, rows) in enumerate(curves):
                shift = 0.12 * (at - (len(curves) - 1) / 2)
                _draw_curve(axis, rows, factors, insertion_colour(point), marker(point), shift)
            axis.plot([1 / min(one, max(ceiling, 1.0)) for one in factors], color=GREY, linestyle="dashed")
            top = max([top, *(1.1 * mine[name].max() for name in ("relative_time", "relative_time_high"))])
        for axis in axes:
            _finish(axis, labels, top)
    return figure


def _draw_curve(
    axis: Axes, curve: pd.DataFrame, factors: Sequence[float], colour: str, mark: str, shift: float
) -> None:
    """One curve from the baseline at e = 1 on, with intervals where they are known."""
    curve = curve.dropna(subset=["relative_time"]).sort_values("echo_factor")
    x = [factors.index(1.0) + shift] + [factors.index(factor) + shift for factor in curve["echo_factor"]]
    axis.plot(x, [1.0, *curve["relative_time"]], marker=mark, color=colour, linewidth=1.2, markersize=5)
    known = curve.dropna(subset=["relative_time_low", "relative_time_high"])
    places = [factors.index(factor) + shift for factor in known["echo_factor"]]
    axis.vlines(places, known["relative_time_low"], known["relative_time_high"], colors=colour, linewidth=1)


def _finish(axis: Axes, labels: Sequence[str], top: float) -> None:
    axis.axhline(1, color=GREY, linestyle="dotted", linewidth=1)
    axis.set_xticks(range(len(labels)), labels)
    axis.set_xlim(-0.5, len(labels) - 0.5)
    axis.set_ylim(0, top if math.isfinite(top) else 1.1)
    axis.set_xlabel("echo factor e")


def _step(labels: Sequence[str]) -> float:
    """Room for a label on the x-axis, in inches."""
    return max(LEAST_STEP_IN, *(text_width_in(label, SMALL) + LABEL_GAP_IN for label in labels))


def _heading(row: pd.Series, several: Sequence[bool]) -> str:
    """The insertion point, with what else sets the panel apart."""
    words = insertion_name(row["insertion_point"])
    words += f", batch size {row['batch_size']:,}" if several[0] else ""
    return words + (f", echo buffer {row['echo_buffer']:,}" if several[2] else "")


def shade(at: int, count: int) -> str:
    """Number `at` of `count` curves: a shade from dark to light, told apart in grey, too."""
    return str(matplotlib.colors.to_hex(SHADES(0.85 * at / max(count - 1, 1))))


def _ratio_legend(ratios: Sequence[float]) -> list[Line2D]:
    return [
        Line2D(
            [], [], color=shade(at, len(ratios)), marker=MARKERS[at % len(MARKERS)], label=f"R = {ratio:g}"
        )
        for at, ratio in enumerate(ratios)
    ]
