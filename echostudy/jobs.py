"""`echostudy submit`, and `echostudy job`: a study as a job on a Ray cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from echostudy.options import (
    Checkpoints,
    OwnWorkload,
    Settings,
    Smoke,
    SpecPath,
    Tracking,
    Workers,
    overrides,
)
from echostudy.terminal import terminal
from study.errors import UserError
from study.storage import check_place
from study.workloads.reference import own_file, workload_name

if TYPE_CHECKING:
    from study.jobs import JobServer, JobState

app = typer.Typer(
    no_args_is_help=True, help="Jobs on a Ray cluster: how they stand, what they say; stop one."
)
out = terminal()

Dashboard = Annotated[
    str,
    typer.Option(
        "--address",
        metavar="URL",
        envvar="RAY_API_SERVER_ADDRESS",
        help="The dashboard of the Ray cluster, http://head:8265.",
        show_default=False,
        show_envvar=False,
    ),
]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="What `submit` printed.", show_default=False)]
Follow = Annotated[bool, typer.Option("--follow", help="Show what it prints until it has ended.")]


def submit(
    spec: SpecPath,
    address: Dashboard,
    results: Annotated[
        Path,
        typer.Option(
            "--results", metavar="DIR", help="Where results are kept, on the cluster.", show_default=False
        ),
    ],
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    smoke: Smoke = False,
    workers: Workers = None,
    checkpoints: Checkpoints = None,
    follow: Follow = False,
) -> None:
    """Have a Ray cluster run a study: code and study file travel there, the driver runs there."""
    from study.jobs import JobServer
    from study.plan import make_plan
    from study.spec import load_spec

    if not results.is_absolute():
        raise UserError(
            f"The results of a job lie on the cluster, and '{results}' would be lost with the job; name a "
            "folder that all nodes share, such as --results /mnt/shared/echostudy-results."
        )
    if tracking_uri is not None:
        _check_tracking_uri(tracking_uri)
    if checkpoints is not None:
        check_place(checkpoints)
    asked = load_spec(spec, overrides(settings, workload), smoke=smoke)
    trials = len(make_plan(asked).trials)
    file = own_file(asked.workload)
    options = ["--address", "auto", "--results", str(results)]
    options += ["--tracking-uri", tracking_uri] if tracking_uri else []
    options += [word for setting in settings or [] for word in ("--set", setting)]
    options += ["--workload", f"workload/{workload_name(asked.workload)}"] if file else []
    options += ["--checkpoints", checkpoints] if checkpoints else []
    options += ["--smoke"] if smoke else []
    options += ["--workers", str(workers)] if workers else []
    server = JobServer(address)
    job_id = server.submit(spec, options, file)
    out.print(f"{asked.name}: {trials} trials. Job {job_id} at {address}.", soft_wrap=True, highlight=False)
    if follow:
        _follow(server, job_id)
    else:
        out.print(f"Follow it: echostudy job logs {job_id} --follow --address {address}", soft_wrap=True)


@app.command()
def status(job: JobId, address: Dashboard) -> None:
    """Show how a job stands."""
    from study.jobs import JobServer

    _print_state(JobServer(address).state(job))


@app.command()
def logs(job: JobId, address: Dashboard, follow: Follow = False) -> None:
    """Show what a job has printed."""
    from study.jobs import JobServer

    server = JobServer(address)
    if follow:
        _follow(server, job)
    else:
        _show(server.logs(job))


@app.command()
def stop(job: JobId, address: Dashboard) -> None:
    """End a job; the same study submitted again goes on from there."""
    from study.jobs import JobServer

    server = JobServer(address)
    server.stop(job)
    _print_state(server.state(job))


def _follow(server: JobServer, job_id: str) -> None:
    """Show a job until it has ended; exit code 1 unless it has succeeded. Ctrl-C leaves it running."""
    try:
        state = server.follow(job_id, _show)
    except KeyboardInterrupt:
        out.print(f"\nJob {job_id} runs on; echostudy job stop {job_id} ends it.", highlight=False)
        raise typer.Exit(130) from None
    _print_state(state)
    if state.status != "SUCCEEDED":
        raise typer.Exit(1)


def _show(text: str) -> None:
    print(text, end="", flush=True)


def _print_state(state: JobState) -> None:
    said = f" ({state.message.splitlines()[0]})" if state.message else ""
    out.print(f"Job {state.job_id}: {state.status}{said}", soft_wrap=True, markup=False, highlight=False)


def _check_tracking_uri(tracking_uri: str) -> None:
    """`UserError` if it cannot be one, or has a password, which all who may ask the cluster could read."""
    from study.store import check_tracking_uri

    check_tracking_uri(tracking_uri)
    if urlsplit(tracking_uri).password is not None:
        raise UserError(
            "The password in the address of the MLflow store would be shown with the job; set "
            "MLFLOW_TRACKING_URI on the cluster's nodes instead."
        )
