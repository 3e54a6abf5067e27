"""Every figure of a study: its table, its drawing, or the sentence that says what the study lacks for it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from analysis.figures.adaptive import draw_adaptive
from analysis.figures.best_values import draw_figure8
from analysis.figures.curves import AXIS_NAMES, draw_against
from analysis.figures.figure3 import draw_figure3, figure3_title
from analysis.figures.health import draw_health
from analysis.figures.mixing import draw_mixing
from analysis.figures.pipeline import draw_figure1, draw_figure2
from analysis.figures.slices import draw_slices
from analysis.figures.time import draw_figure4, draw_streamed
from analysis.figures.tuning import draw_tuning
from analysis.material import Material
from analysis.tables.against import against
from analysis.tables.health import health
from analysis.tables.idle import idle_time
from analysis.tables.mixing import mixing
from analysis.tables.modelled_time import RATIOS, STREAMED, modelled_time
from analysis.tables.slices import place_name
from analysis.tables.timed import with_measured
from analysis.tables.tuning import tuning_cost

DRAWN_RATIO, DRAWN_FACTOR = 2, 2
"""R and e of the paper's figure 2."""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One figure: `name` is that of its files; `figure` is None where `missing` says what is lacking."""

    name: str
    heading: str
    table: pd.DataFrame
    figure: Figure | None = None
    missing: str = ""


def exhibits(material: Material, names: Collection[str] | None = None) -> Iterator[Exhibit]:
    """The figures of those names (all), in the order of the paper, then our own; drawn one by one."""
    wanted = _MAKERS if names is None else [_MAKERS[NAMES.index(name)] for name in NAMES if name in names]
    for make in wanted:
        yield make(material)


def exhibit(material: Material, name: str) -> Exhibit:
    """One of them by its name (`NAMES`)."""
    return _MAKERS[NAMES.index(name)](material)


def _figure1(material: Material) -> Exhibit:
    heading = "Figure 1: the pipeline, and where an echo stage can stand"
    return Exhibit("figure1", heading, pd.DataFrame(), draw_figure1(title=heading))


def _figure2(material: Material) -> Exhibit:
    steps = idle_time(DRAWN_RATIO, DRAWN_FACTOR)
    heading = f"Figure 2: idle time without and with echoing, R = {DRAWN_RATIO}"
    return Exhibit("figure2", heading, steps, draw_figure2(steps, ratio=DRAWN_RATIO, title=heading))


def _figure3(material: Material) -> Exhibit:
    title = figure3_title(material.plan)
    figure = draw_figure3(material.by_condition, material.searches, title=title)
    heading = "Figure 3: fresh examples to the target, by insertion point"
    return Exhibit("figure3", heading, material.by_condition, figure)


def _figure4(material: Material) -> Exhibit:
    heading = "Figure 4: training time against the echo factor, modelled from R"
    table = modelled_time(material.by_condition, material.plan.spec.conditions.R or RATIOS)
    if not material.timed_cells.empty:
        heading += ", and as measured"
        table = with_measured(table, material.timed_cells)
    if not _has_echoing(material):
        return Exhibit("figure4", heading, table, missing=NO_ECHOING)
    return Exhibit("figure4", heading, table, draw_figure4(table, title=_title(material, "time to target")))


def _streamed(material: Material) -> Exhibit:
    heading = f"The authors' article: fresh examples and time at R = {STREAMED:g}"
    table = modelled_time(material.by_condition, [STREAMED])
    if not _has_echoing(material):
        return Exhibit("streamed", heading, table, missing=NO_ECHOING)
    title = _title(material, f"data streamed at R = {STREAMED:g}")
    return Exhibit("streamed", heading, table, draw_streamed(material.by_condition, table, title=title))


def _adaptive(material: Material) -> Exhibit:
    heading = "Time on the wall clock against R: fixed echo factors and adaptive echoing"
    cells = material.timed_cells
    if not cells["adaptive"].any():
        missing = "No adaptive echoing has been timed; it needs measure: time and timing.adaptive: true."
        return Exhibit("adaptive", heading, pd.DataFrame(), missing=missing)
    figure = draw_adaptive(cells, title=_title(material, "time to target against R"))
    return Exhibit("adaptive", heading, cells, figure)


