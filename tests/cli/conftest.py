"""The console command, called in this process."""

import sys

import pytest

from echostudy.cli import main


@pytest.fixture
def call_echostudy(monkeypatch, capsys):
    """Call the console command; returns (exit code, standard output, standard error)."""
    monkeypatch.setattr("signal.signal", lambda *_: None)
    monkeypatch.setattr(sys, "path", [*sys.path])  # the folders of users' files stay in it

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["echostudy", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        written = capsys.readouterr()
        return end.value.code or 0, written.out, written.err

    return call
