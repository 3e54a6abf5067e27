from pathlib import Path

import pytest

from study.data.root import data_folder, data_root, require
from study.errors import UserError


def test_the_data_lie_where_the_environment_says(monkeypatch, tmp_path):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    assert data_root() == tmp_path
    assert data_folder("fashion_mnist") == tmp_path / "fashion_mnist"


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


def test_data_that_are_there_are_simply_returned(tmp_path):
    assert require(tmp_path, "digits") == tmp_path


def test_missing_data_are_named_with_the_place_and_the_command_that_helps(tmp_path):
    with pytest.raises(UserError) as refused:
        require(tmp_path / "cifar10" / "test_batch", "cifar10")
    assert str(tmp_path / "cifar10" / "test_batch") in str(refused.value)
    assert "echostudy data fetch cifar10" in str(refused.value)
