"""A metaparameter's range or choice of values, and the scale on which a search spreads its points over it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag, ValidationInfo, field_validator

from study.fields import Group, Values, refused

NARROWEST = 0.002
"""Least relative width of a range on its scale.

Sobol points lie on a grid of 2**30 steps; in a range this wide, no two steps are rounded to the same value.
"""


class Range(Group):
    """The values from `low` to `high`, both within; evenly spread in x, log x or log(1 - x).

    `reverse_log` is the paper group's scale for momentum: as many points in 0.9..0.99 as in 0.99..0.999.
    With `integer`, whole numbers alone, each with the share of the scale that is rounded to it.
    """

    scale: Literal["linear", "log", "reverse_log"] = Field("linear", examples=["log"])
    integer: bool = Field(False, examples=["true"])
    low: float = Field(examples=["0.003"])
    high: float = Field(examples=["0.3"])

    @field_validator("low")
    @classmethod
    def _low_fits_its_scale(cls, low: float, info: ValidationInfo) -> float:
        scale = info.data.get("scale")
        if scale == "log" and low <= 0:
            raise refused(f"must be more than 0 on a log scale, not {low:g}; write for example low: 0.001")
        if scale == "reverse_log" and not 0 <= low < 1:
            raise refused(
                f"must be from 0 to under 1 on a reverse_log scale, not {low:g}; write for example low: 0.7"
            )
        return _whole_if_integer(low, info)

    @field_validator("integer")
    @classmethod
    def _integers_have_a_scale(cls, integer: bool, info: ValidationInfo) -> bool:
        if integer and info.data.get("scale") == "reverse_log":
            raise refused("is for scale linear or log; below 1 there are no whole numbers to choose from")
        return integer

    @field_validator("high")
    @classmethod
    def _high_is_above_low(cls, high: float, info: ValidationInfo) -> float:
        scale, low = info.data.get("scale"), info.data.get("low")
        if scale == "reverse_log" and high >= 1:
            raise refused(
                f"must be less than 1 on a reverse_log scale, not {high:g}; write for example high: 0.99"
            )
        if scale is None or low is None or "integer" not in info.data:
            return high
        _whole_if_integer(high, info)
        if high <= low:
            raise refused(
                f"must be more than low ({low!r}), not {high!r}; exchange the two or widen the range"
            )
        first, last = (1 - high, 1 - low) if scale == "reverse_log" else (low, high)
        if not info.data["integer"] and last - first < NARROWEST * max(abs(first), abs(last)):
            raise refused(f"is too near low ({low!r}); make the range {NARROWEST:.1%} wide or wider")
        return high

    @property
    def different_values(self) -> float:
        """How many values a search can tell apart."""
        return self.high - self.low + 1 if self.integer else float("inf")

    def identity(self) -> dict[str, Any]:
        """All that says which values these are, JSON-able."""
        same = {"scale": self.scale, "low": self.low, "high": self.high}
        return same | {"integer": True} if self.integer else same

    def at(self, u: float) -> float:
        """The value at the share `u` in [0, 1) of the way from `low` to `high` on the scale.

        Rounded to 13 digits, where the power functions of different machines agree, so that a study has the
        same points and trial ids everywhere.
        """
        reverse = self.scale == "reverse_log"
        margin = 0.5 if self.integer else 0.0
        low, high = self.low - margin, self.high + margin
        first, last = (1 - low, 1 - high) if reverse else (low, high)
        value = (1 - u) * first + u * last if self.scale == "linear" else first ** (1 - u) * last**u
        rounded = float(f"{value:.12e}")
        if self.integer:
            rounded = float(round(rounded))
        return min(max(1 - rounded if reverse else rounded, self.low), self.high)


class Choice(Group):
    """One of a few numbers, each as likely as the others: `{values: [0, 0.01, 0.1]}`."""

    values: Values[float] = Field(examples=["[0, 0.01, 0.1]"])

    @property
    def different_values(self) -> float:
        """How many values a search can tell apart."""
        return len(self.values)

    def identity(self) -> dict[str, Any]:
        """All that says which values these are, JSON-able."""
        return {"values": list(self.values)}

    def at(self, u: float) -> float:
        """The value at the share `u` in [0, 1) of the list."""
        return self.values[int(u * len(self.values))]


def _whole_if_integer(end: float, info: ValidationInfo) -> float:
    if info.data.get("integer") and not end.is_integer():
        raise refused(f"must be a whole number, since integer is true, not {end:g}; round it")
    return end


def _kind(value: Any) -> str:
    """What a metaparameter's group of keys is meant to be."""
    is_choice = isinstance(value, Choice) or (isinstance(value, Mapping) and "values" in value)
    return "[choice]" if is_choice else "[range]"


Metaparameter: TypeAlias = Annotated[
    Annotated[Range, Tag("[range]")] | Annotated[Choice, Tag("[choice]")], Discriminator(_kind)
]
"""A range, or a choice where `values` are given."""

KINDS: Mapping[str, type[Group]] = {"[range]": Range, "[choice]": Choice}
"""The tags that pydantic puts into an error's location, and what they stand for."""
