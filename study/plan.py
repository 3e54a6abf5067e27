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

from study.points import point_table
from study.result import PROTOCOL_VERSION
from study.seeds import stable_digest
from study.spec import StudySpec

NO_ECHO = "none"
"""Insertion point of the baseline, which has no echo stage."""


def stable_id(*parts: object) -> str:
    """16 hexadecimal digits, the same on every machine, of JSON-able parts."""
    return stable_digest(*parts).hex()


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """One point of the study's grid. The order of the fields is the order of every table."""

    workload: str
    batch_size: int
    echo_factor: float
    insertion_point: str
    echo_buffer: int

    @property
    def is_baseline(self) -> bool:
        """True for the condition without an echo stage."""
        return self.insertion_point == NO_ECHO

    @property
    def label(self) -> str:
        """Readable name, as in MLflow: `before_augmentation e=2 b=32 buffer=1024`."""
        if self.is_baseline:
            return f"baseline b={self.batch_size}"
        return f"{self.insertion_point} e={self.echo_factor:g} b={self.batch_size} buffer={self.echo_buffer}"


@dataclass(frozen=True, slots=True)
class Search:
    """One condition x one repeat; its best trial is the search's result."""

    id: str
    condition_id: str
    condition: Condition
    repeat: int

    @property
    def label(self) -> str:
        """Readable name, as in MLflow."""
        return f"{self.condition.label} repeat {self.repeat}"


@dataclass(frozen=True, slots=True)
class Trial:
    """One training run: a search's condition and repeat at one metaparameter point."""

    id: str
    search: Search
    point: int
    metaparameters: Mapping[str, float]

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
    trials: tuple[Trial, ...]

    @cached_property
    def trial_by_id(self) -> dict[str, Trial]:
        """Trials by their id."""
        return {trial.id: trial for trial in self.trials}

    def in_running_order(self) -> list[Trial]:
        """Trials with the repeats outermost and the conditions innermost.

        All searches of a repeat advance together, so a half-finished study already shows the whole
        figure, and a search's early points set the mark that its later points race against.
        """
        return sorted(self.trials, key=lambda trial: (trial.search.repeat, trial.point))


def make_plan(spec: StudySpec) -> Plan:
    """Lay out every condition (the baseline first, once a batch size), search and trial of a study."""
    conditions = _conditions(spec)
    tables = [point_table(spec, repeat) for repeat in range(spec.search.repeats)]
    rules = _rules(spec)
    searches: list[Search] = []
    trials: list[Trial] = []
    for condition, repeat in product(conditions, range(spec.search.repeats)):
        identity = [*rules, asdict(condition), repeat]
        search = Search(
            id=stable_id("search", *identity, spec.space()),
            condition_id=stable_id("condition", asdict(condition)),
            condition=condition,
            repeat=repeat,
        )
        searches.append(search)
        trials += [
            Trial(stable_id("trial", *identity, index, point), search, index, point)
            for index, point in enumerate(tables[repeat])
        ]
    return Plan(spec, conditions, tuple(searches), tuple(trials))


def _conditions(spec: StudySpec) -> tuple[Condition, ...]:
    """The grid's conditions; every e = 1 is the baseline, which is there once a batch size in any case."""
    grid = spec.conditions
    found = {Condition(spec.workload, batch_size, 1.0, NO_ECHO, 0) for batch_size in grid.batch_size}
    found |= {
        Condition(spec.workload, batch_size, float(factor), insertion_point, buffer)
        for batch_size, factor, insertion_point, buffer in product(
            grid.batch_size, grid.echo_factor, grid.insertion_point, grid.echo_buffer
        )
        if factor != 1
    }
    order = {NO_ECHO: -1} | {name: i for i, name in enumerate(grid.insertion_point)}
    return tuple(
        sorted(
            found,
            key=lambda c: (c.batch_size, c.echo_factor, order[c.insertion_point], c.echo_buffer),
        )
    )


def _rules(spec: StudySpec) -> list[Any]:
    """What every trial of the study shares and its result depends on."""
    rules = [PROTOCOL_VERSION, spec.seed, spec.target.model_dump(), spec.budget.model_dump(), spec.stop]
    options = spec.options.changed()
    return [*rules, {"options": options}] if options else rules
