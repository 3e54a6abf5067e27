"""What the fields of a study file are made of: strict groups, whole numbers, lists of different values.

Strict means: true is no number, '3' is no number, 3 is no text, and an unknown key is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from study.wording import shown
from study.yamltext import KeyPath

BROKEN_RULE = "broken_rule"
"""Type of the pydantic errors made by `refused` and `all_refused`; their context holds the `sentence`."""

MAX_WHOLE = 2**53
"""Largest whole number: up to here each is exact as a float, and so in JSON, MLflow and pandas."""


class Group(BaseModel):
    """A group of keys. Every field carries an example, as YAML, for the sentences about it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


def refused(sentence: str, *within: str | int) -> ValidationError:
    """The error for a broken rule of the key at hand, or of one within it: the sentence after its name."""
    return all_refused({within: sentence})


def all_refused(problems: Mapping[KeyPath, str]) -> ValidationError:
    """The error for several broken rules: path from the key at hand -> the sentence after the key's name."""
    return ValidationError.from_exception_data(
        "refused",
        [
            InitErrorDetails(
                type=PydanticCustomError(BROKEN_RULE, "{sentence}", {"sentence": text}), loc=path, input=None
            )
            for path, text in problems.items()
        ],
    )


def _as_whole(value: Any) -> Any:
    """12000.0 and 1.2e4 are 12000, so that the ways of writing a number give the same trial ids."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


AS_WHOLE = BeforeValidator(_as_whole)
"""Part of a type that takes 12000.0 for 12000."""

Item = TypeVar("Item")


def _different(values: tuple[Item, ...]) -> tuple[Item, ...]:
    if not values:
        raise refused("is an empty list; give it at least one value")
    twice = {(i,): value for i, value in enumerate(values) if value in values[:i]}
    if twice:
        raise all_refused({at: f"has {shown(value)} twice; leave one out" for at, value in twice.items()})
    return values


Whole: TypeAlias = Annotated[int, Field(ge=0, le=MAX_WHOLE), AS_WHOLE]
"""A whole number from 0."""

Count: TypeAlias = Annotated[int, Field(ge=1, le=MAX_WHOLE), AS_WHOLE]
"""A whole number from 1."""

# A YAML list is no tuple: only the container is lenient, its items stay strict.
Values: TypeAlias = Annotated[tuple[Item, ...], Field(strict=False), AfterValidator(_different)]
"""A list of at least one value, all different; kept as a tuple."""

Items: TypeAlias = Annotated[tuple[Item, ...], Field(strict=False)]
"""A list that may be empty; kept as a tuple."""
