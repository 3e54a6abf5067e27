"""`echostudy profile`: where the time of a workload, or of a loader of the user's own, goes."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from echostudy.options import AsJson, Results, Tracking, print_json, results_folder
from echostudy.terminal import terminal
from study.errors import UserError
from study.folder import DEFAULT_RESULTS
from study.sizes import read_size
from study.workloads.reference import own_reference, workload_name

if TYPE_CHECKING:
    import pandas as pd

BATCH_SIZE = 32
FUNCTION = "FILE.py:NAME"


def _function(option: str, what: str) -> Any:
    return typer.Option(option, metavar=FUNCTION, help=what, show_default=False)


def profile(
    workload: Annotated[
        str | None,
        typer.Argument(
            metavar="WORKLOAD",
            help="A workload, as `workload list` names it, or your own, FILE.py:NAME (its code is run).",
            show_default=False,
        ),
    ] = None,
    loader: Annotated[
        str | None, _function("--loader", "A function without arguments that makes a DataLoader of your own.")
    ] = None,
    step: Annotated[str | None, _function("--step", "Called with a batch of it; trains on it.")] = None,
    update_s: Annotated[
        float | None,
        typer.Option(
            "--update-s", metavar="S", help="Seconds of an update, for want of --step.", show_default=False
        ),
    ] = None,
    augment: Annotated[
        str | None, _function("--augment", "What the loader calls for each example, to time it apart.")
    ] = None,
    collate: Annotated[
        str | None, _function("--collate", "What it calls for each batch, to time it apart.")
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"Examples of an update of WORKLOAD (default: {BATCH_SIZE}).", show_default=False
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="What each part is timed for; there are up to 8.")
    ] = 2.0,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="What an echo buffer may take.")] = "1GB",
    study: Annotated[
        str | None,
        typer.Option(
            "--study", metavar="NAME", help="Advise by what this study has measured.", show_default=False
        ),
    ] = None,
    results: Results = DEFAULT_RESULTS,
    tracking_uri: Tracking = None,
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it (.png, .svg or .pdf).", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure where the time of a workload or a loader goes; advise whether, where and how to echo."""
    if (workload is None) == (loader is None):
        raise UserError(f"profile needs something to measure: give a WORKLOAD, or --loader {FUNCTION}.")
    own = {"--step": step, "--update-s": update_s, "--augment": augment, "--collate": collate}
    given = [option for option, value in own.items() if value is not None]
    if loader is None and given:
        raise UserError(f"{given[0]} belongs to a loader of your own; give --loader {FUNCTION}, too.")
    if loader is not None and batch_size is not None:
        raise UserError("--batch-size is a workload's; a loader has its own: leave it out.")
    if step is not None and update_s is not None:
        raise UserError("--update-s stands for the step; leave it or --step out.")
    if update_s is not None and not 0 < update_s < float("inf"):
        raise UserError(f"--update-s cannot be {update_s:g}; give the seconds of an update, more than 0.")
    memory_bytes = read_size(memory, "--memory")
    if figure is not None:
        _check_figure(figure)
    name = workload_name(workload or loader or "")
    ratios = None
    if study is not None:
        ratios = _ratios(study, results, tracking_uri, None if workload is None else name)
    if not as_json:
        terminal().print(f"Measuring {name}: leave the machine to it.", highlight=False)
    with redirect_stdout(sys.stderr):  # what a user's code prints must not come between
        if workload is not None:
            found = _of_workload(workload, batch_size or BATCH_SIZE, seconds)
        else:
            functions = {"step": step, "augment": augment, "collate": collate}
            found = _of_loader(loader or "", functions, update_s, seconds)
    _show(name, found, memory_bytes, study or "", ratios, figure, as_json=as_json)


def _of_workload(workload: str, batch_size: int, seconds: float) -> dict[str, Any]:
    from study.profiling import profile_workload

    return profile_workload(own_reference(workload, Path.cwd()), batch_size, seconds).as_dict()


def _of_loader(
    loader: str, functions: dict[str, str | None], update_s: float | None, seconds: float
) -> dict[str, Any]:
    from study.ownfunction import OwnFunction
    from study.profiling import OwnLoader

    given = {name: OwnFunction(f"--{name}", one) for name, one in functions.items() if one is not None}
    measured = OwnLoader(OwnFunction("--loader", loader), **given, update_s=update_s).profile(seconds)
    return measured.as_dict()


def _show(
    name: str,
    found: dict[str, Any],
    memory_bytes: int,
    study: str,
    ratios: pd.DataFrame | None,
    figure: Path | None,
    *,
    as_json: bool,
) -> None:
    from analysis.placement import placement

    advice = placement(found, memory_bytes, study, ratios)
    if figure is not None:
        from analysis.figures.profile import draw_profile
        from analysis.figures.style import write_figure

        write_figure(draw_profile(found, title=f"{name}: where the time of a batch goes"), figure)
    if as_json:
        print_json(found | {"advice": advice.as_dict()})
        return
    from analysis.placement import measured_sentences
    from echostudy.tables import ratio_table, stage_table

    out = terminal()
    out.print(stage_table(found))
    out.print()
    if found["R"]:
        out.print(ratio_table(found))
        out.print()
    for sentence in (*measured_sentences(found), *advice.sentences):
        out.print(sentence, soft_wrap=True, markup=False, highlight=False)
    if figure is not None:
        out.print(f"\nFigure: {figure}", soft_wrap=True, markup=False, highlight=False)


def _ratios(study: str, results: Path, tracking_uri: str | None, workload: str | None) -> pd.DataFrame:
    """What a study has measured of echoing; `UserError` if there is nothing, or it is of another workload."""
    from analysis.tables.ratios import stored_ratios
    from echostudy.report import stored_trials

    trials = stored_trials(results_folder(results, tracking_uri), study)
    found = stored_ratios(trials)
    names = sorted(set(found["workload"]))
    if workload is not None and names and workload not in names:
        raise UserError(f"The study '{study}' is of {', '.join(names)}, not of {workload}; name one that is.")
    return found if workload is None else found[found["workload"] == workload]


def _check_figure(figure: Path) -> None:
    if figure.suffix not in (".png", ".svg", ".pdf"):
        raise UserError(f"--figure cannot be {figure}; let its name end in .png, .svg or .pdf.")
    if not figure.parent.is_dir():
        raise UserError(f"--figure cannot be {figure}: there is no folder {figure.parent}; make it first.")
