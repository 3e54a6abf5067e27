"""Adaptive search: Optuna's TPE chooses each point after the results before it. Not the paper's protocol.

One Optuna study a search, in a journal file beside the study's results, so that an interrupted search goes on
with what it knew. A trial's number in Optuna is its point index. Which points come next depends on the order
in which trials end: with several slots, or after an interruption, a search cannot be repeated exactly.

Source: Bergstra et al., "Algorithms for hyper-parameter optimization" (2011); Optuna's `TPESampler`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from study.plan import Plan, Search, Trial
from study.ranges import Choice, Range
from study.record import TrialRecord
from study.result import Outcome
from study.seeds import derived_seed

JOURNAL = "adaptive.log"


class AdaptiveSearch:
    """Asks Optuna for the points of a plan's trials, and tells it how they ended."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._plan = plan
        self._storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
        self._studies: dict[str, optuna.Study] = {}

    def ask(self, trial: Trial) -> Trial:
        """The trial with its metaparameters: those it was given before, or Optuna's next choice."""
        search = self._study(trial.search)
        space = self._plan.spec.space(trial.search.condition)
        while len(search.trials) <= trial.point:
            search.ask({name: _distribution(of) for name, of in space.items()})
        chosen = search.trials[trial.point].params
        return replace(trial, metaparameters={name: _value(of, chosen[name]) for name, of in space.items()})

    def tell(self, record: TrialRecord) -> None:
        """How a trial ended: the fresh examples to the target are to be few.

        One that missed the target counts as its budget, and more the farther it stayed from the target; one
        that was beaten as pruned; one that diverged or crashed as failed.
        """
        search, number = self._study(record.trial.search), record.trial.point
        if search.trials[number].state.is_finished():
            return
        if record.rank is not None:
            search.tell(number, record.rank.fresh_examples)
        elif record.outcome is Outcome.MISSED:
            budget = float(self._plan.spec.budget_of(record.trial.search.condition)[0])
            share = record.shortfall / abs(record.target.value) if record.target.value else record.shortfall
            search.tell(number, budget * (1 + share) if share == share else 2 * budget)
        else:
            beaten = record.outcome is Outcome.BEATEN
            search.tell(number, state=TrialState.PRUNED if beaten else TrialState.FAIL)

    def _study(self, search: Search) -> optuna.Study:
        if search.id not in self._studies:
            seed = derived_seed("adaptive", search.id) % 2**32
            self._studies[search.id] = optuna.create_study(
                storage=self._storage,
                study_name=search.id,
                sampler=optuna.samplers.TPESampler(seed=seed),
                load_if_exists=True,
            )
        return self._studies[search.id]


def _distribution(of: Range | Choice) -> BaseDistribution:
    """A metaparameter for Optuna; `reverse_log` is searched as 1 - x, which is logarithmic."""
    if isinstance(of, Choice):
        return CategoricalDistribution(of.values)
    if of.scale == "reverse_log":
        return FloatDistribution(1 - of.high, 1 - of.low, log=True)
    if of.integer:
        return IntDistribution(int(of.low), int(of.high), log=of.scale == "log")
    return FloatDistribution(of.low, of.high, log=of.scale == "log")


def _value(of: Range | Choice, chosen: float) -> float:
    """Optuna's choice as the workload's value."""
    if isinstance(of, Range) and of.scale == "reverse_log":
        return min(max(1 - chosen, of.low), of.high)
    return float(chosen)
