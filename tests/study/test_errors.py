"""Errors the user can put right have to survive the way from a worker to the driver."""

import pickle

from study.errors import SettingError


def test_a_setting_error_travels_between_processes_whole():
    error = pickle.loads(pickle.dumps(SettingError(("target", "value"), "is too easy; raise it.")))
    assert str(error) == "'target.value' is too easy; raise it."
    assert error.key_path == ("target", "value")
