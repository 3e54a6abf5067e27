"""The driver's state, without Ray: what waits, who is beaten, what is written and in which order."""

import math
import time
from collections import Counter

import pytest

from study.clocks import Clocks
from study.entry import SEARCH_ID
from study.errors import UserError
from study.plan import Trial, make_plan
from study.record import TrialReport
from study.result import Evaluation, Outcome, Rank
from study.spec import load_spec
from study.store import open_store
from study.sweep import LimitError, Sweep
from study.topup import topped_up
from study.tracking import StudyWriter, runs_of_kind, stored_trials


class Silent:
    def started(self, trial):
        pass

    def paused(self, trial):
        pass

    def ended(self, record):
        pass

    def noticed(self, sentence):
        pass

    def added(self, trials):
        pass


def diverged(trial) -> TrialReport:
    """A trial that was found diverged at its first evaluation."""
    return report(trial, outcome=Outcome.DIVERGED, earliest=Rank(256.0, 8, trial.point))


def all_started(sweep) -> list[Trial]:
    """Hand out all that waits."""
    return [trial for trial, _ in iter(sweep.next, None)]


def spec_of(*settings: str):
    two = ["search.points=2", "search.repeats=1", "conditions.insertion_point=[after_batching]"]
    return load_spec("study/specs/digits.yaml", [*two, *settings])


@pytest.fixture(scope="module")
def plan():
    return make_plan(spec_of())


@pytest.fixture
def sweep_on(results):
    results.study("digits").mkdir()

    def make(*settings: str) -> Sweep:
        client = open_store(results.tracking_uri)
        stored = stored_trials(client, "digits")
        plan = topped_up(spec_of(*settings), stored)
        return Sweep(plan, stored, lambda: StudyWriter(client, plan, None, {}), results, Silent())

    return make


def report(trial, *accuracies, outcome=None, first=0, earliest=None, error="", paused=False) -> TrialReport:
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
    return TrialReport(trial.id, first, evaluations, outcome, earliest, Clocks(), 0.1, True, error, paused)


def test_all_points_of_a_repeat_wait_with_the_conditions_innermost(plan, sweep_on):
    with sweep_on() as sweep:
        assert [(t.point, t.search.condition.insertion_point) for t in all_started(sweep)] == [
            (0, "none"),
            (0, "after_batching"),
            (1, "none"),
            (1, "after_batching"),
        ]


def test_a_trial_is_beaten_by_a_trial_of_its_own_search_alone(plan, sweep_on):
    with sweep_on() as sweep:
        first, other, second, _ = all_started(sweep)
        sweep.add(report(first, 0.5, 0.96, outcome=Outcome.REACHED), stopped=False)
        assert sweep.race.best(first.search.id) == Rank(512.0, 16, 0)
        assert sweep.is_beaten(report(second, 0.1, 0.2, earliest=Rank(768.0, 24, 1)))
        assert not sweep.is_beaten(report(second, 0.1, earliest=Rank(256.0, 8, 1)))
        assert not sweep.is_beaten(report(other, 0.1, 0.2, earliest=Rank(768.0, 48, 0)))


def test_results_are_in_the_store_when_the_sweep_ends_and_are_not_run_again(plan, sweep_on, results):
    with sweep_on() as sweep:
        for trial in all_started(sweep):
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
        assert again.is_over
        assert again.next() is None


def test_a_trial_that_crashes_three_times_is_kept_apart_and_runs_again_next_time(plan, sweep_on, results):
    def crash_all(sweep):
        while (turn := sweep.next()) is not None:
            trial, _ = turn
            if trial.point == 0:
                sweep.crash(trial.id, "its process died: signal 9")
            else:
                sweep.add(report(trial, outcome=Outcome.CRASHED, error="ValueError: no"), stopped=False)
            yield trial.id

    with sweep_on() as sweep:
        tries = Counter(crash_all(sweep))
        assert set(tries.values()) == {3}
        assert sweep.is_over
    client = open_store(results.tracking_uri)
    crashed = list(runs_of_kind(client, "digits", "trial"))
    assert len(crashed) == 4
    assert {run.info.status for run in crashed} == {"FAILED"}
    assert {run.data.tags["echostudy.error"] for run in crashed} == {
        "its process died: signal 9",
        "ValueError: no",
    }
    assert {run.info.status for run in runs_of_kind(client, "digits", "study")} == {"KILLED"}
    with sweep_on() as again:
        assert len(all_started(again)) == 4


