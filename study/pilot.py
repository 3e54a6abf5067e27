"""The pilot: the baseline alone, tuned as in the study, run to the whole budget, and the target it suggests.

The paper's rule (section 3): tune without echoing within a practical budget, and take a value slightly worse
than the best seen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from study.errors import UserError
from study.plan import NO_ECHO
from study.result import Target
from study.specmodel import StudySpec
from study.workloads.registry import workload_card

MARGIN = 0.01
"""How much worse than the best seen the target is: as a share of the metric's room, or else of the best."""


def pilot_spec(spec: StudySpec) -> StudySpec:
    """The pilot of a study: its baselines, exhaustively; a study of its own, `-pilot` behind its name.

    Its target is the best value that the metric can have, since a pilot has none yet.
    """
    metric = workload_card(spec.workload).metrics[spec.target.metric]
    best = metric.high if metric.higher_is_better else metric.low
    conditions = spec.conditions.model_copy(update={"echo_factor": (1.0,), "also": (), "exclude": ()})
    baselines = conditions.expand(spec.workload)
    assert all(one.insertion_point == NO_ECHO for one in baselines)
    changes = {
        "name": f"{spec.name[:94]}-pilot",
        "conditions": conditions,
        "overrides": tuple(one for one in spec.overrides if any(map(one.where.selects, baselines))),
        "target": spec.target.model_copy(update={"value": best}),
        "stop": "exhaustive",
    }
    return StudySpec.model_validate(dict(spec) | changes)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A target, the best value that the pilot saw, and how many of its searches reach the target."""

    target: float
    best_seen: float
    reached: int
    searches: int


def propose(best_values: Sequence[float], rule: Target, room: float, margin: float = MARGIN) -> Proposal:
    """The paper's rule on the best value of each search of a pilot, NaN where all of its trials diverged.

    `room` is the difference between the metric's highest and lowest value; infinite if it has none. The
    target is rounded to three digits behind the point, to the easier side. `UserError` if there is no value.
    """
    seen = [value for value in best_values if not math.isnan(value)]
    if not seen:
        raise UserError("Every trial of the pilot diverged; lower the learning rates and run it again.")
    best = max(seen) if rule.higher_is_better else min(seen)
    distance = margin * (abs(best) if math.isinf(room) else room)
    worse = best - distance if rule.higher_is_better else best + distance
    scaled = round(worse * 1000, 6)
    target = (math.floor(scaled) if rule.higher_is_better else math.ceil(scaled)) / 1000
    reached = Target(rule.metric, target, rule.higher_is_better)
    return Proposal(target, best, sum(map(reached.is_reached_by, seen)), len(best_values))


def write_target(path: Path, line: int, target: float) -> None:
    """Put the target into a study file, on the line of its `target.value`; nothing else changes.

    Raises `UserError` if the line has no plain `value: ...`.
    """
    if line < 1:
        raise UserError(f"The target comes from --set; write {target:g} there, or leave --set out.")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[line - 1], found = re.subn(
        r"(?<![\w.])value(\s*):(\s*)[^\s,}#]+", rf"value\1:\g<2>{target:g}", lines[line - 1], count=1
    )
    if not found:
        raise UserError(
            f"{path} line {line}: there is no plain 'value: ...' to replace; write {target:g} there."
        )
    path.write_text("".join(lines), encoding="utf-8")
