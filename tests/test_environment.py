"""pyproject.toml, requirements.lock and environment.yml name one and the same environment."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = [Requirement(line) for line in (ROOT / "requirements.lock").read_text().splitlines() if line]
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())


def test_every_line_of_the_lock_is_one_exact_version():
    for requirement in LOCK:
        assert re.fullmatch(r"==[\w.+!-]+", str(requirement.specifier)), requirement
    names = [canonicalize_name(requirement.name) for requirement in LOCK]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "wanted", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]], ids=str
)
def test_the_lock_satisfies_what_the_project_asks_for(wanted):
    requirement = Requirement(wanted)
    (locked,) = (one for one in LOCK if canonicalize_name(one.name) == canonicalize_name(requirement.name))
    version = str(locked.specifier).removeprefix("==")
    assert requirement.specifier.contains(version), f"{wanted} is locked at {version}"


def test_torch_is_pinned_with_the_torchvision_that_belongs_to_it():
    pins = {one.name: str(one.specifier) for one in LOCK}
    assert pins["torch"] == "==2.14.1"
    assert pins["torchvision"] == "==0.29.1"


def test_gpu_libraries_that_exist_for_linux_alone_are_asked_for_there_alone():
    for requirement in LOCK:
        if requirement.name.startswith(("nvidia-", "cuda-", "triton")):
            assert str(requirement.marker) == 'sys_platform == "linux"', requirement


def test_the_conda_environment_is_the_lock_and_this_project():
    *conda, pip = CONDA["dependencies"]
    assert pip["pip"] == ["--requirement requirements.lock", "--editable ."]
    (python,) = (entry for entry in conda if entry.startswith("python="))
    assert SpecifierSet(PROJECT["requires-python"]).contains(python.removeprefix("python="))
