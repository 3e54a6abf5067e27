"""Running a study from its plan to a complete store: checks first, then the sweep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Literal, TypeAlias

from study.background import PATIENCE_S
from study.folder import ResultsFolder
from study.newstore import store_in_waiting
from study.plan import Plan
from study.result import Outcome
from study.stored import StoredTrial, has_result, read_stored
from study.sweep import Observer, Sweep

EMBEDDED_PATIENCE_S = 30.0
"""A file that cannot be written for so long is not busy, but at fault."""

Retry: TypeAlias = Literal["crashed", "diverged"]


def run_study(
    plan: Plan,
    results: ResultsFolder,
    observer: Observer,
    *,
    workers: int | None = None,
    retry: Retry | None = None,
    here: bool = False,
) -> None:
    """Run every trial of the plan that has no result yet, on this machine; `workers` limits CPU slots.

    `here`: in this very process, without a Ray, a trial at a time.
    `retry`: run those alone that crashed; or those alone that diverged, whose results are replaced.

    Idempotent: interrupt it anywhere and call it again. Nothing is written before all checks have passed;
    raises `UserError` where one fails.
    """
    stored = read_stored(results, plan.spec.name)
    only = None
    if retry is not None:
        only = {trial_id for trial_id, one in stored.items() if one.outcome == Outcome(retry)}
        stored = {trial_id: one for trial_id, one in stored.items() if trial_id not in only}
    wanted = (trial.id for trial in plan.trials if only is None or trial.id in only)
    if all(has_result(stored.get(trial_id)) for trial_id in wanted):
        with _sweep(plan, stored, results, observer, {}):
            return

    def checked(find_tags: Callable[[], Mapping[str, str]]) -> Sweep:
        with store_in_waiting(results) as waiting:
            tags = find_tags()
            results.make_writable()
            waiting.put_in_place()
        return _sweep(plan, stored, results, observer, tags, only)

    if here:
        with checked(partial(_preflight_here, plan)) as sweep:
            from study.here import run_trials_here

            run_trials_here(sweep)
        return

    from study.cluster import local_ray

    with local_ray(workers) as started:
        # Here, because each takes seconds: Tune while Ray starts. A finished study needs neither.
        from study.checking import Preflight
        from study.tune import run_trials

        slots = started.slots(plan.spec.resources)
        with checked(Preflight(plan).result) as sweep:
            run_trials(sweep, slots)


def _preflight_here(plan: Plan) -> dict[str, str]:
    from study.job import jobs_to_check
    from study.preflight import preflight

    return preflight(jobs_to_check(plan))


def _sweep(
    plan: Plan,
    stored: Mapping[str, StoredTrial],
    results: ResultsFolder,
    observer: Observer,
    tags: Mapping[str, str],
    only: Collection[str] | None = None,
) -> Sweep:
    from study.store import open_store
    from study.tracking import StudyWriter

    results.make_writable()
    results.study(plan.spec.name).mkdir(exist_ok=True)

    shared = results.server is not None

    def open_writer() -> StudyWriter:
        return StudyWriter(
            open_store(results.tracking_uri), plan, results.artifact_location, tags, shared=shared
        )

    chooser = None
    if plan.spec.search.sampler == "tpe":
        from study.adaptive import AdaptiveSearch

        chooser = AdaptiveSearch(plan, results.study(plan.spec.name))
    patience_s = PATIENCE_S if shared else EMBEDDED_PATIENCE_S
    return Sweep(plan, stored, open_writer, results, observer, only, chooser, patience_s)
