"""Who may run a study, and who is sent away."""

import multiprocessing
import os

import pytest

from study.driver import DriverLock
from study.errors import UserError


def test_a_second_driver_is_told_who_the_first_is(tmp_path):
    with DriverLock(tmp_path / "digits") as first:
        first.take()
        first.take()  # whoever has it has it
        with DriverLock(tmp_path / "digits") as second:
            with pytest.raises(UserError, match=rf"being run already, by process {os.getpid()} on .*; wait"):
                second.take_if_it_has_run()
            with pytest.raises(UserError, match="being run already"):
                second.take()
    with DriverLock(tmp_path / "digits") as third:
        third.take()
    assert list((tmp_path / "digits").iterdir()) == []


def test_a_study_without_a_folder_has_no_driver_and_gets_no_folder(tmp_path):
    with DriverLock(tmp_path / "digits") as lock:
        lock.take_if_it_has_run()
    assert not (tmp_path / "digits").exists()


def test_the_lock_of_a_driver_that_was_killed_is_free(tmp_path):
    process = multiprocessing.get_context("spawn").Process(target=take_and_die, args=(tmp_path,))
    process.start()
    process.join()
    assert (tmp_path / "driver.lock").exists()
    with DriverLock(tmp_path) as lock:
        lock.take()


def test_where_there_are_no_locks_a_study_runs_all_the_same(tmp_path, monkeypatch):
    def no_locks(file, how):
        raise OSError("No locks available")

    monkeypatch.setattr("study.driver.fcntl.flock", no_locks)
    with DriverLock(tmp_path) as lock:
        lock.take()


def take_and_die(folder):
    DriverLock(folder).take()
    os._exit(9)
