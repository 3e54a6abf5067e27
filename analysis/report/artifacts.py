"""The study's own MLflow run: where its tags come from, and where its report is kept for MLflow's pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from mlflow.entities import Run
from mlflow.exceptions import MlflowException

from study.store import open_store, store_exists
from study.tracking import runs_of_kind

FOLDER = "report"


def study_tags(study: str, tracking_uri: str) -> Mapping[str, str]:
    """The tags of the study's run: versions, machine, data; none if the study has not begun."""
    run = _study_run(study, tracking_uri)
    return {} if run is None else dict(run.data.tags)


def attach(study: str, tracking_uri: str, files: Iterable[Path]) -> str:
    """Log files as artifacts of the study's run, over those of an earlier report.

    Returns a sentence about what went wrong, or nothing: a report on disk is a report, attached or not.
    """
    run = _study_run(study, tracking_uri)
    if run is None:
        return ""
    client = open_store(tracking_uri)
    try:
        for file in files:
            client.log_artifact(run.info.run_id, str(file), FOLDER)
    except (MlflowException, OSError) as error:
        reason = str(error).splitlines()[0]
        return f"The report could not be attached to the study's MLflow run ({reason}); it is on disk alone."
    return ""


def _study_run(study: str, tracking_uri: str) -> Run | None:
    if not store_exists(tracking_uri):
        return None
    return next(runs_of_kind(open_store(tracking_uri), study, "study"), None)
