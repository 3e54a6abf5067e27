"""A study file's plan, trials made up by hand, and an MLflow store filled by direct calls."""

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from mlflow.entities import Metric, Param, RunTag
from mlflow.tracking import MlflowClient

import study
from analysis.material import Material
from analysis.results import Results, _typed
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


def _material_of(plan: Plan, ended: Mapping[str, tuple[str, float]]) -> Material:
    """Material with every column, of `{trial: (outcome, fresh examples at its end)}`; two points a curve."""
    rows, points = [], []
    for trial_id, (outcome, fresh) in ended.items():
        trial = plan.trial_by_id[trial_id]
        condition, run_id = trial.search.condition, f"run-{trial_id}"
        row = {"run_id": run_id, "status": "FINISHED", "trial_id": trial_id, "outcome": outcome}
        row |= {"end_time": 1_700_000_000_000, "search_id": trial.search.id, **asdict(condition)}
        row |= {"repeat": trial.search.repeat, "point": trial.point, "protocol_version": 1}
        row |= {f"param.{name}": value for name, value in trial.metaparameters.items()}
        if outcome != "crashed":
            best = 0.96 if outcome == "reached" else 0.9 - 0.01 * trial.point
            row |= {"examples_consumed": fresh * condition.echo_factor, "training_s": 1.5, "slot_s": 2.0}
            row |= {"input_wait_s": 0.5, "update_s": 0.75, "evaluation_s": 0.25, "warm": 1.0}
            row |= {f"best_{plan.spec.target.metric}": best}
            row |= {"duplicate_share": 0.01 * condition.echo_factor, "mean_lag_updates": 20.0 + trial.point}
            key = {"run_id": run_id, "trial_id": trial_id}
            for share, value in ((0.5, best - 0.1), (1.0, best)):
                points.append(key | {"fresh_examples": int(fresh * share), plan.spec.target.metric: value})
        if outcome == "reached":
            row["fresh_examples_to_target"] = fresh
            row["updates_to_target"] = fresh * condition.echo_factor / condition.batch_size
        rows.append(row)
    curves = pd.DataFrame(
        points, columns=["run_id", "trial_id", "fresh_examples", plan.spec.target.metric]
    ).astype({"run_id": "str", "trial_id": "str"})
    return Material(plan, Results(_typed(pd.DataFrame(rows)), curves))


@pytest.fixture(scope="session")
def material_of():
    """Material of made-up trials."""
    return _material_of


@pytest.fixture
def cut_or_covered(monkeypatch):
    """The texts of a drawn figure that its edge cuts, and the pairs of texts that cover each other."""

    def found(figure):
        texts, draw = [], Text.draw

        def recorded(self, renderer, *args, **kwargs):
            if self.get_visible() and self.get_text().strip():
                texts.append(self)
            return draw(self, renderer, *args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(Text, "draw", recorded)
            FigureCanvasAgg(figure).draw()
        boxes = {text: Text.get_window_extent(text) for text in texts}
        whole = figure.bbox.padded(0.5)
        assert len(boxes) > 3
        faults = [text.get_text() for text, box in boxes.items() if not _within(box, whole)]
        for (one, first), (two, second) in combinations(boxes.items(), 2):
            if first.overlaps(second):
                faults.append((one.get_text(), two.get_text()))
        return faults

    return found


def _within(box, whole):
    return whole.x0 <= box.x0 and whole.y0 <= box.y0 and box.x1 <= whole.x1 and box.y1 <= whole.y1


@dataclass
class FilledStore:
    """Writes trial runs under the names that the driver gives them."""

    database: Path
    tracking_uri: str
    client: MlflowClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = MlflowClient(self.tracking_uri)
        artifacts = (self.database.parent / "artifacts").as_uri()
        self.experiment_id = self.client.create_experiment("digits", artifact_location=artifacts)

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
