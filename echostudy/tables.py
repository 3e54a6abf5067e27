"""Plans, states and results as terminal tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rich.table import Table

from study.data.catalogue import DATA_SETS
from study.data.checks import presence
from study.data.root import data_folder
from study.plan import Plan
from study.result import Outcome
from study.status import ConditionStatus, StudyStatus
from study.timed import TimedStatus
from study.workloads.registry import WORKLOADS

if TYPE_CHECKING:  # pandas takes longer to load than a plan to make
    import pandas as pd

    from study.estimate import Estimate


def plan_table(plan: Plan, status: StudyStatus) -> Table:
    """Conditions with their searches and trials, and how many have run."""
    table = Table("condition", box=None, header_style="bold", title=plan.note or None, title_justify="left")
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


def timed_sentence(timed: TimedStatus) -> str:
    """How far the timing of a study's winners is."""
    most = "" if timed.final else "up to "
    return (
        "The winners are timed, one at a time, once all these trials have their result: "
        f"{timed.done} of {most}{timed.trials} timed trials have theirs."
    )


def plans_table(studies: Iterable[tuple[Plan, StudyStatus, Estimate]]) -> Table:
    """A row a study: what it asks for, and what the rest of it will cost; examples in millions."""
    table = Table("study", box=None, header_style="bold")
    for heading in ("conditions", "searches", "trials", "left", "examples low", "high", "hours low", "high"):
        table.add_column(heading, justify="right", no_wrap=True)
    for plan, status, cost in studies:
        table.add_row(
            plan.spec.name,
            str(len(plan.conditions)),
            str(len(plan.searches)),
            f"{status.trials:,}",
            f"{status.left:,}",
            f"{cost.consumed_low / 1e6:,.1f} M",
            f"{cost.consumed_high / 1e6:,.1f} M",
            number(cost.hours_low if cost.hours_low is not None else math.nan, ",.1f"),
            number(cost.hours_high if cost.hours_high is not None else math.nan, ",.1f"),
        )
    return table


def status_table(conditions: Iterable[ConditionStatus], running: dict[str, int] | None = None) -> Table:
    """Conditions with done / running / left, the outcomes there are, and the fewest fresh examples so far.

    `running` counts running trials by condition label, where that is known.
    """
    conditions = list(conditions)
    seen = [outcome for outcome in Outcome if any(one.outcomes.get(outcome) for one in conditions)]
    table = Table("condition", box=None, header_style="bold")
    for heading in ("done", *(["running"] if running is not None else []), "left", *seen, "best so far"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in conditions:
        row = [one.condition.label, str(one.done)]
        under_way = 0
        if running is not None:
            under_way = running.get(one.condition.label, 0)
            row.append(str(under_way))
        row.append(str(one.left - under_way))
        row += [str(one.outcomes.get(outcome, 0) or "·") for outcome in seen]
        row.append("·" if one.best_fresh_examples is None else f"{one.best_fresh_examples:,.0f}")
        table.add_row(*row)
    return table


def result_table(plan: Plan, figure3: pd.DataFrame) -> Table:
    """Fresh examples to the target by condition, from figure 3's table (a row a condition, in plan order)."""
    table = Table(box=None, header_style="bold", title=plan.note or None, title_justify="left")
    table.add_column("fresh examples to target", no_wrap=True)
    for heading in ("reached", "mean", "min", "max", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    for condition, row in zip(plan.conditions, figure3.to_dict("records"), strict=True):
        table.add_row(
            condition.label,
            f"{row['repeats_reached']}/{row['repeats']}",
            *(number(row[name], ",.0f") for name in ("mean", "min", "max")),
            number(row["ratio_to_baseline"], ".2f"),
        )
    return table


def workload_table() -> Table:
    """Every workload of ours: whether its data are here, how many examples train it, and what it is."""
    table = Table(box=None, header_style="bold")
    for heading in ("workload", "data"):
        table.add_column(heading, no_wrap=True)
    table.add_column("examples", justify="right")
    table.add_column("what it is", overflow="fold")
    for card in WORKLOADS.values():
        table.add_row(
            card.name,
            _data_status(card.data_set),
            "stream" if card.train_examples is None else f"{card.train_examples:,}",
            card.summary,
        )
    return table


def stage_table(profile: Mapping[str, Any]) -> Table:
    """What each stage of a profile takes alone."""
    table = Table("stage", box=None, header_style="bold")
    for heading in ("ms a batch", "quartiles"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, seconds in profile["stages_s"].items():
        low, high = profile["stages_quartiles_s"][name]
        table.add_row(name, _ms(seconds), f"{_ms(low)} to {_ms(high)}")
    return table


def ratio_table(profile: Mapping[str, Any]) -> Table:
    """R at each insertion point of a profile, and what it is the ratio of, in ms a batch."""
    table = Table("insertion point", box=None, header_style="bold")
    for heading in ("upstream", "downstream", "R", "quartiles"):
        table.add_column(heading, justify="right", no_wrap=True)
    for point, ratio in profile["R"].items():
        low, high = profile["R_quartiles"][point]
        both = _ms(profile["upstream_s"][point]), _ms(profile["downstream_s"][point])
        table.add_row(point, *both, f"{ratio:.2f}", f"{low:.2f} to {high:.2f}")
    return table


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.3f}"


def _data_status(data_set: str) -> str:
    """Whether a workload's data are here, or what gets them."""
    if not data_set:
        return "here"
    known = DATA_SETS[data_set]
    there = presence(known, data_folder(data_set))
    if there != "no":
        return "here" if there == "yes" else "in part"
    return f"echostudy data fetch {data_set}" if known.origins else "by hand: echostudy data list"


def number(value: float, form: str = ",.0f") -> str:
    """A number, or a dot where there is none."""
    return "·" if math.isnan(value) else format(value, form)
