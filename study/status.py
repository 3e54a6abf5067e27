"""How far a study is: trials with a result, by condition and outcome, and what the sweep itself costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import mean

from study.notes import study_notes
from study.plan import Condition, Plan, Trial
from study.racing import Race
from study.result import Outcome
from study.stored import StoredTrial
from study.timed import TimedStatus


@dataclass(frozen=True, slots=True)
class ConditionStatus:
    """One condition: its trials, those with a result, and the fewest fresh examples to the target so far."""

    condition: Condition
    trials: int
    done: int
    outcomes: Mapping[Outcome, int]
    best_fresh_examples: float | None

    @property
    def left(self) -> int:
        """Trials without a result."""
        return self.trials - self.done


@dataclass(frozen=True, slots=True)
class StudyStatus:
    """A study: its conditions in table order, the mean overhead a trial in seconds, and what has crashed.

    Crashed trials come with the last line of their traceback. `stored` is all that the store knows of its
    trials, by id.

    `timed` is how far the timing is, under `measure: time`.

    Overhead is slot time minus training time (input wait, updates, evaluations), over all trials but the
    first of each worker process; None before there is one. `notes` are what is worth knowing before it runs.
    """

    conditions: tuple[ConditionStatus, ...]
    overhead_s: float | None
    notes: tuple[str, ...] = ()
    crashed: tuple[tuple[Trial, str], ...] = ()
    stored: Mapping[str, StoredTrial] = field(default_factory=dict)
    timed: TimedStatus | None = None

    @property
    def trials(self) -> int:
        """All trials of the plan."""
        return sum(one.trials for one in self.conditions)

    @property
    def done(self) -> int:
        """Trials with a result."""
        return sum(one.done for one in self.conditions)

    @property
    def left(self) -> int:
        """Trials without a result."""
        return self.trials - self.done


def study_status(
    plan: Plan, stored: Mapping[str, StoredTrial], timed: TimedStatus | None = None
) -> StudyStatus:
    """Hold a plan against what the store knows of its trials."""
    race = Race()
    trials: Counter[Condition] = Counter()
    outcomes: dict[Condition, Counter[Outcome]] = {condition: Counter() for condition in plan.conditions}
    overheads = []
    crashed = []
    for search in plan.searches:
        trials[search.condition] += search.points
    for trial in plan.trials if stored else ():
        condition = trial.search.condition
        found = stored.get(trial.id)
        if found is None or found.outcome is None:
            continue
        outcomes[condition][found.outcome] += 1
        if not found.outcome.is_result:
            crashed.append((trial, found.error))
        if found.rank is not None:
            race.record(condition.label, found.rank)
        if found.warm:
            overheads.append(found.slot_s - found.training_s)
    conditions = []
    for condition in plan.conditions:
        counts = outcomes[condition]
        best = race.best(condition.label)
        conditions.append(
            ConditionStatus(
                condition=condition,
                trials=trials[condition],
                done=sum(count for outcome, count in counts.items() if outcome.is_result),
                outcomes=dict(counts),
                best_fresh_examples=best.fresh_examples if best else None,
            )
        )
    overhead_s = mean(overheads) if overheads else None
    return StudyStatus(
        tuple(conditions), overhead_s, tuple(study_notes(plan, stored)), tuple(crashed), stored, timed
    )
