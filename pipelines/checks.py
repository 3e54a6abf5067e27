"""Checks of what users give."""

from __future__ import annotations

from numbers import Integral


def whole_number(value: object, name: str, at_least: int | None, advice: str) -> int:
    """`value` as an int; `ValueError` that ends with the advice if it is none, or too small."""
    if (
        not isinstance(value, Integral)
        or isinstance(value, bool)
        or (at_least is not None and value < at_least)
    ):
        raise ValueError(f"{name} is {value!r}; {advice}.")
    return int(value)
