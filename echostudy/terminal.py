"""Where the commands print."""

from __future__ import annotations

import os
import sys

from rich.console import Console


def terminal() -> Console:
    """Standard output: as wide as the terminal, or as the widest table needs in a file."""
    return Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160, emoji=False)


def errors() -> Console:
    """Standard error. No emoji codes on either: they would eat the `:x:` of a `file.py:x: what is wrong`."""
    return Console(stderr=True, emoji=False)
