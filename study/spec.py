"""What is asked: from a study file to a `StudySpec`, or to one sentence about what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from study.budget import Budget
from study.complaints import complaint
from study.conditions import Conditions
from study.errors import SettingError
from study.ranges import Choice, Range
from study.smoke import smoke_cut
from study.specfile import SpecFile, read_spec_file
from study.specmodel import Limits, Resources, SearchSpec, StudySpec, TargetSpec
from study.workloads.reference import own_reference

__all__ = [
    "Budget",
    "Choice",
    "Conditions",
    "Limits",
    "Range",
    "Resources",
    "SearchSpec",
    "StudySpec",
    "TargetSpec",
    "load_spec",
    "located",
]


TO_BE_FOUND = "pilot"
"""The target's value in a study file whose pilot has not run."""


def load_spec(
    path: str | os.PathLike[str],
    overrides: Sequence[str] = (),
    *,
    smoke: bool = False,
    pilot: bool = False,
) -> StudySpec:
    """Read and validate a study file.

    `overrides` are `key.path=value` with YAML values, merged in order; `smoke` then cuts the study to a few
    seconds. `target.value: pilot` is a target still to be found, which a `pilot` alone can do without. A
    user's own workload is looked for from the file's folder, and its code is run.

    Raises:
        UserError: one sentence with the file, the line or override, the key and what to do.
    """
    file = read_spec_file(path, overrides)
    _settle_target(file, pilot=pilot)
    workload = file.data.get("workload")
    if isinstance(workload, str):
        file.data["workload"] = own_reference(workload, Path(path).parent)
    try:
        spec = StudySpec.model_validate(file.data)
    except ValidationError as error:
        raise complaint(error, file, StudySpec) from error
    return smoke_cut(spec) if smoke else spec


def _settle_target(file: SpecFile, *, pilot: bool) -> None:
    """Put a number in place of a target that is still to be found; `UserError` where one is needed."""
    target = file.data.get("target")
    if not isinstance(target, dict) or target.get("value") != TO_BE_FOUND:
        return
    if not pilot:
        raise file.error(
            file.place(("target", "value")),
            "'target.value' is still to be found; run echostudy pilot --write, or give a number",
        )
    target["value"] = 0


@contextmanager
def located(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> Iterator[None]:
    """Give a `SettingError` raised in the block the file and line, or the override, of its setting."""
    try:
        yield
    except SettingError as error:
        file = read_spec_file(path, overrides)
        raise file.error(file.place(error.key_path), str(error)) from error
