"""What several commands take and print alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from study.folder import ResultsFolder

Results = Annotated[Path, typer.Option("--results", metavar="DIR", help="Where results are kept.")]
Tracking = Annotated[
    str | None,
    typer.Option(
        "--tracking-uri",
        metavar="URI",
        envvar="MLFLOW_TRACKING_URI",
        help="An MLflow server, or a database, for the results (default: a file in DIR).",
        show_default=False,
        show_envvar=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]


def results_folder(results: Path, tracking_uri: str | None) -> ResultsFolder:
    """Where results lie; `UserError` if the address of the MLflow store cannot be one."""
    if tracking_uri is not None:
        from study.store import check_tracking_uri

        check_tracking_uri(tracking_uri)
    return ResultsFolder.at(results, tracking_uri)


def print_json(value: object) -> None:
    """Plain, unwrapped JSON: other programs read it."""
    print(json.dumps(value, indent=2))
