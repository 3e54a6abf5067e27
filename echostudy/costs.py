"""What a study will cost, as sentences, and asking before much is spent."""

from __future__ import annotations

import math
import os

import typer
from rich.console import Console

from study.calibration import Calibrations, calibrate
from study.estimate import Estimate, estimate, keep_estimate, kept_estimate
from study.folder import ResultsFolder
from study.plan import Plan
from study.status import StudyStatus


def estimated(
    plan: Plan, status: StudyStatus, results: ResultsFolder, workers: int | None, *, measure: bool = False
) -> Estimate:
    """The cost of what is left; `measure` calibrates first what no calibration is kept of."""
    if measure and status.left:
        calibrate(plan, results)
    kept = Calibrations(results)
    slots = max(1, int((workers or os.cpu_count() or 1) / plan.spec.resources.cpu))
    return estimate(plan, status.stored, lambda one: kept.find(plan.spec, one.batch_size), slots)


def cost_sentence(cost: Estimate) -> str:
    """Examples, hours and disk in one sentence; low is racing, high the whole budget for every trial."""
    if not cost.trials:
        return "Nothing is left to run."
    basis = "by the results so far" if cost.from_results else "if the best trials take a third of the budget"
    hours = (
        "hours unknown: plan --calibrate measures them in seconds"
        if cost.hours_low is None or cost.hours_high is None
        else f"{_time(cost.hours_low)} to {_time(cost.hours_high)} on {cost.slots} slots"
    )
    return (
        f"Left: {cost.trials:,} trials, {cost.consumed_low:,.0f} examples ({basis}) to "
        f"{cost.consumed_high:,.0f} (no racing), {hours}, up to {cost.disk_bytes / 1e6:,.0f} MB of disk."
    )


def ask_over(console: Console, cost: Estimate, over: float | None) -> None:
    """Ask before a run whose high estimate is above `over` hours, or unknown; ends the command at a no."""
    if over is None or not cost.trials or (cost.hours_high is not None and cost.hours_high <= over):
        return
    console.print(cost_sentence(cost), soft_wrap=True, highlight=False)
    typer.confirm(f"This may take more than {over:g} hours. Run it?", abort=True)


def hindsight(plan: Plan, status: StudyStatus, results: ResultsFolder) -> str:
    """How good the study's first estimate was, so far; empty where it was run without one."""
    made = kept_estimate(results, plan.spec.name)
    slot_s = sum(one.slot_s for one in status.stored.values())
    if made is None or made.hours_low is None or made.hours_high is None or not status.done:
        return ""
    took = slot_s / made.slots / 3600
    so_far = "" if not status.left else f" for {status.done} of {status.trials} trials"
    ratio = took / made.hours_low if made.hours_low else math.nan
    return (
        f"Estimated {_time(made.hours_low)} (racing) to {_time(made.hours_high)}; its slots took "
        f"{_time(took)}{so_far}, {ratio:.2f} times the low estimate."
    )


def remember(plan: Plan, results: ResultsFolder, cost: Estimate) -> None:
    """Keep a study's first estimate for `hindsight`."""
    keep_estimate(results, plan.spec.name, cost)


def _time(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.1f} min"
