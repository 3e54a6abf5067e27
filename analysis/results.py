"""Results out of MLflow: one tidy table, a row a trial run.

The only module of `analysis` that talks to MLflow; tables, figures and notebooks start from its table. The
names of tags, params and metrics are those of `study.tracking`, which wrote them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import pandas as pd
from mlflow.entities import Run

from study.errors import UserError
from study.result import Outcome
from study.store import open_store, store_exists
from study.tracking import CONDITION_ID, OUTCOME, SEARCH_ID, TRIAL_ID, runs_of_kind

TAGS = {"trial_id": TRIAL_ID, "search_id": SEARCH_ID, "condition_id": CONDITION_ID, "outcome": OUTCOME}
RUN_TYPES: Mapping[str, str] = {"run_id": "str", "status": "str"} | dict.fromkeys(TAGS, "str")
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
    "training_s",
    "slot_s",
)


def load_trials(study: str, tracking_uri: str) -> pd.DataFrame:
    """The trial runs of a study in MLflow, in the order of condition, repeat and point.

    Columns:

    - `run_id`, `status` (MLflow's), `trial_id`, `search_id`, `condition_id`: str;
    - `workload`, `insertion_point`: str; `echo_factor`: float64; `batch_size`, `echo_buffer` (examples),
      `repeat`, `point`: Int64; all of them are missing until a trial has ended;
    - `outcome`: str, a word of `study.result.Outcome`; missing until a trial has ended;
    - `param.<name>`: float64, a column a metaparameter;
    - `fresh_examples_to_target`, its lower bracket `fresh_examples_before_target`,
      `examples_read_to_target`, `updates_to_target`: float64, NaN unless the target was reached;
    - `examples_consumed`: float64, repeats included, as of the last evaluation (NaN before the first);
    - `training_s`, `slot_s`: float64, seconds of training, and of holding a slot;
    - `best_<metric>`: float64, the best value that the target's metric had at an evaluation.

    A study that MLflow does not know, or without trials, gives an empty table with all of these columns but
    `param.<name>` and `best_<metric>`. Deleted runs are no results and are left out.

    Raises `UserError` where a trial is there twice, or is marked as reached without the numbers to show it.
    """
    table = _typed(pd.DataFrame(map(_row, _trial_runs(study, tracking_uri))))
    _refuse_doubles(table, study)
    _refuse_reached_without_numbers(table, study)
    return table.sort_values([*CONDITION_TYPES, "run_id"], ignore_index=True)


def _trial_runs(study: str, tracking_uri: str) -> Iterator[Run]:
    """Every trial run of a study; none, and no store is made, where there is no store."""
    if store_exists(tracking_uri):
        yield from runs_of_kind(open_store(tracking_uri), study, "trial")


def _row(run: Run) -> dict[str, object]:
    """One run as a row; what the run lacks is left out."""
    tags, params, metrics = run.data.tags, run.data.params, run.data.metrics
    row: dict[str, object] = {"run_id": run.info.run_id, "status": run.info.status}
    row |= {name: tags[tag] for name, tag in TAGS.items() if tag in tags}
    row |= {name if name in CONDITION_TYPES else f"param.{name}": text for name, text in params.items()}
    row |= {name: value for name, value in metrics.items() if name in METRICS or name.startswith("best_")}
    return row


def _typed(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with every documented column, in its type and place."""
    names = sorted(str(name) for name in rows.columns)
    metaparameters = [name for name in names if name.startswith("param.")]
    best = [name for name in names if name.startswith("best_")]
    numbers = dict.fromkeys([*metaparameters, *METRICS, *best], "float64")
    types = {**RUN_TYPES, **CONDITION_TYPES, **numbers}
    return rows.reindex(columns=list(types)).astype(types)


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
