"""Checkpoints in an object store, through PyArrow's own client over HTTP."""

import os
import subprocess
import sys

import pytest
from servers.s3 import KEYS, ObjectStore

PROGRAM = """
import sys, torch
from study.checkpoint import Checkpoint
from study.storage import Storage
storage = Storage(sys.argv[1], "digits")
checkpoint = Checkpoint(storage, "abc")
assert checkpoint.load() is None
for step in range(3):
    assert checkpoint.save({"step": step, "weights": torch.ones(100_000)})
state = checkpoint.load()
assert state["step"] == 2 and torch.equal(state["weights"], torch.ones(100_000))
if sys.argv[2] == "remove":
    checkpoint.remove()
    checkpoint.remove()
    assert checkpoint.load() is None
    storage.write("driver", b"x")
    storage.clear()
    assert storage.read("driver") is None
"""


@pytest.fixture
def store():
    with ObjectStore() as running:
        yield running


def run(store, what):
    """In a process of its own: PyArrow's client keeps threads to the end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, store.uri("bucket"), what],
        env=os.environ | KEYS,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_last_checkpoint_is_one_object(store):
    run(store, "keep")
    assert [name for name in store.objects if not name.endswith("/")] == ["bucket/studies/digits/abc.pt"]


def test_a_removed_one_is_gone(store):
    run(store, "remove")
    assert [name for name in store.objects if not name.endswith("/")] == []
