"""What a trial may spend, and how far apart its evaluations lie: any unit, one converter."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, ValidationInfo, field_validator

from study.fields import MAX_WHOLE, Count, Group, refused

Unit: TypeAlias = Literal["fresh_examples", "consumed_examples", "updates", "passes"]
UNITS: tuple[Unit, ...] = ("fresh_examples", "consumed_examples", "updates", "passes")


class Budget(Group):
    """What a trial may spend, in one of four units, and how much of it lies between its evaluations.

    Fresh examples are the paper's measure. Passes are over the training data, in fresh examples. Consumed
    examples (repeats included) and updates are worth fewer fresh examples the larger the echo factor, so with
    them the budget and the evaluations differ between the conditions.
    """

    fresh_examples: Count | None = Field(default=None, examples=["12000"])
    consumed_examples: Count | None = Field(default=None, examples=["12000"])
    updates: Count | None = Field(default=None, examples=["1000"])
    passes: Annotated[float, Field(gt=0, le=1e9)] | None = Field(default=None, examples=["10"])
    evaluate_in: Unit | None = Field(default=None, examples=["fresh_examples"])
    evaluate_every: Annotated[float, Field(gt=0, le=MAX_WHOLE)] = Field(examples=["256"])

    @property
    def unit(self) -> Unit:
        """The unit the budget is given in."""
        return next(unit for unit in UNITS if getattr(self, unit) is not None)

    @property
    def amount(self) -> float:
        """The budget in its unit."""
        amount: float = getattr(self, self.unit)
        return amount

    @property
    def interval_unit(self) -> Unit:
        """The unit the evaluation interval is given in."""
        return self.evaluate_in or self.unit

    def identity(self) -> dict[str, int | float | str]:
        """All that a result depends on, JSON-able; the same however it is written."""
        every = int(self.evaluate_every) if self.evaluate_every.is_integer() else self.evaluate_every
        same: dict[str, int | float | str] = {self.unit: self.amount, "evaluate_every": every}
        return same if self.interval_unit == self.unit else same | {"evaluate_in": self.interval_unit}

    def in_fresh_examples(
        self, batch_size: int, echo: Fraction, train_examples: int | None
    ) -> tuple[Fraction, Fraction]:
        """Budget and evaluation interval in fresh examples, exactly, at a batch size and an echo factor."""
        return (
            in_fresh_examples(self.amount, self.unit, batch_size, echo, train_examples),
            in_fresh_examples(self.evaluate_every, self.interval_unit, batch_size, echo, train_examples),
        )

    @field_validator("evaluate_every")
    @classmethod
    def _is_one_budget_with_an_interval_within(cls, every: float, info: ValidationInfo) -> float:
        given = [unit for unit in UNITS if info.data.get(unit) is not None]
        if any(name not in info.data for name in (*UNITS, "evaluate_in")):
            return every  # at fault themselves
        if len(given) != 1:
            which = " and ".join(given) or "no amount"
            raise refused(f"stands beside {which}; give the budget in one of {', '.join(UNITS)}")
        (unit,) = given
        interval_unit = info.data["evaluate_in"] or unit
        if interval_unit != "passes" and not every.is_integer():
            raise refused(f"must be a whole number of {interval_unit}, not {every:g}; round it")
        if interval_unit == unit and every > info.data[unit]:
            raise refused(f"must be at most {unit} ({info.data[unit]:g}), not {every:g}; lower it")
        return every


def in_fresh_examples(
    amount: float, unit: Unit, batch_size: int, echo: Fraction, train_examples: int | None
) -> Fraction:
    """An amount of a unit in fresh examples (`examples_consumed / e`), exactly."""
    exact = Fraction(amount)
    match unit:
        case "fresh_examples":
            return exact
        case "consumed_examples":
            return exact / echo
        case "updates":
            return exact * batch_size / echo
        case "passes":
            assert train_examples is not None, "the study file's check refuses passes over a stream"
            return exact * train_examples
