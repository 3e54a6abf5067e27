"""Writing to a real MLflow store: names, steps, and that no run is there twice."""

import pytest
from mlflow.tracking import MlflowClient

from study.entry import MAX_CURVE_POINTS, trial_entry
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome, Rank
from study.spec import load_spec
from study.store import open_store
from study.tracking import StudyWriter, runs_of_kind, stored_trials

SPEC = "study/specs/digits.yaml"


@pytest.fixture(scope="module")
def plan():
    return make_plan(load_spec(SPEC, ["search.points=2", "search.repeats=1"]))


@pytest.fixture
def client(results):
    return open_store(results.tracking_uri)


def record_of(trial, plan, accuracies, outcome):
    evaluations = [
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
        for i, accuracy in enumerate(accuracies, start=1)
    ]
    return TrialRecord(trial, plan.spec.rule, evaluations, outcome)


def writer_for(client: MlflowClient, plan) -> StudyWriter:
    return StudyWriter(client, plan, None, {"echostudy.git_commit": "abc"})


def test_a_trial_is_written_under_the_names_that_other_tools_read(client, plan):
    trial = plan.trials[-1]
    writer = writer_for(client, plan)
    writer.write_trial(record_of(trial, plan, [0.5, 0.96], Outcome.REACHED))
    (run,) = runs_of_kind(client, "digits", "trial")
    assert run.info.run_name == "point 1: after_batching e=2 b=32 buffer=1024 repeat 0"
    assert run.info.status == "FINISHED"
    assert run.data.tags["echostudy.trial_id"] == trial.id
    assert run.data.tags["echostudy.search_id"] == trial.search.id
    assert run.data.tags["echostudy.condition_id"] == trial.search.condition_id
    assert run.data.tags["echostudy.outcome"] == "reached"
    assert run.data.tags["echostudy.protocol_version"] == "1"
    assert run.data.params == {
        "workload": "digits_convnet",
        "batch_size": "32",
        "echo_factor": "2",
        "insertion_point": "after_batching",
        "echo_buffer": "1024",
        "repeat": "0",
        "point": "1",
        **{name: str(value) for name, value in trial.metaparameters.items()},
    }
    assert run.data.metrics["fresh_examples_to_target"] == 512
    assert run.data.metrics["fresh_examples_before_target"] == 256
    assert run.data.metrics["updates_to_target"] == 16
    assert run.data.metrics["examples_read_to_target"] == 512
    assert run.data.metrics["best_valid_accuracy"] == 0.96
    history = client.get_metric_history(run.info.run_id, "valid_accuracy")
    assert [(point.step, point.value) for point in history] == [(256, 0.5), (512, 0.96)]


def test_runs_form_a_tree_of_study_search_and_trial(client, plan):
    writer = writer_for(client, plan)
    trial = plan.trials[0]
    writer.write_trial(record_of(trial, plan, [0.96], Outcome.REACHED))
    writer.write_search(trial.search, Rank(256.0, 8, 0), finished=True)
    writer.close(finished=True)
    (study,), (search,), (leaf,) = (
        list(runs_of_kind(client, "digits", kind)) for kind in ("study", "search", "trial")
    )
    assert leaf.data.tags["mlflow.parentRunId"] == search.info.run_id
    assert search.data.tags["mlflow.parentRunId"] == study.info.run_id
    assert search.info.run_name == "baseline b=32 repeat 0"
    assert search.data.metrics["fresh_examples_to_target"] == 256
    assert study.data.tags["echostudy.git_commit"] == "abc"
    assert {run.info.status for run in (study, search, leaf)} == {"FINISHED"}


def test_a_second_driver_continues_the_same_runs(client, plan):
    trial = plan.trials[0]
    first = writer_for(client, plan)
    first.write_trial(record_of(trial, plan, [], Outcome.CRASHED))
    assert stored_trials(client, "digits")[trial.id].outcome is Outcome.CRASHED
    second = writer_for(client, plan)
    second.write_trial(record_of(trial, plan, [0.1, 0.2], Outcome.MISSED))
    second.write_search(trial.search, None, finished=True)
    assert len(list(runs_of_kind(client, "digits", "study"))) == 1
    assert len(list(runs_of_kind(client, "digits", "search"))) == 1
    (run,) = runs_of_kind(client, "digits", "trial")
    assert (run.data.tags["echostudy.outcome"], run.info.status) == ("missed", "FINISHED")


def test_what_a_dead_driver_left_running_is_closed_by_the_next(client, plan):
    writer = writer_for(client, plan)
    writer._trial_run(trial_entry(record_of(plan.trials[0], plan, [0.97], Outcome.REACHED), None))
    assert {run.info.status for run in runs_of_kind(client, "digits", "trial")} == {"RUNNING"}
    again = writer_for(client, plan)
    for kind in ("search", "trial"):
        assert {run.info.status for run in runs_of_kind(client, "digits", kind)} == {"KILLED"}
    again.write_trial(record_of(plan.trials[0], plan, [0.97], Outcome.REACHED))
    (run,) = runs_of_kind(client, "digits", "trial")
    assert run.info.status == "FINISHED"


def test_a_stored_trial_has_the_rank_it_was_written_with(client, plan):
    trial = plan.trials[1]
    record = record_of(trial, plan, [0.2, 0.3, 0.99], Outcome.REACHED)
    writer_for(client, plan).write_trial(record)
    assert stored_trials(client, "digits")[trial.id].rank == record.rank == Rank(768.0, 24, 1)


def test_long_curves_are_thinned_but_keep_their_end(client, plan):
    trial = plan.trials[0]
    record = record_of(trial, plan, [0.1] * 1001, Outcome.MISSED)
    writer_for(client, plan).write_trial(record)
    (run,) = runs_of_kind(client, "digits", "trial")
    history = client.get_metric_history(run.info.run_id, "valid_accuracy")
    assert len(history) <= MAX_CURVE_POINTS
    assert max(point.step for point in history) == 256 * 1001


def test_more_runs_than_a_page_are_all_read(client, plan, monkeypatch):
    monkeypatch.setattr("study.tracking.MAX_BATCH", 1)
    writer = writer_for(client, plan)
    for trial in plan.trials[:3]:
        writer._trial_run(trial_entry(record_of(trial, plan, [0.97], Outcome.REACHED), None))
    assert len(list(runs_of_kind(client, "digits", "trial"))) == 3
