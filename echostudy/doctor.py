"""`echostudy doctor`: a line for each thing that a study needs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from echostudy.options import (
    Address,
    Checkpoints,
    OwnWorkload,
    Results,
    Settings,
    Tracking,
    overrides,
    results_folder,
)
from echostudy.terminal import terminal
from study.folder import DEFAULT_RESULTS

if TYPE_CHECKING:
    from study.spec import StudySpec

out = terminal()


def doctor(
    spec: Annotated[
        Path | None, typer.Argument(metavar="SPEC", help="A study file.", show_default=False)
    ] = None,
    address: Address = None,
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    checkpoints: Checkpoints = None,
) -> None:
    """Look whether all that a study needs is there, on this machine or on every node of a cluster."""
    from study.doctor import diagnosis
    from study.spec import load_spec

    folder = results_folder(results, tracking_uri, checkpoints)
    asked: StudySpec | None = load_spec(spec, overrides(settings, workload)) if spec else None
    good = True
    for finding in diagnosis(folder, asked, address):
        good = good and finding.good
        mark = "ok  " if finding.good else "BAD "
        out.print(f"{mark}{finding.what}: {finding.said}", soft_wrap=True, markup=False, highlight=False)
    if not good:
        raise typer.Exit(1)
