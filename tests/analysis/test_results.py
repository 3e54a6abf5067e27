"""Reading results out of a real MLflow store."""

import math
import os

import pytest

from analysis.results import load_trials
from study.errors import UserError
from study.record import TrialRecord
from study.result import Evaluation, Outcome
from study.store import open_store
from study.tracking import StudyWriter

RUN = {
    "run_id": "str",
    "status": "str",
    "end_time": "Int64",
    **dict.fromkeys(("trial_id", "search_id", "condition_id", "outcome", "error"), "str"),
    "protocol_version": "Int64",
}
CONDITION = {
    "workload": "str",
    "batch_size": "Int64",
    "echo_factor": "float64",
    "insertion_point": "str",
    "echo_buffer": "Int64",
    "repeat": "Int64",
    "point": "Int64",
}
METRICS = [
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
]


def types_of(table):
    return {name: str(type_) for name, type_ in table.dtypes.items()}


def test_a_trial_becomes_a_row_with_everything_that_was_written(store, plan):
    trial = plan.trials[-1]
    run_id = store.write_reached(trial, 7168)
    (row,) = load_trials("digits", store.tracking_uri).to_dict("records")
    assert row.pop("end_time") > 1.7e12
    assert {name for name in row if row[name] != row[name]} == {
        *("error", "duplicate_share", "mean_lag_updates", "buffer_examples"),
        *("input_wait_s", "update_s", "evaluation_s", "warm"),
        *("time_to_target_s", "source_batch_s", "others_s"),
    }
    assert {name: value for name, value in row.items() if value == value} == {
        "run_id": run_id,
        "status": "FINISHED",
        "trial_id": trial.id,
        "search_id": trial.search.id,
        "condition_id": trial.search.condition_id,
        "outcome": "reached",
        "protocol_version": 1,
        "workload": "digits_convnet",
        "batch_size": 32,
        "echo_factor": 2.0,
        "insertion_point": "after_batching",
        "echo_buffer": 1024,
        "repeat": 2,
        "point": 3,
        "param.learning_rate": trial.metaparameters["learning_rate"],
        "param.momentum": trial.metaparameters["momentum"],
        "fresh_examples_to_target": 7168.0,
        "fresh_examples_before_target": 6912.0,
        "examples_read_to_target": 8192.0,
        "updates_to_target": 448.0,
        "examples_consumed": 14336.0,
        "training_s": 2.0,
        "slot_s": 2.5,
        "best_valid_accuracy": 0.96,
    }


def test_columns_have_the_documented_types_whatever_has_run(store, plan):
    metaparameters = dict.fromkeys(["param.learning_rate", "param.momentum"], "float64")
    expected = {**RUN, **CONDITION, **dict.fromkeys(METRICS, "float64")}
    assert types_of(load_trials("digits", store.tracking_uri)) == expected
    store.begin(plan.trials[0])
    assert types_of(load_trials("digits", store.tracking_uri)) == expected
    store.write_unreached(plan.trials[1], "diverged", 0)
    assert types_of(load_trials("digits", store.tracking_uri)) == expected | metaparameters
    store.write_reached(plan.trials[2], 7168)
    expected |= metaparameters | {"best_valid_accuracy": "float64"}
    table = load_trials("digits", store.tracking_uri)
    assert types_of(table) == expected
    assert list(table.columns[-len(METRICS) - 1 :]) == [*METRICS, "best_valid_accuracy"]


def test_a_running_trial_has_no_outcome_and_a_crashed_one_no_numbers(store, plan):
    store.begin(plan.trials[0])
    store.write(plan.trials[1], "crashed")
    table = load_trials("digits", store.tracking_uri).set_index("trial_id")
    running, crashed = table.loc[plan.trials[0].id], table.loc[plan.trials[1].id]
    assert (running["status"], crashed["status"]) == ("RUNNING", "FAILED")
    assert math.isnan(running["outcome"])
    assert crashed["outcome"] == "crashed"
    assert table[METRICS].isna().all(axis=None)


def test_rows_are_in_the_order_of_condition_repeat_and_point(store, plan):
    for trial in reversed(plan.trials[:6]):
        store.write_unreached(trial, "missed", 12032)
    table = load_trials("digits", store.tracking_uri)
    assert list(table["trial_id"]) == [trial.id for trial in plan.trials[:6]]


