"""The commands `report` and `compare`: what is in MLflow, on disk and on the terminal."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from echostudy.tables import number, result_table
from study.errors import UserError
from study.folder import ResultsFolder

if TYPE_CHECKING:
    import pandas as pd

    from study.plan import Plan


def show_report(out: Console, study: Plan, folder: ResultsFolder, *, quick: bool = False) -> None:
    """Write the report; its main table, advice and sentences on the terminal, and where the rest is.

    `quick`: with figure 3 alone; to draw them all takes some ten seconds.
    """
    from analysis.report import write_report

    written = write_report(
        study, folder.tracking_uri, folder.study(study.spec.name), ["figure3"] if quick else None
    )
    out.print(result_table(study, written.figure3))
    _say(out, written.sentences)
    _say(out, ["", *written.advice])
    counts = ", ".join(f"{count} {verdict}" for verdict, count in written.verdicts.items())
    where = [f"The paper's findings: {counts}.", "", *map(str, written.pages)]
    figure3 = [path for path in written.files if path.name == "figure3.png"]
    others = len(written.files) - len(written.pages) - len(figure3)
    where += [*map(str, figure3), f"{others} figures and tables beside them"]
    if folder.server is not None or folder.database.exists():
        from study.store import store_name

        where.append(f"MLflow store: {store_name(folder.tracking_uri)}")
    _say(out, where)


def show_comparison(out: Console, first: Path, second: Path) -> None:
    """Two studies side by side; each is the folder of a study in a results folder."""
    from analysis.compare import compare, comparison_remarks

    table = compare(_trials(first), _trials(second))
    shown = Table(box=None, header_style="bold")
    for heading in ("condition", "reached", "mean", "reached", "mean", "second / first", "95% interval"):
        shown.add_column(heading, justify="left" if heading == "condition" else "right")
    for row in table.to_dict("records"):
        sides = [
            cell
            for side in ("first", "second")
            for cell in (f"{row[f'reached_{side}']}/{row[f'searches_{side}']}", number(row[f"mean_{side}"]))
        ]
        interval = f"{number(row['ratio_low'], '.2f')} to {number(row['ratio_high'], '.2f')}"
        shown.add_row(_name(row), *sides, number(row["ratio"], ".2f"), interval)
    out.print(shown)
    _say(out, comparison_remarks(table))


def stored_trials(results: ResultsFolder, study: str) -> pd.DataFrame:
    """The trials of a study of which there are results; `UserError` if there are none."""
    from analysis.results import load_trials

    trials = load_trials(study, results.tracking_uri)
    if trials.empty:
        raise UserError(
            f"There are no results of a study '{study}' in {results.root}; name the folder of a "
            "study, as in echostudy-results/digits."
        )
    return trials


def _trials(folder: Path) -> pd.DataFrame:
    """The trials of the study whose folder this is."""
    return stored_trials(ResultsFolder.at(folder.expanduser().absolute().parent), folder.name)


def _name(row: Mapping[Hashable, Any]) -> str:
    """A condition as the other tables name it."""
    from study.plan import Condition

    names = ("workload", "batch_size", "echo_factor", "insertion_point", "echo_buffer")
    return Condition(*(row[name] for name in names)).label


def _say(out: Console, sentences: Iterable[str]) -> None:
    for line in sentences:
        out.print(line, soft_wrap=True, markup=False, highlight=False)
