"""Trial runs by MLflow's public API: works with every store, and pays a request a page, run and metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from mlflow.entities import Run, ViewType
from mlflow.tracking import MlflowClient

from analysis.reading.fetched import FIRST_CURVE_STEP, Fetched, FetchedRun, wide
from study.entry import KIND

PAGE = 1000
OVERLAP_MS = 60_000
"""Runs that ended shortly before the newest known one are asked for again: no run slips between two looks."""


def fetch_by_api(
    client: MlflowClient, study: str, known: Mapping[str, int], *, curves: bool = True
) -> Fetched:
    """What the store has of a study's trial runs beyond the `known` ones (run id -> end time in ms).

    A known run is fetched again if it ended anew or is running again. Runs that were deleted are no longer
    alive; one that was also purged from the trash (`mlflow gc`) between two looks is still taken for alive.
    `curves=False` leaves the curves out.
    """
    experiment = client.get_experiment_by_name(study)
    if experiment is None:
        return Fetched(frozenset(), (), wide(()))
    identifier = experiment.experiment_id
    if known:
        since = max(known.values()) - OVERLAP_MS
        found: Iterable[Run] = chain(
            _pages(client, identifier, f"attributes.end_time >= {since}"),
            _pages(client, identifier, "attributes.status = 'RUNNING'"),
        )
        deleted = {one.info.run_id for one in _pages(client, identifier, "", ViewType.DELETED_ONLY)}
    else:
        found, deleted = _pages(client, identifier, ""), set()
    seen = {run.info.run_id: run for run in found}
    new = [run for run_id, run in seen.items() if known.get(run_id, -1) != run.info.end_time]
    return Fetched(
        alive=frozenset((known.keys() | seen.keys()) - deleted),
        runs=tuple(map(_fetched, new)),
        curves=wide(point for run in new if curves for point in _curve(client, run)),
    )


def _pages(
    client: MlflowClient, experiment_id: str, condition: str, view: int = ViewType.ACTIVE_ONLY
) -> Iterator[Run]:
    """All trial runs that meet a condition, page by page."""
    filters = [f"tags.`{KIND}` = 'trial'", *([condition] if condition else [])]
    token: str | None = None
    while True:
        page = client.search_runs(
            [experiment_id],
            filter_string=" and ".join(filters),
            run_view_type=view,
            max_results=PAGE,
            page_token=token,
        )
        yield from page
        token = page.token
        if not token:
            return


def _fetched(run: Run) -> FetchedRun:
    info, data = run.info, run.data
    return FetchedRun(info.run_id, info.status, info.end_time, data.tags, data.params, data.metrics)


def _curve(client: MlflowClient, run: Run) -> Iterator[tuple[str, str, int, float]]:
    """The points of a run's curves."""
    for name in run.data.metrics:
        history = client.get_metric_history(run.info.run_id, name)
        for one in sorted(history, key=lambda metric: (metric.step, metric.timestamp)):
            if one.step >= FIRST_CURVE_STEP:
                yield run.info.run_id, name, one.step, one.value
