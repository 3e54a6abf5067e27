"""The documents' code runs as printed, and prints what they say."""

from __future__ import annotations

import contextlib
import io
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def blocks(name: str) -> list[tuple[str, str]]:
    """Language and content of the fenced blocks, in order."""
    text = (DOCS / name).read_text(encoding="utf-8")
    found = re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert 2 * len(found) == text.count("```")
    return found


def printed(code: str, names: dict[str, object]) -> str:
    """What the code prints when run with these names, which it may add to."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(code, "<document>", "exec"), names)
    return output.getvalue()


@pytest.mark.parametrize("name", ["plain_loop.md", "one_line.md"])
def test_the_code_of_a_document_prints_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    output, compared, diff = "", 0, ""
    original = ""
    for language, content in blocks(name):
        if language == "python":
            original = original or content
            output = printed(content, names)
        elif language == "diff":
            diff = content
            output = printed(patched(original, diff), {})
        elif language == "text":
            assert output == content
            compared += 1
    assert compared >= 1
    assert bool(diff) == (name == "one_line.md")


def patched(code: str, diff: str) -> str:
    """`code` with a line of it replaced and an import put in front, as the diff says."""
    imported, old, new = diff.splitlines()
    assert (imported[0], old[0], new[0]) == ("+", "-", "+")
    assert code.count(old[1:]) == 1
    return imported[1:] + "\n" + code.replace(old[1:], new[1:])


@pytest.mark.slow
def test_two_processes_train_together_as_the_document_says(tmp_path: Path) -> None:
    (_, code), (_, command), (_, output) = blocks("data_parallel.md")
    assert "--nproc-per-node 2 train.py" in command
    script = tmp_path / "train.py"
    script.write_text(code, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": "2", "OMP_NUM_THREADS": "1"}
    ranks = [
        subprocess.Popen(
            [sys.executable, str(script)],
            env={**os.environ, **shared, "RANK": str(rank), "PYTHONPATH": str(DOCS.parent)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        ended = [rank.communicate(timeout=180) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()
    assert [rank.returncode for rank in ranks] == [0, 0], ended
    assert [out for out, _ in ended] == [output, ""]
