"""Writing a report: figures, tables, `report.html` and `report.md` in the study's folder, and to MLflow."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analysis.claims import Claim, Verdict
from analysis.figures.style import save_figure
from analysis.files import replacing, write_csv
from analysis.material import Material
from analysis.report.artifacts import attach, study_tags
from analysis.report.document import Document, document
from analysis.report.html import as_html
from analysis.report.markdown import as_markdown
from study.errors import UserError

if TYPE_CHECKING:
    from study.plan import Plan


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, and the files that say it.

    `tables` are by the name of their file (`figure3`, `searches`, `cost`, ...); `sentences` are the findings,
    then what to mind; `pages` are `report.html` and `report.md`, `files` all that was written.
    """

    tables: Mapping[str, pd.DataFrame]
    claims: tuple[Claim, ...]
    advice: tuple[str, ...]
    sentences: tuple[str, ...]
    pages: tuple[Path, ...]
    files: tuple[Path, ...]

    @property
    def verdicts(self) -> Mapping[Verdict, int]:
        """How many of the paper's findings have each verdict."""
        return {one: sum(claim.verdict is one for claim in self.claims) for one in Verdict}

    @property
    def figure3(self) -> pd.DataFrame:
        """The table of figure 3: a row a condition."""
        return self.tables["figure3"]


def write_report(
    plan: Plan, tracking_uri: str, folder: Path, figures: Collection[str] | None = None
) -> Report:
    """Write the report of a study under `folder`, and attach its pages to the study's MLflow run.

    Files: `report.html` (needs no other file), `report.md`, `figures/<name>.{png,svg}`, `tables/<name>.csv`;
    in `cache`, a copy of what was read. Works on a study that is unfinished or has not begun: what is missing
    is said. `figures` are the names of those to draw (None = all). Files are replaced whole.

    Raises `UserError` if the store cannot be read or the folder not be
    written to.
    """
    try:
        material = Material.of(plan, tracking_uri, folder / "cache")
        content = document(material, study_tags(plan.spec.name, tracking_uri), figures)
        tables = {one.name: one.table for one in content.exhibits if len(one.table.columns)}
        tables |= content.tables
        images = _save_figures(content, folder / "figures")
        csvs = [_save_table(table, folder / "tables" / f"{name}.csv") for name, table in tables.items()]
        pages = _save_pages(content, images, folder)
    except OSError as error:
        raise UserError(
            f"Cannot write the report to {folder}: {error.strerror}; choose another folder or free this one."
        ) from error
    trouble = attach(plan.spec.name, tracking_uri, pages)
    return Report(
        tables=tables,
        claims=content.claims,
        advice=content.advice,
        sentences=(*content.findings, *content.warnings, *([trouble] if trouble else [])),
        pages=pages,
        files=(*pages, *(path for pair in images.values() for path in pair), *csvs),
    )


def _save_figures(content: Document, folder: Path) -> dict[str, tuple[Path, Path]]:
    """PNG and SVG of every exhibit that could be drawn, by its name; those of an older report go."""
    images = {}
    for one in content.exhibits:
        if one.figure is not None:
            images[one.name] = save_figure(one.figure, folder / one.name)
        else:
            for suffix in ("png", "svg"):
                (folder / f"{one.name}.{suffix}").unlink(missing_ok=True)
    return images


def _save_table(table: pd.DataFrame, path: Path) -> Path:
    write_csv(table, path)
    return path


def _save_pages(
    content: Document, images: Mapping[str, tuple[Path, Path]], folder: Path
) -> tuple[Path, Path]:
    """`report.html` and `report.md`."""
    html, markdown = folder / "report.html", folder / "report.md"
    texts = {
        html: as_html(content, {name: svg for name, (_, svg) in images.items()}),
        markdown: as_markdown(content, {name: f"figures/{png.name}" for name, (png, _) in images.items()}),
    }
    for path, text in texts.items():
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return html, markdown
