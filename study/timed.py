"""What a study times under `measure: time`: the winner of each search again, behind sources of every R.

Nothing is tuned anew for the wall clock: a fixed echo factor's time to the target is that of its search's
winner, which takes the same stream and so reaches the target at the same fresh example. Adaptive echoing has
a stream of its own, so it is searched anew, over the same points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace

from study.plan import Condition, Plan, Search, Trial, stable_id
from study.stored import StoredTrial, has_result
from study.timing import Timing, TimingSpec
from study.winners import winners


@dataclass(frozen=True, slots=True)
class TimedStatus:
    """How far a study's timing is: the name its trials are stored under, how many are known of, and done.

    `final`: every search is through, so that no more trials will be known of.
    """

    study: str
    trials: int
    done: int
    final: bool


def timed_status(
    plan: Plan, stored: Mapping[str, StoredTrial], known: Mapping[str, StoredTrial]
) -> TimedStatus:
    """Hold what a study will time against the store.

    Args:
        plan: that of a study with `measure: time`.
        stored: what the store knows of its trials, by id.
        known: what it knows of the timed ones.
    """
    final = all(has_result(stored.get(trial.id)) for trial in plan.trials)
    won = winners(plan, stored) if final else {one.id: plan.trials_of(one)[0] for one in plan.searches}
    trials = timed(plan, won).trials
    done = sum(has_result(known.get(trial.id)) for trial in trials)
    return TimedStatus(timed_name(plan.spec.name), len(trials), done, final)


def timed_name(study: str) -> str:
    """The name of the study that holds the timed trials of another."""
    return f"{study[:95]}-time"


def timed(plan: Plan, winners: Mapping[str, Trial], update_s: Mapping[int, float] | None = None) -> Plan:
    """The plan of a study's timed trials, `-time` behind its name; empty where nothing has won yet.

    Args:
        plan: that of a study with `measure: time`.
        winners: the best trial of each search that has one, by search id.
        update_s: seconds of an update by batch size, as measured; no id depends on it.
    """
    spec = plan.spec.model_copy(
        update={
            "name": timed_name(plan.spec.name),
            "stop": "racing" if plan.spec.stop == "racing" else "at_target",
            "search": plan.spec.search.model_copy(update={"count": "points"}),
        }
    )
    asked, seconds = plan.spec.timing or TimingSpec(burst=(1,), adaptive=False), update_s or {}
    searches: list[Search] = []
    trials: list[Trial] = []
    for ratio in plan.spec.conditions.R or ():
        for burst in asked.burst:
            here = [(one, [winners[one.id]]) for one in plan.searches if one.id in winners]
            again = list(_adaptive(plan, winners)) if asked.adaptive else []
            for adaptive, timings in ((False, here), (True, again)):
                for search, points in timings:
                    seconds_here = seconds.get(search.condition.batch_size, 0.0)
                    timing = Timing(ratio, burst, adaptive, seconds_here)
                    new, ones = _search(search, points, timing)
                    searches.append(new)
                    trials += ones
    conditions = tuple(one for one in plan.conditions if any(one == search.condition for search in searches))
    return Plan(spec, conditions, tuple(searches), tuple(trials))


def _search(search: Search, points: list[Trial], timing: Timing) -> tuple[Search, list[Trial]]:
    what = timing.R, timing.burst, timing.adaptive
    new = replace(search, id=stable_id("timed search", search.id, *what), points=len(points), timing=timing)
    return new, [
        Trial(stable_id("timed", search.id, one.id, *what), new, place, one.metaparameters, seeded=one.point)
        for place, one in enumerate(points)
    ]


def _adaptive(plan: Plan, winners: Mapping[str, Trial]) -> Iterator[tuple[Search, list[Trial]]]:
    """A search each repeat, batch size, insertion point and buffer, up to the largest factor there.

    Its points are those of that factor's search; those that won with some factor come first, since the
    sooner a good trial has run, the fewer of the others need to.
    """
    largest: dict[tuple[object, ...], Condition] = {}
    for condition in plan.conditions:
        if not condition.is_baseline:
            key = condition.batch_size, condition.insertion_point, condition.echo_buffer
            largest[key] = max(largest.get(key, condition), condition)
    for search in plan.searches:
        if search.condition not in largest.values():
            continue
        won = {
            winners[one.id].point
            for one in plan.searches
            if one.repeat == search.repeat and one.id in winners and _alike(one.condition, search.condition)
        }
        if won:
            yield search, sorted(plan.trials_of(search), key=lambda trial: trial.point not in won)


def _alike(one: Condition, other: Condition) -> bool:
    """True if they differ in the echo factor at most, or one is the other's baseline."""
    if one.is_baseline:
        return one.batch_size == other.batch_size
    return asdict(replace(one, echo_factor=other.echo_factor)) == asdict(other)
