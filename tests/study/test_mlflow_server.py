"""Writing to a real MLflow server over HTTP, through an outage of it."""

import time

import pytest
from servers.mlflow_server import MlflowServer

from study.background import Background
from study.entry import TRIAL_ID, trial_entry
from study.errors import UserError
from study.journal import Journal
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome
from study.spec import load_spec
from study.store import check_tracking_uri, open_store, store_name
from study.tracking import StudyWriter, runs_of_kind

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def plan():
    return make_plan(load_spec("study/specs/digits.yaml", ["search.points=4", "search.repeats=1"]))


@pytest.fixture
def server(results, tmp_path):
    with MlflowServer(results.tracking_uri, tmp_path) as running:
        yield running


def entry_of(trial, plan):
    names = ("valid_accuracy", "valid_loss", "train_loss", "examples_consumed", "examples_read", "lag")
    evaluations = [
        Evaluation(256.0 * i, 8 * i, dict.fromkeys(names, i / 3) | {"buffer_examples": 1024.0})
        for i in range(1, 48)
    ]
    return trial_entry(TrialRecord(trial, plan.spec.rule, evaluations, Outcome.REACHED, slot_s=2.5), None)


def test_an_outage_of_the_server_delays_and_loses_nothing(server, results, plan):
    results.study("digits").mkdir()
    journal = Journal(results.journal("digits"))
    background = Background(
        journal, lambda: StudyWriter(open_store(server.uri), plan, None, {}, shared=True), patience_s=120
    )
    entries = [entry_of(trial, plan) for trial in plan.trials]
    for entry in entries[:8]:
        background.submit(entry)
    time.sleep(0.5)
    server.kill()
    took = []
    for entry in entries[8:]:
        before = time.perf_counter()
        background.submit(entry)
        took.append(time.perf_counter() - before)
    assert max(took) < 5  # nobody waits for the server
    assert journal.waiting >= 8
    server.start()
    background.close(finished=True, wait=True)
    runs = list(runs_of_kind(open_store(server.uri), "digits", "trial"))
    assert sorted(run.data.tags[TRIAL_ID] for run in runs) == sorted(one.trial_id for one in entries)
    assert {run.info.end_time - run.info.start_time for run in runs} == {2500}
    history = open_store(server.uri).get_metric_history(runs[0].info.run_id, "valid_accuracy")
    assert [(one.step, one.value) for one in history] == [(256 * i, i / 3) for i in range(1, 48)]
    assert not journal.path.exists()


def test_a_server_that_is_not_there_is_named_in_one_sentence():
    with pytest.raises(
        UserError, match=r"The MLflow store at http://127.0.0.1:9 cannot be opened \(.*; see that"
    ):
        open_store("http://127.0.0.1:9")


@pytest.mark.parametrize(
    ("uri", "what"),
    [
        ("mlruns", "is not the address of an MLflow store"),
        ("sqlite:///mlflow.db", "is not the address of an MLflow store"),
        ("postgresql://", "is not the address of an MLflow store"),
        ("http://me:secret@host:5000", "has a user in it"),
    ],
)
def test_an_address_that_cannot_be_one_is_refused_without_its_password(uri, what):
    with pytest.raises(UserError, match=what) as error:
        check_tracking_uri(uri)
    assert "secret" not in str(error.value)


def test_a_password_is_never_shown():
    assert store_name("postgresql://me:secret@host:5432/runs") == "postgresql://me:***@host:5432/runs"
    assert store_name("http://127.0.0.1:5000") == "http://127.0.0.1:5000"