def _against(number: int, setting: str) -> Callable[[Material], Exhibit]:
    """Figures 5, 6 and 7, which differ in what is on the x-axis."""

    def make(material: Material) -> Exhibit:
        name, axis = f"figure{number}", AXIS_NAMES[setting]
        heading = f"Figure {number}: fresh examples to the target against the {axis}"
        table = against(material.by_condition, setting)
        if table.empty:
            others = "two echo factors above 1" if setting == "echo_factor" else "two or more of them"
            missing = f"The study does not vary the {axis}: a curve needs {others}, all else being equal."
            return Exhibit(name, heading, table, missing=missing)
        title = _title(material, f"fresh examples against {axis}")
        return Exhibit(name, heading, table, draw_against(table, setting, title=title))

    return make


def _figure8(material: Material) -> Exhibit:
    heading = "Figure 8: the best value within a fixed number of fresh examples"
    table, spec = material.best_values, material.plan.spec
    if spec.stop != "exhaustive":
        missing = (
            f"The study stops trials early (stop: {spec.stop}); the best value at a fixed budget needs a "
            "study with stop: exhaustive."
        )
        return Exhibit("figure8", heading, table, missing=missing)
    metric = spec.target.metric
    title = _title(material, f"best {metric} within {material.budget:,.0f} fresh examples")
    figure = draw_figure8(table, material.best_by_search, metric=metric, title=title)
    return Exhibit("figure8", heading, table, figure)


def _mixing(material: Material) -> Exhibit:
    heading = "Duplicates in a batch and lag between copies, against what echoing saved"
    table = mixing(material.trials, material.by_condition)
    if not _has_echoing(material):
        return Exhibit("mixing", heading, table, missing=NO_ECHOING)
    return Exhibit("mixing", heading, table, draw_mixing(table, title=_title(material, "mixing of copies")))


def _slices(material: Material) -> Exhibit:
    table = material.slices
    figure = draw_slices(
        table,
        lambda name, place: place_name(material.plan, name, place),
        budget=material.budget,
        title=_title(material, "metaparameters of the trials"),
    )
    heading = "Metaparameter slices, with the ends of the ranges"
    return Exhibit("metaparameters", heading, table, figure)


def _tuning(material: Material) -> Exhibit:
    table = tuning_cost(material.plan, material.trials)
    title = _title(material, "trials that have reached the target")
    heading = "Tuning cost: the share of trials that reached the target, against the budget"
    return Exhibit("tuning_cost", heading, table, draw_tuning(table, budget=material.budget, title=title))


def _health(material: Material) -> Exhibit:
    table = health(material.plan, material.trials)
    title = _title(material, "how the trials ended")
    return Exhibit("health", "Study health: how the trials ended", table, draw_health(table, title=title))


NO_ECHOING = "The study has no condition with echoing, so there is nothing to compare with the baseline."

_MAKERS: tuple[Callable[[Material], Exhibit], ...] = (
    _figure1,
    _figure2,
    _figure3,
    _figure4,
    _streamed,
    _adaptive,
    _against(5, "echo_factor"),
    _against(6, "batch_size"),
    _against(7, "echo_buffer"),
    _figure8,
    _mixing,
    _slices,
    _tuning,
    _health,
)

NAMES = (
    *("figure1", "figure2", "figure3", "figure4", "streamed", "adaptive"),
    *("figure5", "figure6", "figure7", "figure8"),
    *("mixing", "metaparameters", "tuning_cost", "health"),
)


def _has_echoing(material: Material) -> bool:
    return any(not condition.is_baseline for condition in material.plan.conditions)


def _title(material: Material, what: str) -> str:
    """A figure's title: the workload, and what is shown."""
    return f"{material.plan.spec.workload}: {what}"
