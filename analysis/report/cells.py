"""Values of tables as people read them."""

from __future__ import annotations

import math
from typing import SupportsFloat

import pandas as pd


def headings(table: pd.DataFrame) -> list[str]:
    """Column names in words."""
    return [str(name).replace("_", " ") for name in table.columns]


def rows(table: pd.DataFrame) -> list[list[str]]:
    """All values in words: thousands parted, four digits, `·` for what is missing, `∞` for more "
    "than tried.
    """
    return [[cell(value) for value in row] for row in table.itertuples(index=False)]


def cell(value: object) -> str:
    """One value in words."""
    if value is None or value is pd.NA:
        return "·"
    if isinstance(value, (bool, str)) or not isinstance(value, SupportsFloat):
        return {"True": "yes", "False": "no"}.get(str(value), str(value))
    number = float(value)
    if math.isnan(number):
        return "·"
    if math.isinf(number):
        return "∞"
    return f"{number:,.0f}" if number.is_integer() or abs(number) >= 1000 else f"{number:.4g}"
