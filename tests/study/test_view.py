"""The view of MLflow's runs table that a study comes with: which columns it shows."""

import json

import pytest

from study.plan import make_plan
from study.spec import load_spec
from study.view import VIEW_TAG, runs_view

SPEC = "study/specs/digits.yaml"


def columns(*settings: str) -> list[str]:
    return json.loads(runs_view(make_plan(load_spec(SPEC, settings))))["selectedColumns"]


def test_results_what_tells_trials_apart_and_the_outcome_are_shown():
    assert columns() == [
        "metrics.`fresh_examples_to_target`",
        "metrics.`best_valid_accuracy`",
        "params.`echo_factor`",
        "params.`insertion_point`",
        "params.`repeat`",
        "params.`point`",
        "params.`learning_rate`",
        "params.`momentum`",
        "tags.`echostudy.outcome`",
    ]


@pytest.mark.parametrize(
    ("setting", "column"),
    [("conditions.batch_size=[32, 64]", "batch_size"), ("conditions.echo_buffer=[0, 64]", "echo_buffer")],
)
def test_what_differs_between_conditions_has_a_column(setting, column):
    before_augmentation = "conditions.insertion_point=[before_augmentation]"
    assert f"params.`{column}`" in columns(before_augmentation, setting)
    assert f"params.`{column}`" not in columns(before_augmentation)


def test_a_study_of_the_baseline_alone_has_a_view():
    assert "params.`echo_factor`" in columns("conditions.echo_factor=[1]")


def test_the_view_goes_with_the_experiment(results):
    from study.store import open_store
    from study.tracking import StudyWriter

    client, plan = open_store(results.tracking_uri), make_plan(load_spec(SPEC))
    StudyWriter(client, plan, None, {})
    assert client.get_experiment_by_name("digits").tags[VIEW_TAG] == runs_view(plan)
