"""Writing files whole: a reader never sees half of one, and equal tables are equal files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
from pandas.api.types import is_float_dtype

SIGNIFICANT_DIGITS = 12
"""Of numbers that are not whole: enough for any reader, too few for the last bits of a machine's `exp`."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path beside `path`, with its suffix, that takes its place if the block succeeds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_csv(table: pd.DataFrame, path: Path) -> None:
    """Write a table without its index: LF line ends, no `.0` on whole numbers, nothing where none is."""
    text = table.copy()
    for name in text.columns:
        if is_float_dtype(text[name]):
            text[name] = text[name].map(_number, na_action="ignore").astype("object")
    with replacing(path) as temporary:
        text.to_csv(temporary, index=False, lineterminator="\n")


def _number(value: float) -> str:
    """Shortest stable form of a number: `7168`, `0.448275862069`."""
    if value.is_integer():
        return str(int(value))
    return f"{value:.{SIGNIFICANT_DIGITS}g}"
