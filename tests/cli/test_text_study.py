"""The study file of the small language model, in its quick mode, on a small sample of documents."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from data_formats.text import write_addresses

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def test_the_study_runs_in_its_quick_mode(tmp_path):
    write_addresses(tmp_path)
    results = tmp_path / "results"
    asked = ["run", "study/specs/text_transformer.yaml", "--smoke", "--results", str(results)]
    done = subprocess.run(
        [sys.executable, "-m", "echostudy", *asked],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"ECHOSTUDY_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    searches = pd.read_csv(results / "text_transformer-smoke" / "tables" / "searches.csv")
    assert sorted(searches["insertion_point"]) == ["after_batching", "before_augmentation", "none"]
