from dataclasses import replace
from pathlib import Path

import pytest

from study.data import root
from study.data.catalogue import DATA_SETS
from study.data.root import data_folder, data_root, own_folder, require
from study.errors import UserError


def test_the_data_lie_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    assert data_root() == tmp_path
    assert data_folder("cifar10") == own_folder("cifar10") == tmp_path / "cifar10"


def test_a_home_and_a_relative_folder_are_made_absolute(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ECHOSTUDY_DATA", "~/sets")
    assert data_root() == tmp_path / "sets"
    monkeypatch.setenv("ECHOSTUDY_DATA", "sets")
    assert data_root() == Path.cwd() / "sets"


@pytest.mark.parametrize("unset", [None, ""])
def test_without_the_variable_they_lie_in_the_users_cache(monkeypatch, tmp_path, unset):
    monkeypatch.setenv("HOME", str(tmp_path))
    if unset is None:
        monkeypatch.delenv("ECHOSTUDY_DATA", raising=False)
    else:
        monkeypatch.setenv("ECHOSTUDY_DATA", unset)
    assert data_root() == tmp_path / ".cache/echostudy"


def test_a_folder_of_the_system_serves_where_the_users_own_does_not_exist(monkeypatch, tmp_path):
    systems = tmp_path / "usr"
    systems.mkdir()
    known = replace(DATA_SETS["fashion_mnist"], elsewhere=(str(tmp_path / "opt"), str(systems)))
    monkeypatch.setattr(root, "DATA_SETS", {"fashion_mnist": known})
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path / "data"))
    assert data_folder("fashion_mnist") == systems
    own_folder("fashion_mnist").mkdir(parents=True)
    assert data_folder("fashion_mnist") == tmp_path / "data" / "fashion_mnist"


def test_a_folder_of_the_users_own_needs_no_catalogue(monkeypatch, tmp_path):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    assert data_folder("my_letters") == tmp_path / "my_letters"


def test_data_that_are_there_are_simply_returned(tmp_path):
    assert require(tmp_path, "cifar10") == tmp_path


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("cifar10", "run 'echostudy data fetch cifar10'"),
        ("imagenet", "put train/<class>/*.JPEG and val/<class>/*.JPEG"),
        ("my_letters", "set ECHOSTUDY_DATA to the folder that holds my_letters/"),
    ],
)
def test_missing_data_are_named_with_the_place_and_with_what_helps(tmp_path, name, help_):
    with pytest.raises(UserError) as refused:
        require(tmp_path / name / "file", name)
    assert f"The data set {name} is not there: {tmp_path / name / 'file'} was looked for" in str(
        refused.value
    )
    assert help_ in str(refused.value)
