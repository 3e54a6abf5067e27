"""The public face of the package, and what it must not need."""

import subprocess
import sys
from pathlib import Path

import pytest

import analysis

ROOT = Path(analysis.__file__).parents[1]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_every_public_name_can_be_had():
    for name in analysis.__all__:
        assert getattr(analysis, name).__module__.startswith("analysis."), name
    assert sorted(name for names in analysis._HOMES.values() for name in names) == analysis.__all__


def test_a_wrong_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'figure_3'"):
        analysis.figure_3  # noqa: B018


def test_importing_the_package_loads_nothing_else():
    heavy = "{'numpy', 'pandas', 'matplotlib', 'mlflow', 'scipy'} & set(sys.modules)"
    assert run(f"import sys, analysis; print({heavy})") == "set()"


def test_a_report_needs_neither_ray_nor_torch_nor_pyplot(tmp_path):
    code = f"""
import sys
from pathlib import Path
from analysis import write_report
from study.plan import make_plan
from study.spec import load_spec

plan = make_plan(load_spec("study/specs/digits.yaml", smoke=True))
write_report(plan, "sqlite:///{tmp_path}/none.db", Path({str(tmp_path)!r}))
print({{"ray", "torch", "matplotlib.pyplot"}} & set(sys.modules))
"""
    assert run(code) == "set()"
    assert (tmp_path / "figures" / "figure3.png").exists()
