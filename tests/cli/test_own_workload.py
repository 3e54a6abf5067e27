"""A user's own workload at the command line, from the template to results."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from study.store import open_store
from study.tracking import stored_trials
from study.workloads.reference import source_digest
from study.workloads.registry import WORKLOADS

ROOT = Path(__file__).parents[2]
DIGITS = ROOT / "study/specs/digits.yaml"


@pytest.fixture
def echostudy(call_echostudy, monkeypatch, tmp_path):
    """The console command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return call_echostudy


def test_every_workload_is_listed_with_what_its_data_need(echostudy, monkeypatch, tmp_path):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path / "no data"))
    monkeypatch.delenv("COLUMNS", raising=False)
    code, out, _ = echostudy("workload", "list")
    assert code == 0
    for name in WORKLOADS:
        assert name in out
    assert "echostudy data fetch cifar10" in out


def test_a_new_workload_says_how_to_run_and_check_it(echostudy, tmp_path):
    code, out, _ = echostudy("workload", "new", "mine")
    assert code == 0
    assert "echostudy run mine.yaml" in out
    assert "pytest test_mine.py" in out
    code, out, _ = echostudy("plan", "mine.yaml")
    assert code == 0
    assert f"Workload mine.py:Mine: the code in {tmp_path}/mine.py is run." in out
    code, _, err = echostudy("workload", "new", "mine")
    assert code == 2
    assert "mine.py is there already" in err


def test_an_option_names_the_workload_from_the_working_folder(echostudy, tmp_path):
    echostudy("workload", "new", "mine")
    code, out, _ = echostudy("plan", DIGITS, "--workload", "mine.py:Mine", "--json")
    assert code == 0
    plan = json.loads(out)
    assert {one["workload"] for one in plan["conditions"]} == {"mine.py:Mine"}
    assert plan["notes"] == [f"Workload mine.py:Mine: the code in {tmp_path}/mine.py is run."]


@pytest.mark.parametrize("command", ["plan", "run", "status", "report"])
def test_a_workload_that_cannot_be_used_is_one_sentence_and_exit_code_2(echostudy, tmp_path, command):
    code, out, err = echostudy(command, DIGITS, "--workload", "nowhere/mine.py:Mine")
    assert code == 2
    assert "'workload' cannot be mine.py:Mine: there is no file" in err
    assert err.count("\n") == 1
    assert "Traceback" not in out + err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["X", "x", "fire"])
def test_the_name_of_a_class_stays_as_it_was_typed(echostudy, name):
    code, _, err = echostudy("plan", DIGITS, "--workload", f"nowhere/mine.py:{name}")
    assert code == 2
    assert f"'workload' cannot be mine.py:{name}: there is no file" in err


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_users_own_workload_runs_in_rays_workers_and_a_fault_of_it_is_one_sentence(echostudy, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}

    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "echostudy", "run", "mine.yaml", "--smoke", "--workers", "1"]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    echostudy("workload", "new", "mine")
    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    stored = stored_trials(open_store(f"sqlite:///{tmp_path}/echostudy-results/mlflow.db"), "mine-smoke")
    assert len(stored) == 8
    assert {one.workload_source for one in stored.values()} == {source_digest(f"{tmp_path}/mine.py:Mine")}
    file = tmp_path / "mine.py"
    file.write_text(file.read_text().replace("nn.Linear(32, 2)", "nn.Linear(33, 2)"))
    changed = run()
    assert changed.returncode == 0
    assert "Warning: mine.py has changed since 8 of the 8 stored trials ran" in changed.stdout
    study = tmp_path / "mine.yaml"
    study.write_text(study.read_text().replace("name: mine", "name: broken"))
    broken = run()
    assert broken.returncode == 2
    assert "The workload mine.py:Mine cannot be used: loss of inputs [16, 30] and targets [16] failed (" in (
        broken.stderr
    )
    assert "Traceback" not in broken.stdout + broken.stderr
