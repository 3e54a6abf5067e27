"""Adaptive search through Optuna: asked in order, told the ends, resumed from its journal."""

import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import load_study
from optuna.trial import TrialState

from study.adaptive import JOURNAL, AdaptiveSearch
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome
from study.spec import load_spec

SETTINGS = [
    "search={sampler: tpe, points: 6, repeats: 1}",
    "conditions.echo_factor=[1]",
    "metaparameters.weight_decay={values: [0, 0.001]}",
    "overrides=[{where: {}, metaparameters: {momentum: {low: 0.5, high: 0.9, scale: reverse_log}}}]",
]


@pytest.fixture(scope="module")
def plan():
    return make_plan(load_spec("study/specs/digits.yaml", SETTINGS))


def ended(plan, trial, outcome, *accuracies) -> TrialRecord:
    curve = [Evaluation(256.0 * i, 8 * i, {"valid_accuracy": v}) for i, v in enumerate(accuracies, 1)]
    return TrialRecord(trial, plan.spec.rule, curve, outcome)


def journal(plan, folder):
    storage = JournalStorage(JournalFileBackend(str(folder / JOURNAL)))
    return load_study(study_name=plan.searches[0].id, storage=storage)


def test_an_adaptive_plan_knows_its_trials_by_their_place_and_says_that_it_is_not_the_papers(plan):
    assert len({trial.id for trial in plan.trials}) == 6
    assert all(not trial.metaparameters for trial in plan.trials)
    assert "not the paper's protocol" in plan.note
    table = make_plan(load_spec("study/specs/digits.yaml", [*SETTINGS, "search.sampler=sobol"]))
    assert table.note == ""
    assert {one.id for one in table.searches}.isdisjoint(one.id for one in plan.searches)


def test_points_lie_in_the_ranges_of_the_trials_condition(plan, tmp_path):
    search = AdaptiveSearch(plan, tmp_path)
    for trial in plan.trials:
        point = search.ask(trial).metaparameters
        assert 0.003 <= point["learning_rate"] <= 0.3
        assert 0.5 <= point["momentum"] <= 0.9
        assert point["weight_decay"] in (0, 0.001)


def test_a_search_that_goes_on_gives_the_points_it_had_given(plan, tmp_path):
    first = [AdaptiveSearch(plan, tmp_path).ask(trial).metaparameters for trial in plan.trials[:3]]
    again = AdaptiveSearch(plan, tmp_path)
    assert [again.ask(trial).metaparameters for trial in plan.trials[:3]] == first
    assert len(journal(plan, tmp_path).trials) == 3


def test_optuna_is_told_how_trials_ended(plan, tmp_path):
    search = AdaptiveSearch(plan, tmp_path)
    asked = [search.ask(trial) for trial in plan.trials]
    search.tell(ended(plan, asked[0], Outcome.REACHED, 0.5, 0.96))
    search.tell(ended(plan, asked[1], Outcome.MISSED, 0.76))
    search.tell(ended(plan, asked[2], Outcome.BEATEN, 0.2))
    search.tell(ended(plan, asked[3], Outcome.DIVERGED))
    search.tell(ended(plan, asked[4], Outcome.MISSED))
    search.tell(ended(plan, asked[0], Outcome.REACHED, 0.96))
    found = journal(plan, tmp_path).trials
    assert [one.state for one in found] == [
        TrialState.COMPLETE,
        TrialState.COMPLETE,
        TrialState.PRUNED,
        TrialState.FAIL,
        TrialState.COMPLETE,
        TrialState.RUNNING,
    ]
    assert found[0].value == 512
    assert found[1].value == pytest.approx(12000 * 1.2)
    assert found[4].value == 24000
