"""The Fashion-MNIST study files, in their quick mode, on a small sample in the official format."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

REPOSITORY = Path(__file__).parents[2]
formats = runpy.run_path(str(REPOSITORY / "tests" / "data_formats" / "fashion.py"))


@pytest.mark.parametrize("name", ["fashion_mnist_convnet", "fashion_mnist_resnet8"])
def test_the_study_runs_in_its_quick_mode(name, tmp_path):
    formats["write_fashion_mnist"](tmp_path)
    asked = ["run", f"study/specs/{name}.yaml", "--smoke", "--results", str(tmp_path / "results")]
    done = subprocess.run(
        [sys.executable, "-m", "echostudy", *asked],
        cwd=REPOSITORY,
        env=os.environ | {"ECHOSTUDY_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    searches = pd.read_csv(tmp_path / "results" / f"{name}-smoke" / "tables" / "searches.csv")
    assert sorted(searches["insertion_point"]) == [
        "after_augmentation",
        "after_batching",
        "before_augmentation",
        "none",
    ]
