"""Checks of what users give: the value itself, or a `ValueError` that ends with what to do."""

from __future__ import annotations

import math
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
    number: Any = math.nan if isinstance(value, bool) or not isinstance(value, Real) else value
    number = getattr(number, "item", lambda: number)()  # NumPy's, whose narrow floats overflow in comparisons
    if not at_least <= number <= at_most:  # compared as it is: whole numbers may be too large for a float
        raise ValueError(f"{name} is {value!r}; {advice}.")
    return float(number)


def rows(part: Any) -> int | None:
    """How many rows an array or a tensor has; None for anything else."""
    shape = getattr(part, "shape", None)
    return int(shape[0]) if shape else None


def is_pair(given: Any, inputs: int | None, targets: int | None) -> bool:
    """Whether these are inputs and targets with so many rows."""
    return isinstance(given, tuple | list) and [rows(part) for part in given] == [inputs, targets]


def described(given: Any) -> str:
    """What kind of thing this is, with its shape; likewise for each part of a pair."""
    if isinstance(given, tuple) and len(given) == 2:
        return " and ".join(map(described, given))
    shape = getattr(given, "shape", None)
    return type(given).__name__ + (f" {tuple(shape)}" if shape is not None else "")
