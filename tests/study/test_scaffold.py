"""The files of a new workload: written once, sound as they are."""

import pytest

from study.errors import UserError
from study.plan import make_plan
from study.scaffold import write_workload
from study.spec import load_spec


def test_a_new_workload_is_three_files_with_a_study_that_can_be_planned(tmp_path):
    written = write_workload("my_patients", tmp_path)
    assert [file.name for file in written] == ["my_patients.py", "my_patients.yaml", "test_my_patients.py"]
    assert not any("$" in file.read_text() for file in written)
    plan = make_plan(load_spec(tmp_path / "my_patients.yaml"))
    assert {condition.workload for condition in plan.conditions} == {"my_patients.py:MyPatients"}
    assert len(plan.conditions) == 4


@pytest.mark.parametrize("taken", ["mine.py", "mine.yaml", "test_mine.py"])
def test_nothing_is_overwritten_and_nothing_half_written(tmp_path, taken):
    (tmp_path / taken).write_text("mine")
    with pytest.raises(UserError, match=rf"{taken} is there already; choose another name, or move it away"):
        write_workload("mine", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text() == "mine"


@pytest.mark.parametrize("name", ["", "Mine", "my-task", "2nd", "class", "a/b", "x" * 61])
def test_a_name_that_no_module_can_have_is_refused(tmp_path, name):
    with pytest.raises(UserError, match=r"cannot name a workload; use small letters, digits and '_'"):
        write_workload(name, tmp_path)


@pytest.mark.parametrize("name", ["torch", "pipelines", "random"])
def test_a_module_of_that_name_is_not_hidden(tmp_path, name):
    with pytest.raises(
        UserError, match=rf"a Python module {name}, which {name}.py would hide; choose another"
    ):
        write_workload(name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_workload_of_that_name_in_another_folder_is_no_hindrance(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # as once it has run in this process
    (tmp_path / "mine.py").write_text("")
    (tmp_path / "here").mkdir()
    assert len(write_workload("mine", tmp_path / "here")) == 3


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    with pytest.raises(UserError, match=r"mine.py cannot be written \(No such file or directory\)"):
        write_workload("mine", tmp_path / "nowhere")
