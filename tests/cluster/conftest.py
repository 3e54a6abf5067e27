"""Real parts on the loopback interface: a Ray cluster with a token, an MLflow server on PostgreSQL."""

import pytest
from servers.mlflow_server import MlflowServer
from servers.postgres import Postgres
from servers.ray_cluster import RayCluster
from servers.studies import echostudy


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A head and two more nodes, one of them with a GPU that is declared and not there."""
    with RayCluster(tmp_path_factory.mktemp("ray")) as running:
        running.add_node("one")
        running.add_node("two", gpus=1)
        yield running


@pytest.fixture(scope="session")
def postgres():
    """PostgreSQL with an empty database."""
    with Postgres() as running:
        yield running


@pytest.fixture(scope="session")
def mlflow_server(postgres, tmp_path_factory):
    """An MLflow server on PostgreSQL."""
    with MlflowServer(postgres.uri, tmp_path_factory.mktemp("mlflow")) as running:
        yield running


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The same study, run on this machine alone: what it is to give."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = echostudy("run", "--results", str(folder), "--workers", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder
