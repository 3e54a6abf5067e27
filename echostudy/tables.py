"""Plans, states and results as terminal tables."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
from rich.table import Table

from study.plan import Plan
from study.result import Outcome
from study.status import ConditionStatus, StudyStatus


def plan_table(plan: Plan, status: StudyStatus) -> Table:
    """Conditions with their searches and trials, and how many have run."""
    table = Table("condition", box=None, header_style="bold")
    for heading in ("searches", "trials", "done", "left"):
        table.add_column(heading, justify="right")
    for one in status.conditions:
        table.add_row(
            one.condition.label, str(plan.spec.search.repeats), str(one.trials), str(one.done), str(one.left)
        )
    if len(status.conditions) > 1:
        table.add_row(
            "all",
            str(len(plan.searches)),
            str(status.trials),
            str(status.done),
            str(status.left),
            style="bold",
        )
    return table


def status_table(conditions: Iterable[ConditionStatus], running: dict[str, int] | None = None) -> Table:
    """Conditions with done / running / left, outcomes, and the fewest fresh examples so far.

    `running` counts running trials by condition label, where that is known.
    """
    table = Table("condition", box=None, header_style="bold")
    for heading in ("done", *(["running"] if running is not None else []), "left", *Outcome, "best so far"):
        table.add_column(heading, justify="right")
    for one in conditions:
        row = [one.condition.label, str(one.done)]
        under_way = 0
        if running is not None:
            under_way = running.get(one.condition.label, 0)
            row.append(str(under_way))
        row.append(str(one.left - under_way))
        row += [str(one.outcomes.get(outcome, 0) or "·") for outcome in Outcome]
        row.append("·" if one.best_fresh_examples is None else f"{one.best_fresh_examples:,.0f} fresh")
        table.add_row(*row)
    return table


def frame_table(frame: pd.DataFrame) -> Table:
    """Any data frame; numbers to the right, whole numbers without decimals, missing ones as a dot."""
    table = Table(box=None, header_style="bold")
    for column in frame.columns:
        table.add_column(str(column), justify="right" if frame[column].dtype.kind in "if" else "left")
    for row in frame.itertuples(index=False):
        table.add_row(*map(_cell, row))
    return table


def _cell(value: object) -> str:
    if value is None or value is pd.NA or value != value:  # NaN is the value that is not itself
        return "·"
    if isinstance(value, float):
        return f"{value:,.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.3g}"
    return str(value)
