"""All that a report is made of: a study's plan, its results, and the tables that others start from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from analysis.results import Results, load, load_trials
from analysis.tables.best_values import best_by_search, figure8
from analysis.tables.estimates import estimates
from analysis.tables.fresh_examples import figure3
from analysis.tables.search_results import searches
from analysis.tables.sensitivity import sensitivity
from analysis.tables.slices import slices
from analysis.tables.timed import timed_cells, timed_results
from study.timed import timed, timed_name

if TYPE_CHECKING:
    from study.plan import Plan


@dataclass(frozen=True)
class Material:
    """A study's plan and results; each table is made when it is first asked for."""

    plan: Plan
    results: Results
    timed_trials: pd.DataFrame | None = None

    @classmethod
    def of(cls, plan: Plan, tracking_uri: str, cache: Path | None = None) -> Material:
        """The material of a study in a store, as `analysis.load` reads it."""
        results = load(plan.spec.name, tracking_uri, cache)
        if plan.spec.measure != "time":
            return cls(plan, results)
        return cls(plan, results, load_trials(timed_name(plan.spec.name), tracking_uri))

    @property
    def trials(self) -> pd.DataFrame:
        """The table of trials (`analysis.load`)."""
        return self.results.trials

    @cached_property
    def budget(self) -> float:
        """The largest budget of a trial, in fresh examples."""
        return float(max(self.plan.spec.budget_of(condition)[0] for condition in self.plan.conditions))

    @cached_property
    def searches(self) -> pd.DataFrame:
        """The table of searches (`analysis.tables.searches`)."""
        return searches(self.plan, self.trials)

    @cached_property
    def by_condition(self) -> pd.DataFrame:
        """The table of figure 3 (`analysis.tables.figure3`)."""
        return figure3(self.plan, self.searches)

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """Every estimate (`analysis.tables.estimates`)."""
        return estimates(self.plan, self.searches)

    @cached_property
    def sensitivity(self) -> pd.DataFrame:
        """The results with other targets (`analysis.tables.sensitivity`)."""
        return sensitivity(self.plan, self.trials, self.results.curves)

    @cached_property
    def slices(self) -> pd.DataFrame:
        """The points of the searches (`analysis.tables.slices`)."""
        return slices(self.plan, self.trials, self.searches)

    @cached_property
    def timed_results(self) -> pd.DataFrame:
        """The timed searches (`analysis.tables.timed_results`)."""
        points = zip(self.plan.searches, self.searches["reached"], self.searches["best_point"], strict=True)
        won = {one.id: self.plan.trials_of(one)[int(point)] for one, reached, point in points if reached}
        trials = self.trials.iloc[:0] if self.timed_trials is None else self.timed_trials
        return timed_results(timed(self.plan, won), trials)

    @cached_property
    def timed_cells(self) -> pd.DataFrame:
        """Their medians over repeats (`analysis.tables.timed_cells`)."""
        return timed_cells(self.timed_results)

    @cached_property
    def best_by_search(self) -> pd.DataFrame:
        """The best value of the metric by search (`analysis.tables.best_by_search`)."""
        return best_by_search(self.plan, self.trials)

    @cached_property
    def best_values(self) -> pd.DataFrame:
        """The table of figure 8 (`analysis.tables.figure8`)."""
        return figure8(self.plan, self.best_by_search)
