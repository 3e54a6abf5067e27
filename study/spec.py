"""What is asked: from a study file to a `StudySpec`, or to one sentence about what is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pydantic import ValidationError

from study.complaints import complaint
from study.ranges import Range
from study.smoke import smoke_cut
from study.specfile import read_spec_file
from study.specmodel import Budget, Conditions, Resources, SearchSpec, StudySpec, TargetSpec

__all__ = [
    "Budget",
    "Conditions",
    "Range",
    "Resources",
    "SearchSpec",
    "StudySpec",
    "TargetSpec",
    "load_spec",
]


def load_spec(
    path: str | os.PathLike[str], overrides: Sequence[str] = (), *, smoke: bool = False
) -> StudySpec:
    """Read and validate a study file.

    `overrides` are `key.path=value` with YAML values, merged in order; `smoke` then cuts the study to a few
    seconds. Raises `UserError`: one sentence with the file, the line or override, the key and what to do.
    """
    file = read_spec_file(path, overrides)
    try:
        spec = StudySpec.model_validate(file.data)
    except ValidationError as error:
        raise complaint(error, file, StudySpec) from error
    return smoke_cut(spec) if smoke else spec
