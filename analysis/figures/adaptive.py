"""Time to the target against R: every fixed echo factor, and adaptive echoing, as measured."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures.panels import panelled
from analysis.figures.style import GREY, house_style, insertion_name
from analysis.figures.time import MARKERS, shade

HEIGHT_IN, WIDTH_IN = 2.3, 3.0
ADAPTIVE = "#d62728"
CAPTION = (
    "Wall-clock seconds to the target, without evaluations, over the baseline's behind the same source; "
    "medians over repeats. A source takes R times an update's time for a batch; a bursty one gives many "
    "examples at once, after the time of all of them. Adaptive: repeats only where nothing fresh is ready."
)


def draw_adaptive(cells: pd.DataFrame, *, title: str) -> Figure:
    """Draw `analysis.tables.timed_cells`: a panel an insertion point and burst."""
    echoed = cells[cells["insertion_point"] != "none"]
    keys = ["batch_size", "insertion_point", "echo_buffer", "burst"]
    groups = [(key, rows) for key, rows in echoed.groupby(keys, sort=False)]
    factors = sorted(set(echoed.loc[~echoed["adaptive"], "echo_factor"]))
    colours = {factor: shade(at, len(factors)) for at, factor in enumerate(factors)}
    ratios = sorted(set(cells["R"]))
    legend = [
        Line2D([], [], color=colours[factor], marker=MARKERS[at % len(MARKERS)], label=f"e = {factor:g}")
        for at, factor in enumerate(factors)
    ]
    ceilings = sorted(set(echoed.loc[echoed["adaptive"], "echo_factor"]))
    label = f"adaptive, up to {', '.join(f'{one:g}' for one in ceilings)}"
    legend.append(Line2D([], [], color=ADAPTIVE, marker="*", markersize=9, label=label))
    with house_style():
        figure, axes = panelled(
            [_heading(key) for key, _ in groups],
            axes_in=(WIDTH_IN, HEIGHT_IN),
            title=title,
            legend=legend,
            caption=CAPTION,
        )
        for axis, (_, rows) in zip(axes, groups, strict=True):
            fixed = rows[~rows["adaptive"]]
            for at, factor in enumerate(factors):
                mine = fixed[fixed["echo_factor"] == factor]
                _curve(axis, mine, ratios, colours[factor], MARKERS[at % len(MARKERS)])
            _curve(axis, rows[rows["adaptive"]], ratios, ADAPTIVE, "*", width=2)
            axis.axhline(1, color=GREY, linestyle="dotted", linewidth=1)
            axis.set_xticks(range(len(ratios)), [f"{ratio:g}" for ratio in ratios])
            axis.set_ylim(0, 1.1 * max(1.0, *echoed["relative_time"].dropna()))
            axis.set_xlabel("R of the source")
        axes[0].set_ylabel("time to target / baseline's")
    return figure


def _curve(
    axis: Axes, rows: pd.DataFrame, ratios: list[float], colour: str, mark: str, width: float = 1
) -> None:
    rows = rows.sort_values("R")
    x = [ratios.index(ratio) for ratio in rows["R"]]
    size = 10 if mark == "*" else 5
    axis.plot(x, rows["relative_time"], color=colour, marker=mark, markersize=size, linewidth=width)


def _heading(key: tuple[object, ...]) -> str:
    _, point, _, burst = key
    source = "steady source" if burst == 1 else f"source in bursts of {burst}"
    return f"{insertion_name(str(point))}, {source}"
