"""Imports run one way: pipelines and models know nothing above them, analysis never needs Ray or torch."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAY_IMPORT = {
    "pipelines": set(),
    "models": set(),
    "study": {"pipelines", "models"},
    "analysis": {"study"},
    "echostudy": {"study", "analysis"},
}


def imported(file: Path) -> set[str]:
    """Top-level packages that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_only_what_lies_below_it(package):
    files = list((ROOT / package).rglob("*.py"))
    assert files
    for file in files:
        above = imported(file) & (set(MAY_IMPORT) - MAY_IMPORT[package] - {package})
        assert not above, f"{file.relative_to(ROOT)} imports {above}"


def test_a_trial_knows_neither_ray_nor_mlflow():
    code = "import sys, study.trial; sys.exit(bool({'ray', 'mlflow'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_driver_of_a_sweep_does_without_pytorch():
    code = "import sys, echostudy.cli, study.tune, study.checking; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_no_file_is_longer_than_400_lines():
    for package in MAY_IMPORT:
        for file in (ROOT / package).rglob("*.py"):
            assert len(file.read_text(encoding="utf-8").splitlines()) <= 400, file
