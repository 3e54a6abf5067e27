"""`echostudy doctor` on a real cluster, and on this machine."""

import sys

import pytest
from servers.studies import echostudy, run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


def test_every_node_is_looked_at_and_a_gpu_that_is_not_there_is_named(cluster, mlflow_server, tmp_path):
    done = echostudy(
        *("doctor", "--address", cluster.address, "--results", str(tmp_path / "results")),
        *("--tracking-uri", mlflow_server.uri),
        environment=cluster.environment,
    )
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert "on all 3 nodes" in lines["ok  versions"]
    assert "can be read and written from all 3 nodes" in lines["ok  storage"]
    assert lines["ok  data"] == "those of digits_convnet are on all 3 nodes"
    assert "Ray was told of 1 on 127.0.0.1" in lines["BAD GPU"]
    assert "GB free at least" in lines["ok  disk"]
    assert lines["ok  MLflow"] == f"the store at {mlflow_server.uri} answers"
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_a_cluster_and_a_store_that_do_not_answer_have_a_line_each(tmp_path):
    done = echostudy(
        *("doctor", "--address", "127.0.0.1:9", "--results", str(tmp_path)),
        *("--tracking-uri", "http://127.0.0.1:9"),
    )
    assert done.returncode == 1
    ray, mlflow = done.stdout.splitlines()
    assert ray.startswith("BAD Ray: Cannot connect to the Ray cluster at 127.0.0.1:9")
    assert mlflow.startswith("BAD MLflow: The MLflow store at http://127.0.0.1:9 cannot be opened")


def test_without_a_cluster_it_looks_at_this_machine(tmp_path):
    done = run([sys.executable, "-m", "echostudy", "doctor", "--results", str(tmp_path)])
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line[:4] for line in done.stdout.splitlines()] == ["ok  "] * 5
