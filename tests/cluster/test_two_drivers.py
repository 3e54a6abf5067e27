"""Two drivers started on one study by mistake."""

import os
import subprocess

import pytest
from servers.contents import assert_complete
from servers.processes import family, kill_all
from servers.studies import SMALL, study_command, tables

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


@pytest.fixture
def start():
    """Start a driver; those that a failed test leaves are ended."""
    drivers = []

    def call(*options, environment=None):
        driver = subprocess.Popen(
            study_command("run", *options),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | (environment or {}),
        )
        drivers.append(driver)
        return driver

    yield call
    for driver in drivers:
        if driver.poll() is None:
            kill_all(family(driver.pid))
            driver.communicate()


def test_in_one_folder_the_second_says_who_the_first_is_and_leaves(start, tmp_path, undisturbed):
    drivers = [start("--results", str(tmp_path), "--workers", "1") for _ in range(2)]
    said = [driver.communicate(timeout=300) for driver in drivers]
    codes = [driver.returncode for driver in drivers]
    assert sorted(codes) == [0, 2], said
    first, second = codes.index(0), codes.index(2)
    assert f"is being run already, by process {drivers[first].pid} on " in said[second][1]
    assert "Traceback" not in said[second][1]
    assert tables(tmp_path) == tables(undisturbed)
    assert_complete(f"sqlite:///{tmp_path / 'mlflow.db'}")


def test_in_two_folders_with_one_server_both_finish_and_no_trial_is_there_twice(
    start, cluster, mlflow_server, tmp_path
):
    settings = ("--set", "name=two_drivers", "--tracking-uri", mlflow_server.uri)
    # one of them comes in from outside, through Ray's client server
    places = {"a": cluster.address, "b": cluster.client}
    drivers = [
        start(
            *(*settings, "--address", address, "--results", str(tmp_path / folder)),
            environment=cluster.environment,
        )
        for folder, address in places.items()
    ]
    for driver in drivers:
        out, err = driver.communicate(timeout=300)
        assert driver.returncode == 0, out + err
    assert_complete(mlflow_server.uri, [*SMALL, "name=two_drivers"])
    searches = [
        (tmp_path / one / "two_drivers" / "tables" / "searches.csv").read_bytes() for one in ("a", "b")
    ]
    assert searches[0] == searches[1]
