"""The conditions of a study: a grid, single conditions beside it, exclusions, and the baselines.

A condition is one point of the study's grid; a selector names some of them by some of their values.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Annotated, Literal, TypeAlias

from pydantic import Field, field_validator

from study.fields import Count, Group, Items, Values, Whole, refused

NO_ECHO = "none"
"""Insertion point of the baseline, which has no echo stage."""

InsertionPoint: TypeAlias = Literal["before_augmentation", "after_augmentation", "after_batching"]
_Where: TypeAlias = Literal["none", "before_augmentation", "after_augmentation", "after_batching"]
Factor: TypeAlias = Annotated[float, Field(ge=1, le=1_000_000)]


@dataclass(frozen=True, slots=True, order=True)
class Condition:
    """One point of the study's grid. The order of the fields is the order of every table."""

    workload: str
    batch_size: int
    echo_factor: float
    insertion_point: str
    echo_buffer: int

    @classmethod
    def baseline(cls, workload: str, batch_size: int) -> Condition:
        """The condition without an echo stage."""
        return cls(workload, batch_size, 1.0, NO_ECHO, 0)

    @property
    def is_baseline(self) -> bool:
        """True for the condition without an echo stage."""
        return self.insertion_point == NO_ECHO

    @property
    def echo_ratio(self) -> Fraction:
        """The factor as the fraction that the echo stage works with (`pipelines.EchoSpec.ratio`)."""
        return Fraction(self.echo_factor).limit_denominator(1_000_000)

    @property
    def label(self) -> str:
        """Readable name, as in MLflow: `before_augmentation e=2 b=32 buffer=1024`."""
        if self.is_baseline:
            return f"baseline b={self.batch_size}"
        return f"{self.insertion_point} e={self.echo_factor:g} b={self.batch_size} buffer={self.echo_buffer}"


class SingleCondition(Group):
    """One condition beside the grid."""

    batch_size: Count = Field(examples=["32"])
    echo_factor: Factor = Field(examples=["2"])
    insertion_point: InsertionPoint = Field(examples=["before_augmentation"])
    echo_buffer: Whole = Field(examples=["1024"])


class Selector(Group):
    """The conditions with all of the values given here; the baseline's are e = 1, insertion point `none`."""

    batch_size: Count | None = Field(None, examples=["32"])
    echo_factor: Factor | None = Field(None, examples=["2"])
    insertion_point: _Where | None = Field(None, examples=["after_batching"])
    echo_buffer: Whole | None = Field(None, examples=["1024"])

    def selects(self, condition: Condition) -> bool:
        """True if the condition has every value that is given."""
        wanted = self.model_dump(exclude_none=True)
        return all(getattr(condition, key) == value for key, value in wanted.items())


class Conditions(Group):
    """Every combination of the grid's values, and `also`, without what `exclude` selects.

    The baseline, e = 1, is added once a batch size, and is never excluded. `R` are the ratios of upstream to
    downstream time that figure 4's model draws a curve for, and that `measure: time` times the winners at; no
    search depends on them.
    """

    batch_size: Values[Count] = Field(examples=["[32]"])
    echo_factor: Values[Factor] = Field(examples=["[2]"])
    insertion_point: Values[InsertionPoint] = Field(examples=["[before_augmentation]"])
    echo_buffer: Values[Whole] = Field(examples=["[1024]"])
    also: Items[SingleCondition] = Field(
        (),
        examples=[
            "[{batch_size: 32, echo_factor: 2, insertion_point: after_batching, echo_buffer: 0}]",
        ],
    )
    exclude: Items[Selector] = Field((), examples=["[{insertion_point: after_batching, echo_buffer: 0}]"])
    R: Values[Annotated[float, Field(gt=0, le=1e6)]] | None = Field(None, examples=["[1, 2, 4]"])

    @property
    def upper_count(self) -> int:
        """Conditions of the grid, beside it, and baselines; more than the plan's where they coincide."""
        echoes = len(self.echo_factor) * len(self.insertion_point) * len(self.echo_buffer)
        return len(self.batch_size) * (1 + echoes) + 2 * len(self.also)

    @property
    def batch_sizes(self) -> list[int]:
        """Every batch size there is, each with a baseline of its own."""
        return sorted({*self.batch_size, *(one.batch_size for one in self.also)})

    def expand(self, workload: str) -> tuple[Condition, ...]:
        """All conditions in table order: by batch size, factor, insertion point (as in the file), buffer.

        Every e = 1 is the baseline.
        """
        echoes = [one for one in self._echoes(workload) if not any(s.selects(one) for s in self.exclude)]
        baselines = [Condition.baseline(workload, batch_size) for batch_size in self.batch_sizes]
        named = (*self.insertion_point, *(one.insertion_point for one in self.also))
        order = {NO_ECHO: -1} | {name: i for i, name in reversed(list(enumerate(named)))}
        return tuple(
            sorted(
                {*baselines, *echoes},
                key=lambda c: (c.batch_size, c.echo_factor, order[c.insertion_point], c.echo_buffer),
            )
        )

    def _echoes(self, workload: str) -> Iterable[Condition]:
        """The grid and what is beside it, without e = 1."""
        grid = product(self.batch_size, self.echo_factor, self.insertion_point, self.echo_buffer)
        single = (
            (one.batch_size, one.echo_factor, one.insertion_point, one.echo_buffer) for one in self.also
        )
        for batch_size, factor, insertion_point, buffer in (*grid, *single):
            if factor != 1:
                yield Condition(workload, batch_size, float(factor), insertion_point, buffer)

    @field_validator("exclude")
    @classmethod
    def _names_something(cls, exclude: tuple[Selector, ...]) -> tuple[Selector, ...]:
        for i, selector in enumerate(exclude):
            if not selector.model_dump(exclude_none=True):
                raise refused("would leave out everything; name the values to leave out", i)
        return exclude
