"""Results out of MLflow: one tidy table of trials, a row a trial run, and one of curves.

Tables, figures and notebooks start from these two. The names of tags, params and metrics are those of
`study.tracking`, which wrote them; `analysis.reading` fetches them.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.reading.cache import Cache
from analysis.reading.fetched import Fetched, FetchedRun, wide
from study.entry import CONDITION_ID, ERROR, OUTCOME, PROTOCOL, SEARCH_ID, TRIAL_ID
from study.errors import UserError
from study.result import Outcome
from study.store import SQLITE, open_store, store_exists, store_name

TAGS = {
    "trial_id": TRIAL_ID,
    "search_id": SEARCH_ID,
    "condition_id": CONDITION_ID,
    "outcome": OUTCOME,
    "error": ERROR,
    "protocol_version": PROTOCOL,
}
RUN_TYPES: Mapping[str, str] = {
    "run_id": "str",
    "status": "str",
    "end_time": "Int64",
    **dict.fromkeys(TAGS, "str"),
    "protocol_version": "Int64",
}
CONDITION_TYPES: Mapping[str, str] = {
    "workload": "str",
    "batch_size": "Int64",
    "echo_factor": "float64",
    "insertion_point": "str",
    "echo_buffer": "Int64",
    "repeat": "Int64",
    "point": "Int64",
}
METRICS = (
    "fresh_examples_to_target",
    "fresh_examples_before_target",
    "examples_read_to_target",
    "updates_to_target",
    "examples_consumed",
    "duplicate_share",
    "mean_lag_updates",
    "buffer_examples",
    "training_s",
    "input_wait_s",
    "update_s",
    "evaluation_s",
    "slot_s",
    "warm",
    "time_to_target_s",
    "source_batch_s",
    "others_s",
)
CURVE_KEYS: Mapping[str, str] = {"run_id": "str", "trial_id": "str", "fresh_examples": "int64"}
SETTLED = [outcome.value for outcome in Outcome if outcome.is_result]


@dataclass(frozen=True, slots=True)
class Results:
    """The two tables of a study, as `load` describes them."""

    trials: pd.DataFrame
    curves: pd.DataFrame


def load(study: str, tracking_uri: str, cache: Path | None = None) -> Results:
    """The trials of a study in MLflow, and their curves.

    `trials` has a row a trial run, in the order of condition, repeat and point. Columns:

    - `run_id`, `status` (MLflow's): str; `end_time`: Int64, milliseconds since 1970, missing while it runs;
      `trial_id`, `search_id`, `condition_id`: str; `protocol_version`: Int64;
    - `outcome`: str, a word of `study.result.Outcome`; missing until a trial has ended; `error`: str, the
      last line of a crash;
    - `workload`, `insertion_point`: str; `echo_factor`: float64; `batch_size`, `echo_buffer` (examples),
      `repeat`, `point`: Int64; all of them are missing until a trial has ended;
    - `param.<name>`: float64, a column a metaparameter (str where a value is no number);
    - `fresh_examples_to_target`, its lower bracket `fresh_examples_before_target`,
      `examples_read_to_target`, `updates_to_target`: float64, NaN unless the target was reached;
    - as of the last evaluation, float64, NaN before the first: `examples_consumed` (repeats included),
      `duplicate_share` (of the examples of a batch, 0 to 1), `mean_lag_updates` (between an example's
      emission and its next, in updates), `buffer_examples` (effective size of the echo buffer);
    - float64, seconds: `training_s`, of it `input_wait_s`, `update_s` and `evaluation_s`; `slot_s` of holding
      a slot; `warm` is 0 for the first trial of a process, whose slot time contains its start; of timed
      trials (`study.timed`) `time_to_target_s`, NaN unless reached, `source_batch_s` that the source takes
      for a batch, and `others_s` of processor time that other processes took meanwhile;
    - `best_<metric>`: float64, the best value that the target's metric had at an evaluation.

    `curves` has a row an evaluation, in the order of run and step: `run_id`, `trial_id`: str;
    `fresh_examples`: int64; a float64 column a metric of the workload and a number of the ledger.

    A study that MLflow does not know, or without trials, gives empty tables with all of these columns but
    `param.<name>`, `best_<metric>` and the curves' metrics. Deleted runs are no results and are left out.

    `cache` is a folder for a copy, so that the next call fetches only what is new. Raises `UserError` where
    the store cannot be read, a trial is there twice, or is marked as reached without the numbers to show it.
    """
    copy = None if cache is None else Cache(cache, store_name(tracking_uri), study)
    kept = copy.load() if copy else None
    kept_trials, kept_curves = kept or (_typed(pd.DataFrame()), wide(()))
    known = dict(zip(kept_trials["run_id"], kept_trials["end_time"].astype(int), strict=True))
    fetched = _fetch(study, tracking_uri, known)
    changed = {run.run_id for run in fetched.runs}
    stale = set(known) - (fetched.alive - changed)
    trials = _joined(kept_trials, _table(fetched.runs), stale)
    curves = _joined(kept_curves, fetched.curves, stale)
    if copy and (changed or stale):
        settled = trials["outcome"].isin(SETTLED) & (trials["status"] == "FINISHED")
        _keep(copy, trials[settled], curves[curves["run_id"].isin(trials.loc[settled, "run_id"])])
    trials = _checked(_typed(trials), study)
    return Results(trials, _curves(curves, trials))


def load_trials(study: str, tracking_uri: str) -> pd.DataFrame:
    """The `trials` of `load` alone, without reading the curves."""
    return _checked(_table(_fetch(study, tracking_uri, {}, curves=False).runs), study)


def _fetch(study: str, tracking_uri: str, known: Mapping[str, int], *, curves: bool = True) -> Fetched:
    """By SQL from an embedded store, by the API from any other or where SQL does not find its way."""
    from analysis.reading.sqlite import fetch_by_sql

    if not store_exists(tracking_uri):
        return Fetched(frozenset(), (), wide(()))
    if tracking_uri.startswith(SQLITE):
        try:
            return fetch_by_sql(Path(tracking_uri.removeprefix(SQLITE)), study, known, curves=curves)
        except sqlite3.Error:
            pass  # a damaged file is named by `open_store`; tables of another MLflow are read by its API
    from analysis.reading.api import fetch_by_api

    return fetch_by_api(open_store(tracking_uri), study, known, curves=curves)


def _table(runs: Iterable[FetchedRun]) -> pd.DataFrame:
    return _typed(pd.DataFrame(map(_row, runs)))


def _row(run: FetchedRun) -> dict[str, object]:
    """One run as a row; what the run lacks is left out."""
    row: dict[str, object] = {"run_id": run.run_id, "status": run.status, "end_time": run.end_time}
    row |= {name: run.tags[tag] for name, tag in TAGS.items() if tag in run.tags}
    row |= {name if name in CONDITION_TYPES else f"param.{name}": text for name, text in run.params.items()}
    row |= {name: run.metrics[name] for name in run.metrics if name in METRICS or name.startswith("best_")}
    return row


def _typed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with every documented column, in its type and place."""
    names = sorted(_named_with_values(rows))
    metaparameters = {name: _value_type(rows[name]) for name in names if name.startswith("param.")}
    best = [name for name in names if name.startswith("best_")]
    types = {
        **RUN_TYPES,
        **CONDITION_TYPES,
        **metaparameters,
        **dict.fromkeys([*METRICS, *best], "float64"),
    }
    table = rows.reindex(columns=list(types))
    for name, type_ in types.items():
        if type_ == "Int64":
            table[name] = pd.to_numeric(table[name])
    return table.astype(types)


def _named_with_values(table: pd.DataFrame) -> list[str]:
    """The columns that hold anything: which ones there are must not depend on what was deleted since."""
    return [str(name) for name in table.columns if table[name].notna().any()]


def _value_type(values: pd.Series) -> str:
    """Numbers, unless a value is a word (a categorical metaparameter)."""
    try:
        pd.to_numeric(values.dropna())
    except ValueError:
        return "str"
    return "float64"


def _joined(kept: pd.DataFrame, fetched: pd.DataFrame, stale: set[str]) -> pd.DataFrame:
    """The kept rows that still hold, and the fetched ones."""
    if stale:
        kept = kept[~kept["run_id"].isin(stale)]
    parts = [part for part in (kept, fetched) if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else fetched


def _keep(copy: Cache, trials: pd.DataFrame, curves: pd.DataFrame) -> None:
    """Save the copy; without a place for it, the next look takes longer."""
    try:
        copy.save(trials, curves)
    except OSError as error:
        raise UserError(
            f"Cannot keep a copy of the results in {copy.folder} ({error.strerror}); "
            "choose another folder or free this one."
        ) from error


def _curves(curves: pd.DataFrame, trials: pd.DataFrame) -> pd.DataFrame:
    """The curves with their trials' ids, in order, the metrics by name."""
    metrics = sorted(set(_named_with_values(curves)) - set(CURVE_KEYS))
    trial_ids = trials.set_index("run_id")["trial_id"]
    table = curves.assign(trial_id=curves["run_id"].map(trial_ids))
    table = table[[*CURVE_KEYS, *metrics]].astype(dict(CURVE_KEYS))
    return table.sort_values(["run_id", "fresh_examples"], ignore_index=True)


def _checked(table: pd.DataFrame, study: str) -> pd.DataFrame:
    """The table in its order, once it has been found sound."""
    _refuse_doubles(table, study)
    _refuse_reached_without_numbers(table, study)
    return table.sort_values([*CONDITION_TYPES, "run_id"], ignore_index=True)


def _refuse_doubles(table: pd.DataFrame, study: str) -> None:
    """`UserError` if a trial has more than one run: which of the results counts would be a matter of luck."""
    ids = table["trial_id"].dropna()
    for trial_id, runs in ids[ids.duplicated(keep=False)].groupby(ids):
        raise UserError(
            f"Trial {trial_id} is in the study '{study}' {len(runs)} times "
            f"(MLflow runs {', '.join(table['run_id'][runs.index])}); delete all but one of these runs."
        )


def _refuse_reached_without_numbers(table: pd.DataFrame, study: str) -> None:
    """`UserError` if a reached trial lacks a number that ranks it."""
    reached = table[table["outcome"] == Outcome.REACHED]
    for row in reached.itertuples():
        for name in ("fresh_examples_to_target", "updates_to_target"):
            if math.isnan(getattr(row, name)):
                raise UserError(
                    f"MLflow run {row.run_id} of the study '{study}' is marked as reached and has no {name}; "
                    "delete the run and run the study again."
                )
