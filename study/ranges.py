"""A metaparameter's range, and the scale on which a search spreads its points over it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationInfo, field_validator

from study.fields import Group, refused

NARROWEST = 0.002
"""Least relative width of a range on its scale.

Sobol points lie on a grid of 2**30 steps; in a range this wide, no two steps are rounded to the same value.
"""


class Range(Group):
    """The values from `low` to `high`, both within; evenly spread in x, log x or log(1 - x).

    `reverse_log` is the paper group's scale for momentum: as many points in 0.9..0.99 as in 0.99..0.999.
    """

    scale: Literal["linear", "log", "reverse_log"] = Field("linear", examples=["log"])
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
        return low

    @field_validator("high")
    @classmethod
    def _high_is_above_low(cls, high: float, info: ValidationInfo) -> float:
        scale, low = info.data.get("scale"), info.data.get("low")
        if scale == "reverse_log" and high >= 1:
            raise refused(
                f"must be less than 1 on a reverse_log scale, not {high:g}; write for example high: 0.99"
            )
        if scale is None or low is None:
            return high
        if high <= low:
            raise refused(
                f"must be more than low ({low!r}), not {high!r}; exchange the two or widen the range"
            )
        first, last = (1 - high, 1 - low) if scale == "reverse_log" else (low, high)
        if last - first < NARROWEST * max(abs(first), abs(last)):
            raise refused(f"is too near low ({low!r}); make the range {NARROWEST:.1%} wide or wider")
        return high

    def at(self, u: float) -> float:
        """The value at the share `u` in [0, 1) of the way from `low` to `high` on the scale.

        Rounded to 13 digits, where the power functions of different machines agree, so that a study has the
        same points and trial ids everywhere.
        """
        reverse = self.scale == "reverse_log"
        first, last = (1 - self.low, 1 - self.high) if reverse else (self.low, self.high)
        value = (1 - u) * first + u * last if self.scale == "linear" else first ** (1 - u) * last**u
        rounded = float(f"{value:.12e}")
        return min(max(1 - rounded if reverse else rounded, self.low), self.high)
