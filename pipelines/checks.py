"""Checks of what users give: the value itself, or a `ValueError` that ends with what to do."""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import Any


def whole_number(value: Any, name: str, at_least: float, advice: str) -> int:
    """`value` as an int, if it is a whole number of at least `at_least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < at_least:
        raise ValueError(f"{name} is {value!r}; {advice}.")
    return int(value)


def real_number(
    value: Any, name: str, at_least: float, advice: str, at_most: float = sys.float_info.max
) -> float:
    """`value`, if it is a finite number from `at_least` to `at_most`."""
    if not (isinstance(value, Real) and at_least <= float(value) <= at_most):
        raise ValueError(f"{name} is {value!r}; {advice}.")
    return float(value)
