"""Validation errors of a study file as one sentence: file, line, full key, what is wrong, what to do."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from study.errors import UserError
from study.fields import BROKEN_RULE
from study.nearest import did_you_mean
from study.ranges import KINDS
from study.specfile import SpecFile
from study.wording import shown
from study.yamltext import KeyPath, Place, dotted

_MUST_BE: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "string_type": lambda _: "text",
    "int_type": lambda _: "a whole number",
    "float_type": lambda _: "a number",
    "bool_type": lambda _: "true or false",
    "finite_number": lambda _: "a finite number",
    "tuple_type": lambda _: "a list",
    "dict_type": lambda _: "a group of keys",
    "model_type": lambda _: "a group of keys",
    "greater_than": lambda limits: f"more than {limits['gt']:g}",
    "greater_than_equal": lambda limits: f"at least {limits['ge']:g}",
    "less_than_equal": lambda limits: f"at most {limits['le']:.16g}",
}
"""pydantic's error type -> what the value must be, given the error's context."""


@dataclass(frozen=True, slots=True)
class _Complaint:
    place: Place
    sentence: str


def complaint(error: ValidationError, file: SpecFile, model: type[BaseModel]) -> UserError:
    """The first problem by its place in the file, and how many more there are."""
    details = _without_consequences(error.errors(include_url=False), model)
    complaints = sorted(
        (_Complaint(file.place(_path(one)), _sentence(one, model)) for one in details),
        key=lambda one: one.place,
    )
    more = len(complaints) - 1
    rest = f" (and {more} more problem{'s' if more > 1 else ''})" if more else ""
    return file.error(complaints[0].place, complaints[0].sentence + rest)


def _path(detail: ErrorDetails) -> KeyPath:
    """The key path of an error; pydantic marks an error in a key itself by a last part `[key]`."""
    return tuple(part for part in _typed_path(detail) if part not in KINDS)


def _typed_path(detail: ErrorDetails) -> KeyPath:
    """The key path with the kinds of groups that have several, where the error's type shows them."""
    return tuple(part for part in detail["loc"] if part != "[key]")


def _without_consequences(details: list[ErrorDetails], model: type[BaseModel]) -> list[ErrorDetails]:
    """Leave out a missing key that is there under a mistyped name: that is one problem, not two."""
    mistyped = {
        (_path(one)[:-1], _nearest(_typed_path(one), model))
        for one in details
        if one["type"] == "extra_forbidden"
    }
    return [
        one
        for one in details
        if one["type"] != "missing" or (_path(one)[:-1], _nearest(_typed_path(one), model)) not in mistyped
    ]


def _sentence(detail: ErrorDetails, model: type[BaseModel]) -> str:
    path = _typed_path(detail)
    key = dotted(_path(detail))
    if detail["type"] == "extra_forbidden":
        return f"unknown key '{key}'; {_nearest(path, model)}"
    if detail["type"] == "missing":
        return f"'{key}' is missing; write for example {_example(path, model)}"
    context = detail.get("ctx", {})
    if detail["type"] == BROKEN_RULE:
        return f"'{key}' {context['sentence']}"
    value = detail["input"]
    if detail["type"] == "literal_error":
        words = re.findall(r"'(\w+)'", context["expected"])
        return f"'{key}' cannot be {shown(value)}; {did_you_mean(str(value), words)}"
    what = _MUST_BE[detail["type"]](context)
    each = "each value of " if isinstance(path[-1], int) else ""
    return f"{each}'{key}' must be {what}, not {shown(value)}; write for example {_example(path, model)}"


def _nearest(path: KeyPath, model: type[BaseModel]) -> str:
    """`did_you_mean` for the last key of a path among the keys of its group."""
    return did_you_mean(str(path[-1]), _type_at(path[:-1], model).model_fields)


def _example(path: KeyPath, model: type[BaseModel]) -> str:
    """The last key of a path with a value of the right kind, as YAML; an entry's example is its list's."""
    whole = tuple(part for part in path if part not in KINDS)
    while isinstance(whole[-1], int):
        whole, path = whole[:-1], path[:-1]
    holder = _type_at(path[: path.index(whole[-1])], model)
    if get_origin(holder) is dict:  # free names: their values are groups, shown by their fields' examples
        group = _type_at((*path[: path.index(whole[-1])], whole[-1], "[range]"), model)
        fields = ((name, field) for name, field in group.model_fields.items() if field.is_required())
        return f"{whole[-1]}: {{{', '.join(f'{name}: {field.examples[0]}' for name, field in fields)}}}"
    return f"{whole[-1]}: {holder.model_fields[whole[-1]].examples[0]}"


def _type_at(path: KeyPath, model: type[BaseModel]) -> Any:
    """The type of the value at a key path: a group, or a mapping from free names to groups, or a list."""
    here: Any = model
    for part in path:
        if part in KINDS:
            here = KINDS[str(part)]
        elif get_origin(here) is dict:
            here = _plain(get_args(here)[1])
        elif get_origin(here) is tuple:
            here = _plain(get_args(here)[0])
        else:
            here = _plain(here.model_fields[part].annotation)
    return here


def _plain(annotation: Any) -> Any:
    """A type without its constraints, and without None where it may be left out."""
    if get_origin(annotation) is Annotated:
        return _plain(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        options = [one for one in get_args(annotation) if one is not type(None)]
        return _plain(options[0]) if len(options) == 1 else annotation
    return annotation
