"""The commands: each is a few lines over `study` and `analysis`; heavy imports wait until needed."""

from __future__ import annotations

import errno
import gc
import logging
import os
import shlex
import signal
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from echostudy import jobs
from echostudy.data import data_app
from echostudy.doctor import doctor
from echostudy.options import (
    Address,
    AsJson,
    Checkpoints,
    OwnWorkload,
    Results,
    Settings,
    Smoke,
    SpecPath,
    Tracking,
    Workers,
    overrides,
    print_json,
    results_folder,
)
from echostudy.profile import profile
from echostudy.terminal import errors, terminal
from echostudy.workload import app as workload_app
from study.errors import UserError
from study.folder import DEFAULT_RESULTS, ResultsFolder
from study.workloads.reference import own_file

if TYPE_CHECKING:
    from study.plan import Plan
    from study.status import StudyStatus

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Data echoing: how many fresh examples, and how much time, does repeating data save?",
)
app.add_typer(data_app, name="data")
app.add_typer(workload_app, name="workload")
app.add_typer(jobs.app, name="job")
app.command()(jobs.submit)
app.command()(doctor)
out = terminal()


@app.command()
def plan(
    specs: Annotated[
        list[Path], typer.Argument(metavar="SPEC...", help="Study files (YAML).", show_default=False)
    ],
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    smoke: Smoke = False,
    workers: Workers = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="First measure, in seconds of training, what is not known.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show conditions, searches and trials, what has run, and what the rest will cost; run no trial."""
    from echostudy.costs import cost_sentence, estimated
    from echostudy.objects import plan_object
    from echostudy.tables import plan_table, plans_table, timed_sentence

    folder = results_folder(results, tracking_uri)
    asked = [_study(spec, folder, overrides(settings, workload), smoke) for spec in specs]
    costed = [
        (study, status, estimated(study, status, folder, workers, measure=calibrate))
        for study, status in asked
    ]
    study, status, cost = costed[0]
    if as_json:
        objects = [plan_object(*one) for one in costed]
        print_json(objects if len(objects) > 1 else objects[0])
    elif len(costed) > 1:
        out.print(plans_table(costed))
    else:
        out.print(plan_table(study, status))
        out.print(cost_sentence(cost), soft_wrap=True, highlight=False)
        if status.timed:
            out.print(timed_sentence(status.timed), soft_wrap=True, highlight=False)
        if file := own_file(study.spec.workload):
            out.print(f"Runs the code of {file}.", soft_wrap=True, markup=False, highlight=False)
        _print_notes(status)


@app.command()
def run(
    spec: SpecPath,
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    smoke: Smoke = False,
    workers: Workers = None,
    address: Address = None,
    checkpoints: Checkpoints = None,
    retry: Annotated[
        Literal["crashed", "diverged"] | None,
        typer.Option(help="Run those trials alone, anew.", show_default=False),
    ] = None,
    confirm_over: Annotated[
        float | None,
        typer.Option(metavar="HOURS", min=0, help="Ask first if it may take longer.", show_default=False),
    ] = None,
) -> None:
    """Run what has no result yet, then print the results and draw the figures."""
    from echostudy.costs import ask_over, estimated, remember
    from echostudy.followups import run_timed
    from echostudy.live import LiveDisplay
    from echostudy.report import show_report
    from study.session import run_study
    from study.spec import located
    from study.sweep import LimitError

    settings = overrides(settings, workload)
    folder = results_folder(results, tracking_uri, checkpoints)
    study, status = _study(spec, folder, settings, smoke)
    _print_notes(status)
    if not status.left and retry is None:
        out.print(f"All {status.trials} trials have a result; nothing to run.", highlight=False)
    folder.require_writable()
    cost = estimated(study, status, folder, workers, measure=confirm_over is not None)
    ask_over(out, cost, confirm_over)
    try:
        with located(spec, settings), LiveDisplay(out, study, status) as display:
            # A smoke is over before a Ray has started; `--workers` asks for a Ray all the same.
            here = smoke and workers is None and address is None
            run_study(study, folder, display, workers=workers, retry=retry, here=here, address=address)
    except (KeyboardInterrupt, LimitError) as end:
        _, status = _study(spec, folder, settings, smoke)
        again = shlex.join(["echostudy", *sys.argv[1:]])
        why = f"Stopped: {end}" if isinstance(end, LimitError) else "Interrupted"
        out.print(
            f"\n{why}: {status.done} of {status.trials} trials have their result. To go on: {again}",
            soft_wrap=True,
            highlight=False,
        )
        _print_crashes(status, folder.logs(study.spec.name))
        raise typer.Exit(1 if isinstance(end, LimitError) else 130) from None
    remember(study, folder, cost)
    study, status = _study(spec, folder, settings, smoke)
    if study.spec.measure == "time" and not status.left:
        run_timed(study, folder, out)
    show_report(out, study, folder, quick=smoke)
    _print_crashes(status, folder.logs(study.spec.name))
    if status.left:
        raise typer.Exit(1)


@app.command()
def status(
    spec: SpecPath,
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    smoke: Smoke = False,
    as_json: AsJson = False,
) -> None:
    """Show how far a study is, by condition and outcome, and the sweep's overhead."""
    from echostudy.costs import hindsight
    from echostudy.objects import status_object
    from echostudy.tables import status_table, timed_sentence

    folder = results_folder(results, tracking_uri)
    study, state = _study(spec, folder, overrides(settings, workload), smoke)
    if as_json:
        print_json(status_object(study, state))
        return
    if study.note:
        out.print(study.note)
    out.print(status_table(state.conditions))
    overhead = "unknown yet" if state.overhead_s is None else f"{1000 * state.overhead_s:.0f} ms a trial"
    out.print(f"{state.done} of {state.trials} trials have a result; sweep overhead {overhead}.")
    if state.timed:
        out.print(timed_sentence(state.timed), soft_wrap=True, highlight=False)
    if said := hindsight(study, state, folder):
        out.print(said, soft_wrap=True, highlight=False)


@app.command()
def report(
    spec: SpecPath,
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    smoke: Smoke = False,
) -> None:
    """Write the report of what has run so far: claims, advice, figures and tables."""
    from echostudy.report import show_report

    folder = results_folder(results, tracking_uri)
    study, _ = _study(spec, folder, overrides(settings, workload), smoke)
    folder.make_writable()
    show_report(out, study, folder)


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(metavar="FIRST", help="Folder of a study, DIR/NAME.")],
    second: Annotated[Path, typer.Argument(metavar="SECOND", help="Folder of another.")],
) -> None:
    """Show two studies side by side: another machine, version or seed."""
    from echostudy.report import show_comparison

    show_comparison(out, first, second)


