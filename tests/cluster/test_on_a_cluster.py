"""A study on a real Ray cluster with token authentication, kept in an MLflow server on PostgreSQL."""

import psutil
import pytest
from servers.studies import SMALL, echostudy, tables

from study.entry import TRIAL_ID
from study.plan import make_plan
from study.spec import load_spec
from study.store import open_store
from study.tracking import runs_of_kind

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def finished(cluster, mlflow_server, tmp_path_factory):
    """A finished study; its results folder."""
    folder = tmp_path_factory.mktemp("on-a-cluster")
    done = echostudy(
        *("run", "--results", str(folder), "--address", cluster.address),
        *("--tracking-uri", mlflow_server.uri),
        environment=cluster.environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"MLflow store: {mlflow_server.uri}" in done.stdout
    return folder


def test_everything_listens_on_the_loopback_interface_alone(cluster):
    places = {
        connection.laddr.ip.removeprefix("::ffff:")
        for node in ("head", "one", "two")
        for process in cluster.processes(node)
        for connection in process.net_connections()
        if connection.status == psutil.CONN_LISTEN
    }
    assert places == {"127.0.0.1"}


def test_its_results_are_those_of_the_local_run_number_for_number(finished, undisturbed):
    assert tables(finished) == tables(undisturbed)


def test_every_trial_is_in_the_mlflow_server_once_and_nothing_is_left_open(finished, mlflow_server):
    client = open_store(mlflow_server.uri)
    plan = make_plan(load_spec("study/specs/digits.yaml", SMALL))
    found = {kind: list(runs_of_kind(client, "digits", kind)) for kind in ("study", "search", "trial")}
    assert {kind: len(runs) for kind, runs in found.items()} == {"study": 1, "search": 4, "trial": 16}
    assert {run.data.tags[TRIAL_ID] for run in found["trial"]} == {trial.id for trial in plan.trials}
    assert {run.info.status for runs in found.values() for run in runs} == {"FINISHED"}
    assert not (finished / "mlflow.db").exists()
    left = {path.name for path in finished.joinpath("digits").iterdir()}
    assert left <= {"figures", "tables", "checkpoints", "cache", "report.html", "report.md"}


def test_the_report_is_kept_with_the_server(finished, mlflow_server):
    client = open_store(mlflow_server.uri)
    (study,) = runs_of_kind(client, "digits", "study")
    names = {one.path for one in client.list_artifacts(study.info.run_id, "report")}
    assert names == {"report/report.html", "report/report.md"}


def test_no_local_path_and_no_token_is_kept_with_the_runs(finished, cluster, mlflow_server):
    client = open_store(mlflow_server.uri)
    texts = [
        f"{key}={value}"
        for kind in ("study", "search", "trial")
        for run in runs_of_kind(client, "digits", kind)
        for key, value in {**run.data.tags, **run.data.params}.items()
    ]
    assert not [text for text in texts if str(finished.parent) in text]
    assert not [text for text in texts if cluster.environment["RAY_AUTH_TOKEN"] in text]


def test_a_second_run_runs_no_trial(finished, cluster, mlflow_server):
    done = echostudy(
        *("run", "--results", str(finished), "--address", cluster.address),
        *("--tracking-uri", mlflow_server.uri),
        environment=cluster.environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All 16 trials have a result" in done.stdout


def test_without_the_right_token_one_sentence_says_so_and_nothing_is_written(cluster, tmp_path):
    done = echostudy(
        *("run", "--results", str(tmp_path / "none"), "--address", cluster.address),
        environment={**cluster.environment, "RAY_AUTH_TOKEN": "wrong" * 10},
    )
    assert done.returncode == 2
    assert "put the cluster's token into RAY_AUTH_TOKEN" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "none").exists()


def test_trials_with_a_share_of_a_gpu_run_on_the_node_that_has_one(cluster, tmp_path):
    done = echostudy(
        *("run", "--address", cluster.address, "--results", str(tmp_path)),
        *("--set", "resources={cpu: 0.5, gpu: 0.5}", "--set", "search.points=1"),
        environment=cluster.environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_address_where_no_cluster_answers_is_named(tmp_path):
    done = echostudy("run", "--results", str(tmp_path / "none"), "--address", "127.0.0.1:9")
    assert done.returncode == 2
    assert "Cannot connect to the Ray cluster at 127.0.0.1:9" in done.stderr
    assert not (tmp_path / "none").exists()
