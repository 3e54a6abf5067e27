"""Which code a study runs: the commit of the checkout, also where a copy of it has travelled."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

VARIABLES = {"echostudy.git_commit": "ECHOSTUDY_GIT_COMMIT", "echostudy.git_dirty": "ECHOSTUDY_GIT_DIRTY"}
"""Tells the copies that a cluster gets where they come from."""


def commit_tags() -> dict[str, str]:
    """Commit and dirtiness of the checkout this code comes from; `unknown` for an installed package."""
    if all(variable in os.environ for variable in VARIABLES.values()):
        return {tag: os.environ[variable] for tag, variable in VARIABLES.items()}
    try:
        commit = _git("rev-parse", "HEAD")
        dirty = bool(_git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.CalledProcessError):
        return dict.fromkeys(VARIABLES, "unknown")
    return {"echostudy.git_commit": commit, "echostudy.git_dirty": str(dirty).lower()}


def commit_variables() -> dict[str, str]:
    """The same as environment variables of processes that run a copy."""
    return {VARIABLES[tag]: value for tag, value in commit_tags().items()}


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True, check=True
    ).stdout.strip()
