"""The checklist's commands run, and its examples are workloads."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from study.job import TrialJob
from study.plan import make_plan
from study.rehearsal import rehearse, train_data_of
from study.spec import load_spec
from study.workloads.load import load_workload
from study.workloads.own import own_card

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "adding-a-workload.md").read_text(encoding="utf-8")


def block(language):
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    return found


def test_the_function_in_the_document_is_a_workload(tmp_path):
    torch.set_num_threads(1)
    file = tmp_path / "two_moons.py"
    file.write_text(block("python"))
    own = f"{file}:two_moons"
    card, workload = own_card(own), load_workload(own)
    assert card.summary == "Tell two moons apart."
    spec = load_spec(ROOT / "study/specs/digits.yaml", [f"workload={own}"])
    job = TrialJob.of(make_plan(spec).trials[0], spec)
    rehearse(workload, train_data_of(workload, own), job, card)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_commands_run_one_after_the_other(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    commands = block("console").splitlines()
    assert len(commands) == 5
    for command in commands:
        program, *arguments = command.split()
        assert program in {"echostudy", "pytest"}
        done = subprocess.run(
            [sys.executable, "-m", program, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, command + done.stdout + done.stderr
    assert (tmp_path / "echostudy-results" / "my_patients-smoke" / "figures" / "figure3.png").exists()
