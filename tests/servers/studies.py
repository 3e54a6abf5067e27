"""A small study through the real console command."""

import os
import subprocess
import sys
from pathlib import Path

SPEC = "study/specs/digits.yaml"
SMALL = ["search.points=4", "search.repeats=1", "target.value=0.7", "budget.fresh_examples=4000"]
DEADLINE_S = 600


def study_command(command: str, *options: str, settings: list[str] = SMALL) -> list[str]:
    """A command on the small digits study, with these options."""
    given = [word for setting in settings for word in ("--set", setting)]
    return [sys.executable, "-m", "echostudy", command, SPEC, *given, *options]


def echostudy(
    command: str,
    *options: str,
    settings: list[str] = SMALL,
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command on the small digits study, with these options and variables."""
    return run(study_command(command, *options, settings=settings), environment)


def run(
    command: list[str], environment: dict[str, str] | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
        env=os.environ | (environment or {}),
        cwd=cwd,
    )


def tables(results: Path, name: str = "digits") -> dict[str, bytes]:
    """The tables that are equal, byte for byte, where results are."""
    folder = results / name / "tables"
    return {name: (folder / f"{name}.csv").read_bytes() for name in ("searches", "figure3")}
