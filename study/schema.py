"""The study file's JSON Schema, for editors that complete keys and check values while one types."""

from __future__ import annotations

from typing import Any

from study.specmodel import StudySpec


def study_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of a study file, out of the model that checks it.

    It knows keys, types, bounds and words. Rules over several keys (a batch within the budget, a metric of
    the workload, ...) are checked by `study.spec.load_spec` alone.
    """
    schema = StudySpec.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "echostudy study file"
    return schema
