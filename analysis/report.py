"""A study's report: figure, tables and sentences, from what is in MLflow at this moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd
from matplotlib.figure import Figure

from analysis.figures import draw_figure3, figure3_title, save_figure
from analysis.files import write_csv
from analysis.results import load_trials
from analysis.sentences import findings, remarks
from analysis.tables import cost, figure3, searches, share_saved
from study.errors import UserError

if TYPE_CHECKING:
    from study.plan import Plan


@dataclass(frozen=True, slots=True)
class Report:
    """What was found: the tables, plain sentences (findings first, then remarks), and the files written."""

    figure3: pd.DataFrame
    searches: pd.DataFrame
    cost: pd.DataFrame
    sentences: tuple[str, ...]
    files: tuple[Path, ...]


def write_report(plan: Plan, tracking_uri: str, folder: Path) -> Report:
    """Write `figures/figure3.{png,svg}` and `tables/{figure3,searches,cost}.csv` under `folder`.

    Works on a study that is unfinished or has not begun: what is missing is shown and said. Files are
    replaced whole. Raises `UserError` if the store cannot be read or the folder not be written to.
    """
    trials = load_trials(plan.spec.name, tracking_uri)
    by_search = searches(plan, trials)
    by_condition = figure3(plan, by_search)
    tables = {"figure3": by_condition, "searches": by_search, "cost": cost(plan, trials)}
    figure = draw_figure3(by_condition, by_search, title=figure3_title(plan))
    sentences = (
        *findings(plan, by_condition),
        *remarks(plan, trials, by_search, share_saved(plan, trials)),
    )
    return Report(**tables, sentences=sentences, files=_write(figure, tables, folder))


def _write(figure: Figure, tables: Mapping[str, pd.DataFrame], folder: Path) -> tuple[Path, ...]:
    """Write the figure and the tables; the files' paths."""
    paths = {name: folder / "tables" / f"{name}.csv" for name in tables}
    try:
        images = save_figure(figure, folder / "figures" / "figure3")
        for name, table in tables.items():
            write_csv(table, paths[name])
    except OSError as error:
        raise UserError(
            f"Cannot write the report to {folder}: {error.strerror}; choose another folder or free this one."
        ) from error
    return (*images, *paths.values())
