"""The journal: entries survive to the last digit, a torn line is no entry, a full disk leaves no half one."""

import errno
import math
import os
from pathlib import Path

import pytest

from study.entry import Entry, trial_entry
from study.errors import UserError
from study.journal import Journal, read_journal
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome, Rank
from study.spec import load_spec


@pytest.fixture(scope="module")
def entry() -> Entry:
    plan = make_plan(load_spec("study/specs/digits.yaml", ["search.points=1", "search.repeats=1"]))
    values = {"valid_accuracy": 0.1 + 0.2, "train_loss": math.inf, "examples_consumed": 256.0}
    evaluations = [Evaluation(256.5, 8, values | {"examples_read": 256.0, "buffer_examples": 0.0})]
    reached = [*evaluations, Evaluation(512.5, 16, evaluations[0].values | {"valid_accuracy": 0.97})]
    return trial_entry(TrialRecord(plan.trials[0], plan.spec.rule, reached, Outcome.REACHED), "abc")


def test_an_entry_is_read_as_it_was_written_to_the_last_digit(entry, tmp_path):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(entry)
    (read,) = read_journal(journal.path)
    assert read == entry
    assert ("valid_accuracy", 0.1 + 0.2, 256) in read.metrics


def test_an_entry_tells_of_its_trial_what_the_store_will_tell(entry):
    assert entry.stored.outcome is Outcome.REACHED
    assert entry.stored.rank == Rank(512.5, 16, 0)
    assert entry.stored.workload_source == "abc"


def test_the_journal_goes_once_all_of_it_is_in_the_store(entry, tmp_path):
    path = tmp_path / "journal.jsonl"
    Journal(path).append(entry)
    again = Journal(path)
    assert again.waiting == 1
    again.append(entry)
    again.written()
    assert again.waiting == 1
    assert len(list(read_journal(path))) == 2
    again.written()
    assert not path.exists()
    again.append(entry)
    assert len(list(read_journal(path))) == 1


@pytest.mark.parametrize("torn", [b'{"time_ms": 1', b"\xff\xfe", b'{"time_ms": 1}\n', b"null\n", b"7\n"])
def test_a_line_that_is_no_entry_is_left_out_and_what_follows_is_whole(entry, tmp_path, torn):
    path = tmp_path / "journal.jsonl"
    Journal(path).append(entry)
    path.write_bytes(path.read_bytes() + torn)
    journal = Journal(path)
    assert journal.waiting == 1
    journal.append(entry)
    assert list(read_journal(path)) == [entry, entry]


def test_a_full_disk_is_named_and_leaves_the_entries_before(entry, tmp_path, monkeypatch):
    journal = Journal(tmp_path / "journal.jsonl")
    journal.append(entry)
    before = journal.path.read_bytes()

    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(UserError, match=r"journal.jsonl \(No space left on device\); free some room"):
            journal.append(entry)
    assert journal.path.read_bytes() == before
    journal.append(entry)
    assert list(read_journal(journal.path)) == [entry, entry]


def test_there_is_nothing_to_read_where_there_is_no_journal(tmp_path):
    assert list(read_journal(Path(tmp_path, "none"))) == []