def test_runs_of_searches_and_of_other_studies_are_not_trials(store, plan):
    store.client.create_run(store.experiment_id, tags={"echostudy.kind": "search"})
    store.client.create_run(store.client.create_experiment("other"), tags={"echostudy.kind": "trial"})
    assert load_trials("digits", store.tracking_uri).empty


def test_a_deleted_run_is_left_out(store, plan):
    run_id = store.write_unreached(plan.trials[0], "missed", 12032)
    kept = store.write_reached(plan.trials[0], 7168)
    store.client.delete_run(run_id)
    assert list(load_trials("digits", store.tracking_uri)["run_id"]) == [kept]


def test_an_unknown_study_is_an_empty_table(store):
    table = load_trials("no-such-study", store.tracking_uri)
    assert table.empty
    assert list(table) == [*RUN, *CONDITION, *METRICS]


def test_a_store_that_is_not_there_is_an_empty_table_and_is_not_made(results):
    os.remove(results.database)
    table = load_trials("digits", results.tracking_uri)
    assert list(table) == [*RUN, *CONDITION, *METRICS]
    assert not results.database.exists()


def test_a_trial_that_is_there_twice_is_refused_by_name(store, plan):
    runs = [store.write_reached(plan.trials[0], fresh) for fresh in (7168, 512)]
    with pytest.raises(UserError, match=f"{plan.trials[0].id} is in the study 'digits' 2 times") as error:
        load_trials("digits", store.tracking_uri)
    assert all(run_id in str(error.value) for run_id in runs)


def test_a_reached_trial_without_its_numbers_is_refused(store, plan):
    run_id = store.write(plan.trials[0], "reached", training_s=1.0)
    with pytest.raises(UserError, match=f"run {run_id} .* has no fresh_examples_to_target; delete"):
        load_trials("digits", store.tracking_uri)


def test_a_later_value_of_a_curve_wins_over_an_earlier_one(store, plan):
    store.write_reached(plan.trials[0], 7168)
    (consumed,) = load_trials("digits", store.tracking_uri)["examples_consumed"]
    assert consumed == 7168


def test_what_the_driver_writes_is_what_is_read(results, plan):
    values = {"valid_accuracy": 0.5, "examples_read": 320.0, "examples_consumed": 256.0, "buffer_examples": 0}
    values |= {"duplicate_share": 0.25, "mean_lag_updates": 3.5}
    evaluations = [
        Evaluation(256.0, 8, values),
        Evaluation(512.0, 16, values | {"valid_accuracy": 0.96, "examples_consumed": 512.0}),
    ]
    trial = plan.trials[1]
    writer = StudyWriter(open_store(results.tracking_uri), plan, None, {})
    writer.write_trial(TrialRecord(trial, plan.spec.rule, evaluations, Outcome.REACHED, slot_s=0.5))
    writer.write_trial(TrialRecord(plan.trials[0], plan.spec.rule, error="boom", outcome=Outcome.CRASHED))
    crashed, row = load_trials("digits", results.tracking_uri).to_dict("records")
    assert crashed["outcome"] == "crashed"
    assert {name: row[f"param.{name}"] for name in trial.metaparameters} == trial.metaparameters
    assert {name: row[name] for name in METRICS if row[name] == row[name]} == {
        "fresh_examples_to_target": 512,
        "fresh_examples_before_target": 256,
        "examples_read_to_target": 320,
        "updates_to_target": 16,
        "examples_consumed": 512,
        "duplicate_share": 0.25,
        "mean_lag_updates": 3.5,
        "buffer_examples": 0,
        "training_s": 0,
        "input_wait_s": 0,
        "update_s": 0,
        "evaluation_s": 0,
        "slot_s": 0.5,
        "warm": 1,
    }


@pytest.mark.slow
def test_more_trials_than_a_page_of_mlflow_are_all_there(store, plan_of):
    plan = plan_of("search.points=100", "search.repeats=3")
    trials = plan.trials[:1100]
    for trial in trials:
        store.begin(trial)
    assert set(load_trials("digits", store.tracking_uri)["trial_id"]) == {trial.id for trial in trials}
