"""From the journal to a store that fails in every way: late, in order, once, and nothing lost."""

import time
from collections.abc import Iterator

import pytest
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE, TEMPORARILY_UNAVAILABLE

from study.background import Background
from study.entry import OUTCOME, TRIAL_ID, trial_entry
from study.errors import UserError
from study.folder import ResultsFolder
from study.journal import Journal, read_journal
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome
from study.spec import load_spec
from study.store import open_store
from study.stored import read_stored
from study.tracking import StudyWriter, runs_of_kind

AWAY = MlflowException("server closed the connection", TEMPORARILY_UNAVAILABLE)


@pytest.fixture(scope="module")
def plan():
    return make_plan(load_spec("study/specs/digits.yaml", ["search.points=3", "search.repeats=1"]))


@pytest.fixture(scope="module")
def entries(plan):
    values = {
        "valid_accuracy": 0.5,
        "examples_consumed": 256.0,
        "examples_read": 256.0,
        "buffer_examples": 0.0,
    }
    records = [
        TrialRecord(trial, plan.spec.rule, [Evaluation(256.0, 8, values)], Outcome.MISSED)
        for trial in plan.trials
    ]
    return [trial_entry(record, None) for record in records]


@pytest.fixture
def journal(results, plan) -> Journal:
    results.study("digits").mkdir()
    return Journal(results.journal("digits"))


class Flaky:
    """A client on a real store whose calls fail before or after they have been carried out, by a script."""

    def __init__(self, client, failures: Iterator[str]) -> None:
        self._client, self._failures = client, failures

    def __getattr__(self, name):
        call = getattr(self._client, name)

        def called(*args, **kwargs):
            failure = (
                next(self._failures, "") if name not in ("search_runs", "get_experiment_by_name") else ""
            )
            if failure == "before":
                raise AWAY
            answer = call(*args, **kwargs)
            if failure == "after":
                raise AWAY
            return answer

        return called


def trials_in(results: ResultsFolder):
    return list(runs_of_kind(open_store(results.tracking_uri), "digits", "trial"))


@pytest.mark.parametrize("at", range(0, 22, 3))
@pytest.mark.parametrize("failure", ["before", "after"])
def test_wherever_the_store_fails_every_trial_is_written_once(
    results, journal, plan, entries, failure, at, monkeypatch
):
    monkeypatch.setattr("study.background._pauses", lambda: iter([0.01] * 99))
    failures = iter([*[""] * at, failure, failure])
    client = Flaky(open_store(results.tracking_uri), failures)
    background = Background(journal, lambda: StudyWriter(client, plan, None, {}))
    for entry in entries:
        background.submit(entry)
    background.close(finished=True, wait=True)
    assert next(failures, "none left") == "none left"
    runs = trials_in(results)
    assert sorted(run.data.tags[TRIAL_ID] for run in runs) == sorted(one.trial_id for one in entries)
    assert {run.data.tags[OUTCOME] for run in runs} == {"missed"}
    for kind in ("study", "search", "trial"):
        found = list(runs_of_kind(open_store(results.tracking_uri), "digits", kind))
        assert len(found) == {"study": 1, "search": 4, "trial": len(entries)}[kind]
    assert not journal.path.exists()


def test_what_a_store_that_stays_away_did_not_take_is_known_and_written_by_the_next(
    results, journal, plan, entries
):
    def away():
        raise AWAY

    said = []
    background = Background(journal, away, patience_s=0.5)
    for entry in entries:
        background.submit(entry)
    with pytest.raises(UserError, match=rf"\(server closed the connection\); {len(entries)} results wait in"):
        background.close(finished=True, wait=True, say=said.append)
    assert said == [f"Waiting for MLflow to take {len(entries)} results (server closed the connection) ..."]
    assert trials_in(results) == []
    known = read_stored(results, "digits")
    assert {trial_id: one.outcome for trial_id, one in known.items()} == {
        one.trial_id: Outcome.MISSED for one in entries
    }
    client = open_store(results.tracking_uri)
    following = Background(Journal(journal.path), lambda: StudyWriter(client, plan, None, {}))
    following.close(finished=True, wait=True)
    assert len(trials_in(results)) == len(entries)
    assert not journal.path.exists()
    assert {one.rank for one in read_stored(results, "digits").values()} == {
        one.rank for one in known.values()
    }


def test_an_interrupted_run_does_not_wait_for_a_store_that_stays_away(journal, entries):
    def away():
        raise AWAY

    background = Background(journal, away)
    background.submit(entries[0])
    before = time.monotonic()
    with pytest.raises(UserError, match="1 results wait in"):
        background.close(finished=False, wait=False)
    assert time.monotonic() - before < 30


def test_what_the_store_refuses_ends_the_run_at_once_and_stays_in_the_journal(journal, entries):
    class Refusing:
        def write(self, entry):
            raise MlflowException("Invalid value", INVALID_PARAMETER_VALUE)

    background = Background(journal, Refusing)
    background.submit(entries[0])
    with pytest.raises(UserError, match=r"not taken all results \(Invalid value\)"):
        background.close(finished=True, wait=True)
    assert list(read_journal(journal.path)) == [entries[0]]


def test_a_result_that_is_to_be_replaced_makes_way_once(results, plan, entries):
    from dataclasses import replace

    client = open_store(results.tracking_uri)
    StudyWriter(client, plan, None, {}).write(entries[0])
    (first,) = trials_in(results)
    newer = replace(entries[0], time_ms=entries[0].time_ms + 1, replaces=True)
    for _ in range(2):
        StudyWriter(client, plan, None, {}).write(newer)
    (second,) = trials_in(results)
    assert second.info.run_id != first.info.run_id
    StudyWriter(client, plan, None, {}).write(replace(newer, time_ms=newer.time_ms + 1, replaces=False))
    (third,) = trials_in(results)
    assert third.info.run_id == second.info.run_id


def test_two_writers_at_once_on_a_shared_store_write_no_trial_twice(results, plan, entries):
    client = open_store(results.tracking_uri)
    first, second = (StudyWriter(client, plan, None, {}, shared=True) for _ in range(2))
    for entry in entries:
        first.write(entry)
        second.write(entry)
    assert len(trials_in(results)) == len(entries)
    assert len(list(runs_of_kind(client, "digits", "search"))) == 4
