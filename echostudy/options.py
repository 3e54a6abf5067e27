"""What several commands take and print alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from study.folder import ResultsFolder
from study.storage import check_place
from study.workloads.reference import own_reference

SpecPath = Annotated[Path, typer.Argument(metavar="SPEC", help="The study file (YAML).", show_default=False)]
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
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Override a key of the study file; repeatable."),
]
OwnWorkload = Annotated[
    str | None,
    typer.Option(
        "--workload",
        metavar="FILE.py:NAME",
        help="Study a workload of your own: a class or function in a file (its code is run).",
        show_default=False,
    ),
]
Smoke = Annotated[bool, typer.Option("--smoke", help="Cut the study to a few seconds, to see that it works.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, help="CPU slots to use (default: all cores).", show_default=False
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="Run on a Ray cluster: auto, host:6379 or ray://host:10001 (default: on this machine).",
        show_default=False,
    ),
]
Checkpoints = Annotated[
    str | None,
    typer.Option(
        "--checkpoints",
        metavar="PLACE",
        envvar="ECHOSTUDY_CHECKPOINTS",
        help="Where unfinished trials keep their state: a shared folder or s3://bucket/path (default: DIR).",
        show_default=False,
        show_envvar=False,
    ),
]


def results_folder(results: Path, tracking_uri: str | None, checkpoints: str | None = None) -> ResultsFolder:
    """Where results lie; `UserError` if an address cannot be one."""
    if tracking_uri is not None:
        from study.store import check_tracking_uri

        check_tracking_uri(tracking_uri)
    if checkpoints is not None:
        check_place(checkpoints)
    return ResultsFolder.at(results, tracking_uri, checkpoints)


def overrides(settings: list[str] | None, workload: str | None) -> list[str]:
    """What the options say in place of the study file; a workload's path counts from the working folder."""
    if workload is None:
        return settings or []
    return [*(settings or []), f"workload={json.dumps(own_reference(workload, Path.cwd()))}"]


def print_json(value: object) -> None:
    """Plain, unwrapped JSON: other programs read it."""
    print(json.dumps(value, indent=2))
