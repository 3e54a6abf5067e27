"""Sizes in bytes as people write and read them; decimal, as publishers of data give them."""

from __future__ import annotations

import re

from study.errors import UserError
from study.wording import shown

UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    f"{letter}IB": 1 << 10 * power for power, letter in enumerate("KMGT", 1)
}


def read_size(text: str, where: str) -> int:
    """`2GB`, `1.5 GiB`, `500mb` or a plain number of bytes.

    Raises:
        UserError: it is none of these; `where` says what asked for it.
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([a-zA-Z]*)\s*", text)
    unit = found.group(2).upper() or "B" if found else ""
    if found is None or unit not in UNITS:
        raise UserError(f"{where} cannot be {shown(text)}; give a size such as 500MB or 2GB.")
    return int(float(found.group(1)) * UNITS[unit])


def size_words(size_bytes: float) -> str:
    """`31 MB`."""
    for unit in ("TB", "GB", "MB", "kB"):
        if size_bytes >= UNITS[unit.upper()]:
            return f"{size_bytes / UNITS[unit.upper()]:.3g} {unit}"
    return f"{size_bytes:.0f} bytes"