def test_a_trial_that_crashed_once_and_then_ends_is_no_crash(plan, sweep_on, results):
    with sweep_on() as sweep:
        trial, _ = sweep.next()
        sweep.crash(trial.id, "its process died")
        again = next(one for one in all_started(sweep) if one.id == trial.id)
        sweep.add(report(again, 0.96, outcome=Outcome.REACHED), stopped=False)
    (stored,) = stored_trials(open_store(results.tracking_uri), "digits").values()
    assert stored.outcome is Outcome.REACHED


def test_too_large_a_share_of_crashed_trials_stops_the_run_with_a_word(sweep_on):
    sweep = sweep_on("search.points=8", "limits.crashed_share=0.4")

    def run() -> None:
        with sweep:
            for ended in range(3):
                trial, _ = sweep.next()
                sweep.add(report(trial, 0.96, outcome=Outcome.REACHED), stopped=False)
                assert not sweep.stop_reason, ended
            while (turn := sweep.next()) is not None:
                sweep.crash(turn[0].id, "its process died")

    with pytest.raises(
        LimitError, match=r"3 of 6 trials crashed at each of 3 tries, more than limits.crashed_share"
    ):
        run()


def test_the_hours_of_a_run_end_it_with_a_word(sweep_on, monkeypatch):
    sweep = sweep_on("limits.hours=2")
    began = time.monotonic()
    with sweep:
        trial, _ = sweep.next()
        sweep.add(report(trial, 0.5), stopped=False)
        monkeypatch.setattr(time, "monotonic", lambda: began + 7300)
        with pytest.raises(LimitError, match=r"limits.hours \(2\) are over"):
            sweep.add(report(trial, 0.5, first=1), stopped=False)


def test_trials_are_laid_aside_at_the_end_of_a_rung_and_the_farthest_goes_on_first(sweep_on):
    with sweep_on("search.points=3", "conditions.echo_factor=[1]") as sweep:
        turns = [sweep.next() for _ in range(3)]
        assert [(trial.point, until) for trial, until in turns] == [(0, 4), (1, 4), (2, 4)]
        for (trial, _), best in zip(turns, (0.3, 0.9, 0.6), strict=True):
            rank = Rank(256.0 * 5, 40, trial.point)
            sweep.add(report(trial, 0.1, 0.2, best, 0.2, earliest=rank, paused=True), stopped=False)
        assert [(trial.point, until) for trial, until in iter(sweep.next, None)] == [(1, 8), (2, 8), (0, 8)]


def test_a_trial_that_is_beaten_while_it_waits_ends_without_a_slot(sweep_on, results):
    with sweep_on("search.points=2", "conditions.echo_factor=[1]") as sweep:
        (first, _), (second, _) = sweep.next(), sweep.next()
        late = Rank(256.0 * 5, 40, second.point)
        sweep.add(report(second, 0.1, 0.1, 0.1, 0.1, earliest=late, paused=True), stopped=False)
        sweep.add(report(first, 0.5, 0.96, outcome=Outcome.REACHED), stopped=False)
        assert sweep.next() is None
        assert sweep.is_over
    outcomes = {one.outcome for one in stored_trials(open_store(results.tracking_uri), "digits").values()}
    assert outcomes == {Outcome.REACHED, Outcome.BEATEN}


def test_a_laid_aside_trials_slots_add_up(sweep_on, results):
    with sweep_on("search.points=1", "conditions.echo_factor=[1]") as sweep:
        trial, _ = sweep.next()
        sweep.add(report(trial, 0.1, 0.1, 0.1, 0.1, paused=True), stopped=False)
        trial, _ = sweep.next()
        sweep.add(report(trial, 0.1, 0.1, 0.1, 0.1, 0.96, outcome=Outcome.REACHED), stopped=False)
    (stored,) = stored_trials(open_store(results.tracking_uri), "digits").values()
    assert stored.slot_s == pytest.approx(0.2)


