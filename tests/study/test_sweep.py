"""The driver's state, without Ray: what waits, who is beaten, what is written and in which order."""

import math

import pytest

from study.clocks import Clocks
from study.plan import make_plan
from study.record import TrialReport
from study.result import Evaluation, Outcome, Rank
from study.spec import load_spec
from study.store import open_store
from study.sweep import Sweep
from study.tracking import SEARCH_ID, StudyWriter, runs_of_kind, stored_trials


class Silent:
    def started(self, trial):
        pass

    def ended(self, record):
        pass


@pytest.fixture(scope="module")
def plan():
    settings = ["search.points=2", "search.repeats=1", "conditions.insertion_point=[after_batching]"]
    return make_plan(load_spec("study/specs/digits.yaml", settings))


@pytest.fixture
def sweep_on(plan, results):
    results.study(plan.spec.name).mkdir()

    def make() -> Sweep:
        client = open_store(results.tracking_uri)
        stored = stored_trials(client, plan.spec.name)
        return Sweep(plan, stored, lambda: StudyWriter(client, plan, None, {}), results, Silent())

    return make


def report(trial, *accuracies, outcome=None, first=0, earliest=None, error="") -> TrialReport:
    evaluations = tuple(
        Evaluation(
            256.0 * i,
            8 * i,
            {
                "valid_accuracy": value,
                "examples_read": 256.0 * i,
                "examples_consumed": 256.0 * i,
                "buffer_examples": 0,
            },
        )
        for i, value in enumerate(accuracies, start=first + 1)
    )
    return TrialReport(trial.id, first, evaluations, outcome, earliest, Clocks(), 0.1, True, error)


def test_all_points_of_a_repeat_wait_with_the_conditions_innermost(plan, sweep_on):
    with sweep_on() as sweep:
        assert [(t.point, t.search.condition.insertion_point) for t in sweep.waiting] == [
            (0, "none"),
            (0, "after_batching"),
            (1, "none"),
            (1, "after_batching"),
        ]


def test_a_trial_is_beaten_by_a_trial_of_its_own_search_alone(plan, sweep_on):
    with sweep_on() as sweep:
        first, other, second, _ = sweep.waiting
        for trial in (first, other, second):
            sweep.start(trial)
        sweep.add(report(first, 0.5, 0.96, outcome=Outcome.REACHED), stopped=False)
        assert sweep.race.best(first.search.id) == Rank(512.0, 16, 0)
        assert sweep.is_beaten(report(second, 0.1, 0.2, earliest=Rank(768.0, 24, 1)))
        assert not sweep.is_beaten(report(second, 0.1, earliest=Rank(256.0, 8, 1)))
        assert not sweep.is_beaten(report(other, 0.1, 0.2, earliest=Rank(768.0, 48, 0)))


def test_results_are_in_the_store_when_the_sweep_ends_and_are_not_run_again(plan, sweep_on, results):
    with sweep_on() as sweep:
        for trial in sweep.waiting:
            sweep.start(trial)
            sweep.add(report(trial, 0.5), stopped=False)
            sweep.add(report(trial, 0.96, first=1, outcome=Outcome.REACHED), stopped=False)
    client = open_store(results.tracking_uri)
    stored = stored_trials(client, "digits")
    assert {one.outcome for one in stored.values()} == {Outcome.REACHED}
    assert {run.info.status for run in runs_of_kind(client, "digits", "study")} == {"FINISHED"}
    searches = {run.data.tags[SEARCH_ID]: run for run in runs_of_kind(client, "digits", "search")}
    assert len(searches) == 2
    assert all(run.data.metrics["best_point"] == 0 for run in searches.values())
    with sweep_on() as again:
        assert again.waiting == []


def test_a_crashed_trial_is_kept_apart_and_runs_again_next_time(plan, sweep_on, results):
    with sweep_on() as sweep:
        first, second, *_ = sweep.waiting
        sweep.start(first)
        sweep.crash(first.id, "its process died: out of memory")
        sweep.start(second)
        sweep.add(report(second, outcome=Outcome.CRASHED, error="ValueError: no"), stopped=False)
    client = open_store(results.tracking_uri)
    crashed = list(runs_of_kind(client, "digits", "trial"))
    assert {run.info.status for run in crashed} == {"FAILED"}
    assert {run.data.tags["echostudy.error"] for run in crashed} == {
        "its process died: out of memory",
        "ValueError: no",
    }
    assert {run.info.status for run in runs_of_kind(client, "digits", "study")} == {"KILLED"}
    with sweep_on() as again:
        assert len(again.waiting) == 4


def test_a_curve_reported_again_from_the_start_replaces_what_was_known(plan, sweep_on, results):
    with sweep_on() as sweep:
        trial = sweep.waiting[0]
        sweep.start(trial)
        sweep.add(report(trial, 0.1, 0.2), stopped=False)
        sweep.add(report(trial, 0.1, 0.2, 0.3, outcome=Outcome.MISSED), stopped=False)
    client = open_store(results.tracking_uri)
    (run,) = runs_of_kind(client, "digits", "trial")
    assert [p.value for p in client.get_metric_history(run.info.run_id, "valid_accuracy")] == [0.1, 0.2, 0.3]


def test_an_interrupted_sweep_leaves_no_run_open(plan, sweep_on, results):
    def interrupted() -> None:
        with sweep_on() as sweep:
            sweep.start(sweep.waiting[0])
            sweep.add(report(sweep.waiting[0], 0.96, outcome=Outcome.REACHED), stopped=False)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    client = open_store(results.tracking_uri)
    assert len(stored_trials(client, "digits")) == 1
    for kind in ("study", "search"):
        assert {run.info.status for run in runs_of_kind(client, "digits", kind)} == {"KILLED"}


def test_an_error_of_the_store_stops_the_sweep(plan, sweep_on, monkeypatch):
    def fail(self, record):
        raise OSError("disk full")

    monkeypatch.setattr(StudyWriter, "write_trial", fail)

    def write() -> None:
        with sweep_on() as sweep:
            sweep.start(sweep.waiting[0])
            sweep.add(report(sweep.waiting[0], math.nan, outcome=Outcome.MISSED), stopped=False)

    with pytest.raises(OSError, match="disk full"):
        write()
