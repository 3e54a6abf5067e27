"""Exports, read back by the tools they are for."""

import optuna
import pandas as pd
import pytest
from optuna.trial import TrialState

from analysis.export import export
from analysis.results import load
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome, Rank
from study.spec import load_spec
from study.store import open_store
from study.tracking import StudyWriter


@pytest.fixture
def plan():
    settings = ["conditions.echo_factor=[1]", "search={points: 5, repeats: 1}"]
    return make_plan(load_spec("study/specs/digits.yaml", settings))


@pytest.fixture
def uri(plan, results):
    """A store in which four of five trials have ended, each in its own way."""
    writer = StudyWriter(open_store(results.tracking_uri), plan, None, {})
    ends = [Outcome.REACHED, Outcome.MISSED, Outcome.BEATEN, Outcome.DIVERGED]
    for trial, outcome in zip(plan.trials, ends, strict=False):
        last = 0.97 if outcome is Outcome.REACHED else 0.6
        curve = [
            Evaluation(
                256.0 * i,
                8 * i,
                {
                    "valid_accuracy": accuracy,
                    "examples_read": 256.0 * i,
                    "examples_consumed": 256.0 * i,
                    "buffer_examples": 0,
                },
            )
            for i, accuracy in enumerate((0.5, last), 1)
        ]
        writer.write_trial(
            TrialRecord(trial, plan.spec.rule, curve, outcome, earliest=Rank(768.0, 24, trial.point))
        )
    return results.tracking_uri


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_tables_hold_what_load_gives(plan, uri, tmp_path, form):
    paths = export(plan, uri, tmp_path / "export", form)
    assert [path.name for path in paths] == [f"trials.{form}", f"curves.{form}"]
    trials, curves = (pd.read_parquet(path) if form == "parquet" else pd.read_csv(path) for path in paths)
    expected = load(plan.spec.name, uri)
    assert list(trials.columns) == list(expected.trials.columns)
    assert len(trials) == 4
    assert len(curves) == len(expected.curves) == 8
    assert trials["fresh_examples_to_target"].max() == 512


def test_optuna_opens_its_studies_with_values_states_and_curves(plan, uri, tmp_path):
    (path,) = export(plan, uri, tmp_path, "optuna")
    (path,) = export(plan, uri, tmp_path, "optuna")  # again: the file is replaced
    storage = optuna.storages.RDBStorage(f"sqlite:///{path}")
    study = optuna.load_study(study_name=plan.searches[0].label, storage=storage)
    assert [trial.state for trial in study.trials] == [
        TrialState.COMPLETE,
        TrialState.COMPLETE,
        TrialState.PRUNED,
        TrialState.FAIL,
    ]
    assert study.best_trial.value == 512
    assert study.best_trial.intermediate_values == {256: 0.5, 512: 0.97}
    assert study.best_trial.params == pytest.approx(dict(plan.trials[0].metaparameters))
    assert study.trials[1].value == 12000
    storage.engine.dispose()