def test_diverged_trials_are_made_up_for_where_the_others_alone_count(sweep_on, results):
    settings = ("search.points=2", "search.count=non_divergent", "conditions.echo_factor=[1]")
    with sweep_on(*settings) as sweep:
        first, second = all_started(sweep)
        sweep.add(diverged(first), stopped=False)
        assert sweep.next() is None
        sweep.add(report(second, 0.5, 0.96, outcome=Outcome.REACHED), stopped=False)
        third, _ = sweep.next()
        assert third.point == 2
        sweep.add(report(third, 0.96, outcome=Outcome.REACHED), stopped=False)
        assert sweep.is_over
    client = open_store(results.tracking_uri)
    plan = topped_up(spec_of(*settings), stored_trials(client, "digits"))
    assert [trial.point for trial in plan.trials] == [0, 1, 2]
    (search,) = runs_of_kind(client, "digits", "search")
    assert search.info.status == "FINISHED"
    assert search.data.metrics["best_point"] == 2
    with sweep_on(*settings) as again:
        assert again.is_over


def test_the_trials_a_study_may_have_bound_the_making_up(sweep_on):
    settings = (
        "search.points=2",
        "search.count=non_divergent",
        "conditions.echo_factor=[1]",
        "limits.trials=2",
    )
    with sweep_on(*settings) as sweep:
        for trial in all_started(sweep):
            sweep.add(diverged(trial), stopped=False)
        assert sweep.is_over


def test_a_curve_reported_again_from_the_start_replaces_what_was_known(plan, sweep_on, results):
    with sweep_on() as sweep:
        trial, _ = sweep.next()
        sweep.add(report(trial, 0.1, 0.2), stopped=False)
        sweep.add(report(trial, 0.1, 0.2, 0.3, outcome=Outcome.MISSED), stopped=False)
    client = open_store(results.tracking_uri)
    (run,) = runs_of_kind(client, "digits", "trial")
    assert [p.value for p in client.get_metric_history(run.info.run_id, "valid_accuracy")] == [0.1, 0.2, 0.3]


def test_an_interrupted_sweep_leaves_no_run_open(plan, sweep_on, results):
    def interrupted() -> None:
        with sweep_on() as sweep:
            trial, _ = sweep.next()
            sweep.add(report(trial, 0.96, outcome=Outcome.REACHED), stopped=False)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    client = open_store(results.tracking_uri)
    assert len(stored_trials(client, "digits")) == 1
    for kind in ("study", "search"):
        assert {run.info.status for run in runs_of_kind(client, "digits", kind)} == {"KILLED"}


def test_an_error_of_the_store_stops_the_sweep(plan, sweep_on, monkeypatch):
    def fail(self, entry):
        raise PermissionError("read-only")

    monkeypatch.setattr(StudyWriter, "write", fail)

    def write() -> None:
        with sweep_on() as sweep:
            trial, _ = sweep.next()
            sweep.add(report(trial, math.nan, outcome=Outcome.MISSED), stopped=False)

    with pytest.raises(UserError, match=r"not taken all results \(read-only\); \d results wait in .*jsonl"):
        write()


def test_a_trial_whose_node_is_lost_goes_on_however_often_that_happens(plan, sweep_on, results):
    with sweep_on() as sweep:
        first, *others = all_started(sweep)
        for _ in range(5):
            sweep.lost(first.id)
            (again,) = all_started(sweep)
            assert again == first
        for trial in (first, *others):
            sweep.add(report(trial, 0.1, outcome=Outcome.MISSED), stopped=False)
        assert sweep.is_over
    assert {one.outcome for one in stored_trials(open_store(results.tracking_uri), "digits").values()} == {
        Outcome.MISSED
    }


def test_a_process_that_dies_for_want_of_memory_has_an_outcome_of_its_own_with_advice(
    plan, sweep_on, results
):
    with sweep_on() as sweep:
        first, *_ = all_started(sweep)
        for _ in range(3):
            sweep.crash(first.id, "its process died: ray.exceptions.OutOfMemoryError: killed")
            all_started(sweep)
    ended = stored_trials(open_store(results.tracking_uri), "digits")[first.id]
    assert ended.outcome is Outcome.OUT_OF_MEMORY
    assert "lower conditions.batch_size" in ended.error
