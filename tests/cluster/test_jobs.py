"""A study submitted through Ray's job API: code and study file travel, results are those of a local run."""

import re
import sys
import time

import pytest
from servers.contents import assert_complete
from servers.studies import echostudy, run, tables

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def submit(cluster):
    """Run `echostudy submit` on the cluster, with more options."""

    def call(*options, **more):
        return echostudy(
            "submit", "--address", cluster.dashboard, *options, environment=cluster.environment, **more
        )

    return call


@pytest.fixture(scope="module")
def job(cluster):
    """Run `echostudy job COMMAND JOB`."""

    def call(command, job_id, *options):
        words = [sys.executable, "-m", "echostudy", "job", command, job_id, "--address", cluster.dashboard]
        return run([*words, *options], cluster.environment)

    return call


@pytest.fixture(scope="module")
def submitted(submit, tmp_path_factory):
    """A study that was submitted and followed to its end, with an embedded store; its folder and job's id."""
    folder = tmp_path_factory.mktemp("submitted")
    done = submit("--results", str(folder), "--follow")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCEEDED" in done.stdout
    (job_id,) = re.findall(r"^digits: 16 trials\. Job (\S+) at ", done.stdout, re.MULTILINE)
    return folder, job_id, done.stdout


def test_a_submitted_study_gives_what_a_local_run_gives_number_for_number(submitted, undisturbed):
    folder, _, said = submitted
    assert tables(folder) == tables(undisturbed)
    assert_complete(f"sqlite:///{folder / 'mlflow.db'}")
    assert "of 16 trials done" in said


def test_what_a_job_has_said_and_how_it_ended_can_be_asked_for_later(submitted, job):
    _, job_id, _ = submitted
    assert f"Job {job_id}: SUCCEEDED" in job("status", job_id).stdout
    assert "of 16 trials done" in job("logs", job_id).stdout


def test_the_commit_that_travelled_is_the_one_here(submitted):
    from study.commit import commit_tags
    from study.store import open_store
    from study.tracking import runs_of_kind

    folder, _, _ = submitted
    (study,) = runs_of_kind(open_store(f"sqlite:///{folder / 'mlflow.db'}"), "digits", "study")
    assert commit_tags().items() <= study.data.tags.items()


def test_a_job_that_is_stopped_leaves_a_study_that_goes_on_when_it_is_submitted_again(submit, job, tmp_path):
    settings = ["search.points=4", "search.repeats=2", "target.value=0.99", "budget.fresh_examples=60000"]
    started = submit("--results", str(tmp_path), settings=settings)
    (job_id,) = re.findall(r"Job (\S+) at", started.stdout)
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and "of 32 trials" not in job("logs", job_id).stdout:
        time.sleep(1)
    assert "RUNNING" in job("status", job_id).stdout
    stopped = job("stop", job_id)
    assert stopped.returncode == 0, stopped.stderr
    while time.monotonic() < deadline and "STOPPED" not in job("status", job_id).stdout:
        time.sleep(0.5)
    assert "STOPPED" in job("status", job_id).stdout


def test_a_workload_of_ones_own_travels_too(submit, cluster, tmp_path):
    written = run([sys.executable, "-m", "echostudy", "workload", "new", "mine"], cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    done = run(
        [
            *(sys.executable, "-m", "echostudy", "submit", str(tmp_path / "mine.yaml")),
            *("--address", cluster.dashboard, "--results", str(tmp_path / "results"), "--follow"),
            *("--set", "search.points=1", "--set", "search.repeats=1"),
        ],
        cluster.environment,
    )
    assert "workload/mine.py" not in done.stderr
    assert "SUCCEEDED" in done.stdout, done.stdout + done.stderr


def test_bad_input_is_refused_before_anything_travels(submit, job, cluster):
    relative = submit("--results", "results")
    assert relative.returncode == 2
    assert "would be lost with the job" in relative.stderr
    secret = submit("--results", "/r", "--tracking-uri", "postgresql://me:secret@host/runs")
    assert secret.returncode == 2
    assert "would be shown with the job" in secret.stderr
    assert "secret" not in secret.stderr
    typo = submit("--results", "/r", "--set", "search.point=3")
    assert typo.returncode == 2
    assert "search.point" in typo.stderr
    unknown = job("status", "raysubmit_nothing")
    assert unknown.returncode == 2
    assert "There is no job raysubmit_nothing" in unknown.stderr
    nobody = echostudy("submit", "--results", "/r", "--address", "http://127.0.0.1:9")
    assert nobody.returncode == 2
    assert "The Ray dashboard at http://127.0.0.1:9 did not do what it was asked" in nobody.stderr
    without = {**cluster.environment, "RAY_AUTH_TOKEN": "wrong" * 10}
    refused = echostudy("submit", "--results", "/r", "--address", cluster.dashboard, environment=without)
    assert refused.returncode == 2
    assert "put the cluster's token" in refused.stderr
