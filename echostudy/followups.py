"""Studies about a study: its pilot, which finds the target, its winners confirmed, and timed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from study.errors import UserError
from study.folder import ResultsFolder
from study.plan import Plan
from study.status import study_status
from study.stored import has_result, read_stored


def run_pilot(
    path: Path,
    overrides: Sequence[str],
    folder: ResultsFolder,
    out: Console,
    workers: int | None,
    margin: float,
) -> tuple[int, float]:
    """Run what a pilot has left, print its proposal; the line of the study's target, and the target."""
    from analysis import load_trials
    from analysis.tables.planned import results_by_search
    from study.pilot import pilot_spec, propose
    from study.plan import make_plan
    from study.spec import load_spec
    from study.specfile import read_spec_file
    from study.workloads.registry import workload_card

    asked = load_spec(path, overrides, pilot=True)
    plan = make_plan(pilot_spec(asked))
    run_plan(plan, folder, out, workers)
    trials = load_trials(plan.spec.name, folder.tracking_uri)
    name = f"best_{asked.target.metric}"
    if name not in trials:
        raise UserError("Every trial of the pilot diverged; lower the learning rates and run it again.")
    rule, metric = asked.rule, workload_card(asked.workload).metrics[asked.target.metric]
    best = [
        float(results[name].max() if rule.higher_is_better else results[name].min())
        for _, results in results_by_search(plan, trials)
    ]
    found = propose(best, rule, metric.high - metric.low, margin)
    out.print(
        f"Best {rule.metric} of the tuned baseline: {found.best_seen:.4g}. "
        f"Proposed target: {found.target:g}, which {found.reached} of {found.searches} searches (seeds) "
        "of the baseline reach.",
        soft_wrap=True,
        highlight=False,
    )
    return read_spec_file(path, overrides).place(("target", "value")).line, found.target


def run_confirmation(
    plan: Plan, folder: ResultsFolder, out: Console, workers: int | None, seeds: int
) -> None:
    """Run each search's winner with new seeds, as far as that has not been done, and print both values."""
    from study.confirm import confirmation, confirmed

    stored = read_stored(folder, plan.spec.name)
    confirming = confirmation(plan, stored, seeds)
    run_plan(confirming, folder, out, workers)
    again = read_stored(folder, confirming.spec.name)
    table = Table("fresh examples to target", box=None, header_style="bold", title=plan.note or None)
    for heading in ("winner", "with new seeds", "ratio", "reached"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in confirmed(plan, stored, confirming, again):
        ratio = math.nan if row.again is None else row.again / row.own
        table.add_row(
            row.condition.label,
            f"{row.own:,.0f}",
            "·" if row.again is None else f"{row.again:,.0f}",
            "·" if row.again is None else f"{ratio:.2f}",
            f"{row.reached}/{row.trials}",
        )
    out.print(table)


def run_timed(plan: Plan, folder: ResultsFolder, out: Console) -> None:
    """Time the winners of a study behind sources of every R, one trial at a time, as far as that is left.

    First measures what an update takes here and now. Says so where no search has a winner.
    """
    from study.timed import timed
    from study.update_time import update_seconds
    from study.winners import winners

    won = winners(plan, read_stored(folder, plan.spec.name))
    timing = timed(plan, won)
    if not timing.trials:
        out.print("Nothing to time: no search has reached its target.", highlight=False)
        return
    known = read_stored(folder, timing.spec.name)
    left = sum(not has_result(known.get(trial.id)) for trial in timing.trials)
    if not left:
        return
    out.print(
        f"Timing the winners: {left} trials, one at a time. Leave the machine to them alone.",
        soft_wrap=True,
        highlight=False,
    )
    seconds = update_seconds(plan, won)
    said = ", ".join(f"{1000 * s:.2f} ms at batch size {size}" for size, s in seconds.items())
    out.print(f"An update takes {said}.", soft_wrap=True, highlight=False)
    run_plan(timed(plan, won, seconds), folder, out, workers=math.ceil(plan.spec.resources.cpu))


def run_plan(plan: Plan, folder: ResultsFolder, out: Console, workers: int | None) -> None:
    """Run what a plan has left, with the live display; `UserError` if some of it crashed."""
    from echostudy.live import LiveDisplay
    from study.session import run_study

    stored = read_stored(folder, plan.spec.name)
    if not all(has_result(stored.get(trial.id)) for trial in plan.trials):
        with LiveDisplay(out, plan, study_status(plan, stored)) as display:
            run_study(plan, folder, display, workers=workers)
    stored = read_stored(folder, plan.spec.name)
    left = sum(not has_result(stored.get(trial.id)) for trial in plan.trials)
    if left:
        logs = folder.logs(plan.spec.name)
        raise UserError(
            f"{left} trials of {plan.spec.name} crashed; see {logs} and run the same command again."
        )
