"""A study file's plan, trials made up by hand, and an MLflow store filled by direct calls."""

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd
import pytest
from mlflow.entities import Metric, Param, RunTag
from mlflow.tracking import MlflowClient

import study
from study.plan import Plan, Trial, make_plan
from study.spec import load_spec

DIGITS = Path(study.__file__).parent / "specs" / "digits.yaml"
COLUMNS = {
    "trial_id": "str",
    "outcome": "str",
    "fresh_examples_to_target": "float64",
    "updates_to_target": "float64",
    "examples_consumed": "float64",
    "training_s": "float64",
}


def _plan_of(*overrides: str) -> Plan:
    return make_plan(load_spec(DIGITS, overrides))


@pytest.fixture(scope="session")
def plan_of():
    """The plan of the digits study with overrides."""
    return _plan_of


@pytest.fixture(scope="session")
def plan() -> Plan:
    """4 conditions x 3 repeats x 4 points, budget 12,000."""
    return _plan_of("search.points=4", "search.repeats=3")


@pytest.fixture(scope="session")
def trials_of():
    """The columns of `load_trials` that tables read, of `{trial: (outcome, fresh examples at its end)}`."""

    def made_up(ended: Mapping[str, tuple[str, float]], plan: Plan) -> pd.DataFrame:
        rows = []
        for trial_id, (outcome, fresh) in ended.items():
            condition = plan.trial_by_id[trial_id].search.condition
            reached = outcome == "reached"
            consumed = fresh * condition.echo_factor
            rows.append(
                {
                    "trial_id": trial_id,
                    "outcome": outcome,
                    "fresh_examples_to_target": fresh if reached else math.nan,
                    "updates_to_target": consumed / condition.batch_size if reached else math.nan,
                    "examples_consumed": consumed,
                    "training_s": 1.5,
                }
            )
        return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)

    return made_up


@dataclass
class FilledStore:
    """Writes trial runs under the names that the driver gives them."""

    database: Path
    tracking_uri: str
    client: MlflowClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = MlflowClient(self.tracking_uri)
        self.experiment_id = self.client.create_experiment("digits")

    def begin(self, trial: Trial) -> str:
        """A run with no more than its tags, as while a trial runs."""
        tags = {
            "echostudy.kind": "trial",
            "echostudy.trial_id": trial.id,
            "echostudy.search_id": trial.search.id,
            "echostudy.condition_id": trial.search.condition_id,
            "echostudy.protocol_version": "1",
        }
        return self.client.create_run(self.experiment_id, tags=tags, run_name=trial.label).info.run_id

    def write(self, trial: Trial, outcome: str, curve=(), **final: float) -> str:
        """A trial that has ended; `curve` has a dict an evaluation, whose step is its `fresh_examples`."""
        condition, now = trial.search.condition, int(time.time() * 1000)
        params = {
            "workload": condition.workload,
            "batch_size": condition.batch_size,
            "echo_factor": f"{condition.echo_factor:g}",
            "insertion_point": condition.insertion_point,
            "echo_buffer": condition.echo_buffer,
            "repeat": trial.search.repeat,
            "point": trial.point,
            **trial.metaparameters,
        }
        metrics = [
            Metric(name, v, now, int(one["fresh_examples"]))
            for one in curve
            for name, v in one.items()
            if name != "fresh_examples"
        ]
        metrics += [Metric(name, value, now, 0) for name, value in final.items()]
        run_id = self.begin(trial)
        self.client.log_batch(
            run_id,
            metrics=metrics,
            params=[Param(name, str(value)) for name, value in params.items()],
            tags=[RunTag("echostudy.outcome", outcome)],
        )
        self.client.set_terminated(run_id, "FAILED" if outcome == "crashed" else "FINISHED")
        return run_id

    def write_reached(self, trial: Trial, fresh: float) -> str:
        """A trial that reached the target at its second evaluation."""
        factor, batch_size = trial.search.condition.echo_factor, trial.search.condition.batch_size
        curve = [
            {
                "fresh_examples": at,
                "examples_consumed": at * factor,
                "valid_accuracy": accuracy,
                "updates": at * factor / batch_size,
            }
            for at, accuracy in ((fresh - 256, 0.9), (fresh, 0.96))
        ]
        return self.write(
            trial,
            "reached",
            curve,
            fresh_examples_to_target=fresh,
            fresh_examples_before_target=fresh - 256,
            examples_read_to_target=fresh + 1024,
            updates_to_target=fresh * factor / batch_size,
            best_valid_accuracy=0.96,
            training_s=2.0,
            slot_s=2.5,
        )

    def write_unreached(self, trial: Trial, outcome: str, fresh: float) -> str:
        """A trial that ended otherwise, with its last evaluation at `fresh`; none if that is 0."""
        consumed = fresh * trial.search.condition.echo_factor
        curve = [{"fresh_examples": fresh, "examples_consumed": consumed, "valid_accuracy": 0.5}]
        best = {"best_valid_accuracy": 0.5} if fresh else {}
        return self.write(trial, outcome, curve if fresh else (), **best, training_s=1.0, slot_s=1.25)


@pytest.fixture
def store(results) -> FilledStore:
    """An MLflow store with the experiment of the digits study and no run."""
    return FilledStore(results.database, results.tracking_uri)
