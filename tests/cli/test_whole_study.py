"""A real study through the real console command: Ray, MLflow, crashes of the driver, and the tables."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path

import pandas as pd
import psutil
import pytest

from study.entry import TRIAL_ID
from study.folder import ResultsFolder
from study.store import open_store
from study.tracking import runs_of_kind, stored_trials

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

SMALL = ["search.points=4", "search.repeats=1", "target.value=0.7", "budget.fresh_examples=4000"]
TRIALS = 16
DEADLINE_S = 900
SLOW_TO_NOTICE = {"ray::DashboardAgent", "ray::RuntimeEnvAgent"}
"""Ray's own agents: they hold no slot, and take some minutes to see that their node has died."""


def command(results: Path, *options: str) -> list[str]:
    settings = [word for setting in SMALL for word in ("--set", setting)]
    return [
        *(sys.executable, "-m", "echostudy", "run", "study/specs/digits.yaml"),
        *("--results", str(results), *settings, *options),
    ]


def run(results: Path, *options: str) -> str:
    done = subprocess.run(
        command(results, *options), capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def searches(results: Path) -> bytes:
    return (results / "digits" / "tables" / "searches.csv").read_bytes()


def runs(results: Path) -> pd.DataFrame:
    """Kind, trial id and status of every run in the store."""
    client = open_store(ResultsFolder(results).tracking_uri)
    return pd.DataFrame(
        [
            {"kind": kind, "trial_id": run.data.tags.get(TRIAL_ID), "status": run.info.status}
            for kind in ("study", "search", "trial")
            for run in runs_of_kind(client, "digits", kind)
        ]
    )


def wait_for_results(results: Path, at_least: int) -> None:
    """Until the store holds that many trial results; looks without MLflow, which would disturb its making."""
    database = ResultsFolder(results).database
    deadline = time.monotonic() + DEADLINE_S
    while time.monotonic() < deadline:
        with (
            suppress(sqlite3.OperationalError),
            closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as db,
        ):
            (found,) = db.execute("SELECT count(*) FROM tags WHERE key = 'echostudy.outcome'").fetchone()
            if found >= at_least:
                return
        time.sleep(0.2)
    raise TimeoutError(f"no {at_least} results within {DEADLINE_S} s")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    """A finished study, run with two workers and racing."""
    folder = tmp_path_factory.mktemp("undisturbed")
    out = run(folder, "--workers", "2")
    assert "figure3.png" in out
    return folder


def test_a_study_ends_with_every_trial_in_mlflow_once_and_nothing_running(undisturbed):
    table = runs(undisturbed)
    trials = table[table.kind == "trial"]
    assert len(trials) == trials.trial_id.nunique() == TRIALS
    assert set(table.status) == {"FINISHED"}
    assert (table.kind == "search").sum() == 4
    assert (table.kind == "study").sum() == 1
    left = {path.name for path in undisturbed.joinpath("digits").iterdir()}
    assert left <= {"figures", "tables", "checkpoints", "cache", "report.html", "report.md"}


def test_a_second_run_runs_no_trial(undisturbed):
    before = runs(undisturbed)
    out = run(undisturbed)
    assert "trials done" not in out
    pd.testing.assert_frame_equal(runs(undisturbed), before)


def test_one_worker_gives_the_same_searches_as_two(undisturbed, tmp_path):
    run(tmp_path, "--workers", "1")
    assert searches(tmp_path) == searches(undisturbed)


def test_racing_gives_the_searches_of_running_everything_for_fewer_examples(undisturbed, tmp_path):
    run(tmp_path, "--set", "stop=exhaustive")
    assert searches(tmp_path) == searches(undisturbed)
    raced, whole = (
        pd.read_csv(folder / "digits" / "tables" / "cost.csv").examples_consumed.sum()
        for folder in (undisturbed, tmp_path)
    )
    assert raced < whole


def test_after_kill_9_of_the_driver_the_same_command_ends_with_the_same_searches(undisturbed, tmp_path):
    driver = subprocess.Popen(
        command(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for_results(tmp_path, at_least=3)
        children = psutil.Process(driver.pid).children(recursive=True)
        driver.kill()
        driver.wait()
        finished = stored_trials(open_store(ResultsFolder(tmp_path).tracking_uri), "digits")
        assert 3 <= len(finished) < TRIALS
        _, alive = psutil.wait_procs(children, timeout=30)
        assert {process.name() for process in alive} <= SLOW_TO_NOTICE
    finally:
        if driver.poll() is None:
            driver.kill()
    run(tmp_path)
    assert searches(tmp_path) == searches(undisturbed)
    table = runs(tmp_path)
    assert "RUNNING" not in set(table.status)
    trials = table[table.kind == "trial"]
    assert len(trials) == trials.trial_id.nunique() == TRIALS


def test_ctrl_c_closes_what_runs_and_says_how_to_go_on(undisturbed, tmp_path):
    driver = subprocess.Popen(
        command(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    wait_for_results(tmp_path, at_least=2)
    os.kill(driver.pid, signal.SIGINT)
    out, _ = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert "Traceback" not in out
    assert "To go on: echostudy run study/specs/digits.yaml" in out
    assert not set(runs(tmp_path).status) & {"RUNNING", "SCHEDULED"}
    run(tmp_path)
    assert searches(tmp_path) == searches(undisturbed)
    assert set(runs(tmp_path).status) == {"FINISHED"}