@app.command()
def pilot(
    spec: SpecPath,
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    workers: Workers = None,
    margin: Annotated[
        float, typer.Option(min=0, help="How much worse than the best seen the target is to be.")
    ] = 0.01,
    write: Annotated[bool, typer.Option("--write", help="Write the target into the study file.")] = False,
) -> None:
    """Tune the baseline alone, and propose the target by the paper's rule."""
    from echostudy.followups import run_pilot
    from study.pilot import write_target

    folder = results_folder(results, tracking_uri)
    line, target = run_pilot(spec, overrides(settings, workload), folder, out, workers, margin)
    if write:
        write_target(spec, line, target)
        out.print(f"Written to {spec} line {line}.", soft_wrap=True, highlight=False)


@app.command()
def confirm(
    spec: SpecPath,
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    smoke: Smoke = False,
    workers: Workers = None,
    seeds: Annotated[int, typer.Option(min=1, max=100, help="New seeds a winner.")] = 1,
) -> None:
    """Run each search's winner again with new seeds, and show both values."""
    from echostudy.followups import run_confirmation

    folder = results_folder(results, tracking_uri)
    study, _ = _study(spec, folder, overrides(settings, workload), smoke)
    run_confirmation(study, folder, out, workers, seeds)


@app.command()
def export(
    spec: SpecPath,
    form: Annotated[
        Literal["parquet", "csv", "optuna"], typer.Option("--format", help="Tables, or Optuna studies.")
    ] = "parquet",
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    settings: Settings = None,
    workload: OwnWorkload = None,
    smoke: Smoke = False,
) -> None:
    """Write trials and curves for other tools, beside the study's figures."""
    from analysis.export import export as write

    folder = results_folder(results, tracking_uri)
    study, _ = _study(spec, folder, overrides(settings, workload), smoke)
    folder.make_writable()
    for path in write(study, folder.tracking_uri, folder.study(study.spec.name) / "export", form):
        out.print(str(path), soft_wrap=True, highlight=False)


