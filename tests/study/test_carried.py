"""A user's own workload travels to machines without its file."""

from pathlib import Path

from study.workloads.carried import at_hand, carried_text
from study.workloads.reference import own_file, own_reference, parts


def test_a_file_that_is_here_is_used_as_it_is(tmp_path):
    workload = own_reference("mine.py:Mine", tmp_path)
    (tmp_path / "mine.py").write_text("class Mine: pass")
    assert at_hand(workload, carried_text(workload)) == workload


def test_a_file_that_is_missing_or_another_is_replaced_by_a_copy_of_the_same_name(tmp_path):
    (tmp_path / "mine.py").write_text("class Mine: pass")
    workload = own_reference("mine.py:Mine", tmp_path)
    text = carried_text(workload)
    for change in (lambda file: file.write_text("another"), Path.unlink):
        change(tmp_path / "mine.py")
        copy = at_hand(workload, text)
        assert parts(copy)[1] == "Mine"
        assert own_file(copy) != tmp_path / "mine.py"
        assert own_file(copy).name == "mine.py"
        assert own_file(copy).read_text() == "class Mine: pass"
        assert at_hand(workload, text) == copy


def test_ours_need_nothing_to_go_along():
    assert carried_text("digits_convnet") is None
    assert at_hand("digits_convnet", None) == "digits_convnet"
