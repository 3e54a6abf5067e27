"""What the rest of a study will cost: examples, hours and disk, low (racing) and high (no racing).

Racing stops every trial at about the fresh examples of its search's best, so what it costs depends on the
answer. Until there are results, the best is taken to come after a third of the budget; after that it is
what the search, or else other repeats of its condition, or else its baseline have shown.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from statistics import mean

from study.calibration import Calibration
from study.conditions import Condition
from study.folder import ResultsFolder
from study.plan import Plan
from study.stored import StoredTrial, has_result

UNKNOWN_SHARE = 1 / 3
"""Share of the budget after which the best trial is taken to reach the target while nothing is known.

Of whole budgets, racing consumed 0.31 (32 points) and 0.35 (16) on digits, 0.42 (4) on Fashion-MNIST.
"""

OVERHEAD_S = 0.1
"""Seconds of a slot that a trial takes beside its training."""

START_S = 15.0
"""Seconds until the first trial trains: Ray, PyTorch, the store."""

RUN_BYTES = 57_000
"""MLflow's store grows by about this a run of 200 points."""

FILE = "estimate.json"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Cost of the trials without a result; hours are None where there is no calibration.

    `from_results` is True where the study's own results say how far the best trials run.
    """

    trials: int
    consumed_low: float
    consumed_high: float
    hours_low: float | None
    hours_high: float | None
    disk_bytes: float
    slots: int
    from_results: bool


def estimate(
    plan: Plan,
    stored: Mapping[str, StoredTrial],
    calibration_of: Callable[[Condition], Calibration | None],
    slots: int,
) -> Estimate:
    """The cost of what a plan has left, on so many slots."""
    best = _best_so_far(plan, stored)
    left = _left(plan, stored)
    low = high = low_s = high_s = 0.0
    calibrated, largest = True, 0
    for search in plan.searches:
        condition, count = search.condition, left[search.id]
        budget, every = (float(one) for one in plan.spec.budget_of(condition))
        races = plan.spec.stop == "racing"
        expected = min(budget, best.get(condition, UNKNOWN_SHARE * budget)) if races else budget
        factor = condition.echo_factor
        low, high = low + count * expected * factor, high + count * budget * factor
        known = calibration_of(condition)
        if known is None:
            calibrated = False
            continue
        largest = max(largest, known.checkpoint_bytes)
        a_fresh_example_s = factor / condition.batch_size * known.update_s + known.evaluation_s / every
        low_s += count * (expected * a_fresh_example_s + OVERHEAD_S)
        high_s += count * (budget * a_fresh_example_s + OVERHEAD_S)
    trials = sum(left.values())
    start = START_S if trials else 0.0
    waiting = len(plan.conditions) * max((one.points for one in plan.searches), default=0)
    return Estimate(
        trials=trials,
        consumed_low=low,
        consumed_high=high,
        hours_low=(low_s / slots + start) / 3600 if calibrated else None,
        hours_high=(high_s / slots + start) / 3600 if calibrated else None,
        disk_bytes=RUN_BYTES * (trials + len(plan.searches)) + largest * min(trials, waiting),
        slots=slots,
        from_results=bool(best),
    )


def _left(plan: Plan, stored: Mapping[str, StoredTrial]) -> dict[str, int]:
    """Trials without a result by search; a plan is not laid out where nothing is stored."""
    left = {search.id: search.points for search in plan.searches}
    if stored:
        for trial in plan.trials:
            left[trial.search.id] -= has_result(stored.get(trial.id))
    return left


def _best_so_far(plan: Plan, stored: Mapping[str, StoredTrial]) -> dict[Condition, float]:
    """Fresh examples of the best trials by condition, mean over searches; else those of its baseline."""
    by_search: dict[tuple[Condition, int], float] = {}
    for trial in plan.trials if stored else ():
        known = stored.get(trial.id)
        if known is not None and known.rank is not None:
            key = (trial.search.condition, trial.search.repeat)
            by_search[key] = min(by_search.get(key, float("inf")), known.rank.fresh_examples)
    by_condition: dict[Condition, list[float]] = defaultdict(list)
    for (condition, _), fresh in by_search.items():
        by_condition[condition].append(fresh)
    found = {condition: mean(values) for condition, values in by_condition.items()}
    for condition in plan.conditions:
        baseline = Condition.baseline(condition.workload, condition.batch_size)
        if condition not in found and baseline in found:
            found[condition] = found[baseline]
    return found


def keep_estimate(results: ResultsFolder, study: str, made: Estimate) -> None:
    """Keep the first estimate of a study, so that `status` can say how good it was."""
    file = results.study(study) / FILE
    if not file.exists() and made.hours_low is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(asdict(made), indent=2), encoding="utf-8")


def kept_estimate(results: ResultsFolder, study: str) -> Estimate | None:
    """The first estimate of a study; None if it was run without one."""
    try:
        return Estimate(**json.loads((results.study(study) / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
