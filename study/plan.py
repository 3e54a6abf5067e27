"""From a study file's meaning to the list of trials: conditions -> searches -> trials. Pure; nothing runs.

Every id is a hash of what determines the result and of nothing else: names, resources, the number of
workers or the number of points may change, and every trial whose id is unchanged keeps its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import product
from typing import Any

from study.conditions import NO_ECHO, Condition
from study.points import point_table
from study.result import PROTOCOL_VERSION
from study.seeds import stable_digest
from study.spec import StudySpec
from study.timing import Timing

__all__ = ["NO_ECHO", "Condition", "Plan", "Search", "Trial", "make_plan", "stable_id"]


def stable_id(*parts: object) -> str:
    """16 hexadecimal digits, the same on every machine, of JSON-able parts."""
    return stable_digest(*parts).hex()


@dataclass(frozen=True, slots=True)
class Search:
    """One condition x one repeat; its best trial is the search's result. `points` is its number of trials.

    `timing` is what its trials are held to where they are timed (`study.timed`).
    """

    id: str
    condition_id: str
    condition: Condition
    repeat: int
    points: int
    timing: Timing | None = None

    @property
    def label(self) -> str:
        """Readable name, as in MLflow."""
        if self.timing is None:
            return f"{self.condition.label} repeat {self.repeat}"
        echoing = self.condition.label.replace(" e=", " adaptive up to e=" if self.timing.adaptive else " e=")
        return f"{echoing} {self.timing.label} repeat {self.repeat}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One training run: a search's condition and repeat at one metaparameter point.

    `reseed` sets it apart from the trial of the study itself: 0 there, 1, 2, ... where the same point is run
    again with other seeds (`study.confirm`). `seeded` is the point whose seeds it has, if not its own
    (`study.timed`).
    """

    id: str
    search: Search
    point: int
    metaparameters: Mapping[str, float]
    reseed: int = 0
    seeded: int | None = None

    @property
    def label(self) -> str:
        """Readable name, as in MLflow."""
        return f"{self.search.label} point {self.point}"


@dataclass(frozen=True)
class Plan:
    """Everything a study asks for, in table order."""

    spec: StudySpec
    conditions: tuple[Condition, ...]
    searches: tuple[Search, ...]
    given: tuple[Trial, ...] | None = None

    @cached_property
    def trials(self) -> tuple[Trial, ...]:
        """All trials: those `given`, or else the points of every search."""
        if self.given is not None:
            return self.given
        return tuple(trial for search in self.searches for trial in _trials(self.spec, search))

    def trials_of(self, search: Search) -> list[Trial]:
        """The trials of one search."""
        if self.given is not None:
            return [trial for trial in self.given if trial.search.id == search.id]
        return _trials(self.spec, search)

    @property
    def trial_count(self) -> int:
        """How many trials there are, without laying them out."""
        return sum(search.points for search in self.searches)

    @cached_property
    def trial_by_id(self) -> dict[str, Trial]:
        """Trials by their id."""
        return {trial.id: trial for trial in self.trials}

    def in_running_order(self) -> list[Trial]:
        """Trials with the repeats outermost and the conditions innermost.

        All searches of a repeat advance together, so a half-finished study already shows the whole figure.
        """
        return sorted(self.trials, key=lambda trial: (trial.search.repeat, trial.point))

    @property
    def note(self) -> str:
        """What every table must say of how this study departs from the paper's protocol; mostly nothing."""
        if self.spec.search.sampler == "tpe":
            return "adaptive search (Optuna's TPE), not the paper's protocol"
        return ""


def make_plan(spec: StudySpec, points: Mapping[str, int] | None = None) -> Plan:
    """Lay out every condition (the baseline first, once a batch size), search and trial of a study.

    `points` are the searches, by id, that have another number of trials than the study file says, since
    diverged ones were made up for (`study.counting`).
    """
    conditions = spec.conditions_in_order()
    rules = _rules(spec)
    adaptive = [spec.search.sampler] if spec.search.sampler == "tpe" else []
    spaces = {one: {name: of.identity() for name, of in spec.space(one).items()} for one in conditions}
    searches = []
    for condition, repeat in product(conditions, range(spec.search.repeats)):
        search_id = stable_id("search", *rules, asdict(condition), repeat, spaces[condition], *adaptive)
        searches.append(
            Search(
                id=search_id,
                condition_id=stable_id("condition", asdict(condition)),
                condition=condition,
                repeat=repeat,
                points=(points or {}).get(search_id, spec.search.points),
            )
        )
    return Plan(spec, conditions, tuple(searches))


def _trials(spec: StudySpec, search: Search) -> list[Trial]:
    """The trials of a search.

    An adaptive search knows its points only once they run: what identifies such a trial is its place in its
    search, and the metaparameters are empty until then.
    """
    identity = [*_rules(spec), asdict(search.condition), search.repeat]
    if spec.search.sampler == "tpe":
        return [Trial(stable_id("trial", search.id, i), search, i, {}) for i in range(search.points)]
    table = point_table(spec, search.repeat, spec.space(search.condition), search.points)
    return [
        Trial(stable_id("trial", *identity, index, point), search, index, point)
        for index, point in enumerate(table)
    ]


def _rules(spec: StudySpec) -> list[Any]:
    """What every trial of the study shares and its result depends on."""
    rules = [PROTOCOL_VERSION, spec.seed, spec.target.model_dump(), spec.budget.identity(), spec.stop]
    options = spec.options.changed()
    return [*rules, {"options": options}] if options else rules
