"""The study files of the offline workloads, in their quick mode, on small samples in the official formats."""

import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from data_formats.fashion import write_fashion_mnist
from data_formats.text import write_addresses

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

EVERYWHERE = ["after_augmentation", "after_batching", "before_augmentation", "none"]
WITHOUT_AUGMENTATION = ["after_batching", "before_augmentation", "none"]


@pytest.mark.parametrize(
    ("name", "write_sample", "insertion_points"),
    [
        ("fashion_mnist_convnet", write_fashion_mnist, EVERYWHERE),
        ("fashion_mnist_resnet8", write_fashion_mnist, EVERYWHERE),
        ("scenes_ssd", write_fashion_mnist, EVERYWHERE),
        ("text_transformer", write_addresses, WITHOUT_AUGMENTATION),
    ],
)
def test_a_study_file_runs_in_its_quick_mode(name, write_sample, insertion_points, tmp_path):
    write_sample(tmp_path)
    results = tmp_path / "results"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "echostudy",
            "run",
            f"study/specs/{name}.yaml",
            "--smoke",
            "--results",
            results,
        ],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"ECHOSTUDY_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    searches = pd.read_csv(results / f"{name}-smoke" / "tables" / "searches.csv")
    assert sorted(searches["insertion_point"]) == insertion_points