app.command()(profile)


@app.command()
def schema() -> None:
    """Print the study file's JSON Schema, for editors."""
    from study.schema import study_schema

    print_json(study_schema())


@app.command()
def ui(
    results: Results = DEFAULT_RESULTS,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback interface.")] = 5000,
) -> None:
    """Serve MLflow's pages on the results, on this machine only, until Ctrl-C."""
    from study.server import serve

    out.print("Starting MLflow ...")
    with serve(ResultsFolder.at(results), port) as links, suppress(KeyboardInterrupt):
        for name, link in links.items():
            out.print(f"{name}: {link}", soft_wrap=True)
        out.print("Ctrl-C ends it.")
        signal.pause()


def main() -> None:
    """The console command: a `UserError` is one line on standard error and exit code 2.

    A polite kill is treated as Ctrl-C, so that runs are closed and servers ended.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    for name in ("ray", "mlflow", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    gc.set_threshold(100_000, 50, 100)  # starting makes many objects to keep: this saves more than a second
    try:
        app()
    except UserError as error:
        _print_error(str(error))
        raise SystemExit(2) from None
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = f" for {error.filename}" if error.filename else ""
        _print_error(
            f"There is no room left{where} ({os.strerror(error.errno)}); free some, and run the same command "
            "again: nothing that has ended is lost."
        )
        raise SystemExit(2) from None
    finally:
        gc.freeze()  # the process ends: Python would search all of PyTorch and MLflow for cycles once more


def _print_error(sentence: str) -> None:
    errors().print(f"Error: {sentence}", style="red", highlight=False, markup=False, soft_wrap=True)


def _print_notes(status: StudyStatus) -> None:
    for note in status.notes:
        out.print(note, soft_wrap=True, markup=False, highlight=False)


def _study(spec: Path, folder: ResultsFolder, settings: list[str], smoke: bool) -> tuple[Plan, StudyStatus]:
    """The plan of a study file, and how far it is; reads the store only if there is one."""
    from study.spec import load_spec
    from study.status import study_status
    from study.stored import read_stored
    from study.timed import timed_name, timed_status
    from study.topup import topped_up

    asked = load_spec(spec, settings, smoke=smoke)
    stored = read_stored(folder, asked.name)
    study = topped_up(asked, stored)
    if asked.measure != "time":
        return study, study_status(study, stored)
    timed = timed_status(study, stored, read_stored(folder, timed_name(asked.name)))
    return study, study_status(study, stored, timed)


def _print_crashes(status: StudyStatus, logs: Path) -> None:
    """The first crashed trials: the last line of each traceback, and where the rest of it is."""
    for trial, error in status.crashed[:3]:
        log = logs / f"{trial.id}.log"
        where = f"; see {log}" if log.exists() else ""
        said = error.removesuffix(".") if where else error
        out.print(f"Crashed: {trial.label}: {said}{where}", soft_wrap=True, markup=False, highlight=False)
    if len(status.crashed) > 3:
        out.print(f"... and {len(status.crashed) - 3} more trials, with logs in {logs}", soft_wrap=True)
