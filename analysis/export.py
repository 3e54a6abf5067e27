"""A study's trials and curves for other tools: tidy tables, or Optuna studies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pandas as pd

from analysis.results import load
from study.ranges import Choice, Range
from study.result import Outcome

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

    from study.plan import Plan, Search

Format: TypeAlias = Literal["parquet", "csv", "optuna"]


def export(plan: Plan, tracking_uri: str, folder: Path, form: Format) -> list[Path]:
    """Write the trials of a plan and their curves to `folder`; the files' paths. Files are replaced whole.

    `parquet` and `csv`: `trials` and `curves`, with the columns of `analysis.load`. `optuna`: one SQLite
    store `optuna.db` with an Optuna study a search, for optuna-dashboard and `optuna.visualization`: the
    value is the fresh examples to the target (of a missed trial its budget), curves are intermediate values.
    """
    results = load(plan.spec.name, tracking_uri)
    mine = list(plan.trial_by_id)
    trials = results.trials[results.trials["trial_id"].isin(mine)]
    curves = results.curves[results.curves["trial_id"].isin(mine)]
    folder.mkdir(parents=True, exist_ok=True)
    if form == "optuna":
        return [_write_optuna(plan, trials, curves, folder / "optuna.db")]
    paths = []
    for name, table in (("trials", trials), ("curves", curves)):
        path = folder / f"{name}.{form}"
        part = path.with_suffix(f".{os.getpid()}.part")
        if form == "csv":
            table.to_csv(part, index=False)
        else:
            table.to_parquet(part, index=False)
        os.replace(part, path)
        paths.append(path)
    return paths


def _write_optuna(plan: Plan, trials: pd.DataFrame, curves: pd.DataFrame, path: Path) -> Path:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    part = path.with_suffix(f".{os.getpid()}.part")
    part.unlink(missing_ok=True)
    storage = optuna.storages.RDBStorage(f"sqlite:///{part}")
    by_trial = {str(trial_id): curve for trial_id, curve in curves.groupby("trial_id")}
    rows = {str(row["trial_id"]): row for row in trials.to_dict("records")}
    for search in plan.searches:
        study = optuna.create_study(storage=storage, study_name=search.label, direction="minimize")
        study.set_user_attr("echostudy.study", plan.spec.name)
        study.add_trials(_frozen(plan, search, rows, by_trial))
    storage.engine.dispose()
    os.replace(part, path)
    return path


def _frozen(
    plan: Plan, search: Search, rows: dict[str, dict[Any, Any]], curves: dict[str, pd.DataFrame]
) -> Iterator[FrozenTrial]:
    """The trials of a search that have ended, as Optuna keeps them."""
    from optuna.trial import TrialState, create_trial

    states = {Outcome.REACHED: TrialState.COMPLETE, Outcome.MISSED: TrialState.COMPLETE}
    states |= {Outcome.BEATEN: TrialState.PRUNED}
    space = plan.spec.space(search.condition)
    budget = float(plan.spec.budget_of(search.condition)[0])
    for trial in plan.trials_of(search):
        row = rows.get(trial.id)
        if row is None or not isinstance(row["outcome"], str):
            continue
        state = states.get(Outcome(row["outcome"]), TrialState.FAIL)
        reached = row["outcome"] == Outcome.REACHED
        value = float(row["fresh_examples_to_target"]) if reached else budget
        curve = curves.get(trial.id)
        steps = {} if curve is None else _steps(curve, plan.spec.target.metric)
        yield create_trial(
            state=state,
            value=value if state is TrialState.COMPLETE else None,
            params={name: row[f"param.{name}"] for name in space},
            distributions={name: _distribution(of) for name, of in space.items()},
            intermediate_values=steps,
            user_attrs={"trial_id": trial.id, "outcome": row["outcome"]},
        )


def _steps(curve: pd.DataFrame, metric: str) -> dict[int, float]:
    """The target's metric by fresh examples."""
    steps = zip(curve["fresh_examples"], curve[metric], strict=True)
    return {int(fresh): float(value) for fresh, value in steps}


def _distribution(of: Range | Choice) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    if isinstance(of, Choice):
        return CategoricalDistribution(of.values)
    return FloatDistribution(of.low, of.high, log=of.scale == "log")
