"""Running a study from its plan to a complete store: checks first, then the sweep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from study.background import PATIENCE_S
from study.driver import DriverLock
from study.folder import ResultsFolder
from study.newstore import store_in_waiting
from study.plan import Plan
from study.result import Outcome
from study.stored import StoredTrial, has_result, read_stored
from study.sweep import Observer, Sweep

if TYPE_CHECKING:
    from study.cluster import Ray

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
    address: str | None = None,
) -> None:
    """Run every trial of the plan that has no result yet.

    On this machine, where `workers` limits CPU slots; or on the Ray cluster at `address` (`study.remote`),
    where `workers` is how many trials run at a time.

    `here`: in this very process, without a Ray, a trial at a time.
    `retry`: run those alone that crashed; or those alone that diverged, whose results are replaced.

    Idempotent: interrupt it anywhere and call it again. Nothing is written before all checks have passed;
    raises `UserError` where one fails, or another driver is at work in the same folder.
    """
    with DriverLock(results.study(plan.spec.name)) as lock:
        lock.take_if_it_has_run()
        _run(plan, results, observer, lock, workers=workers, retry=retry, here=here, address=address)


def _run(
    plan: Plan,
    results: ResultsFolder,
    observer: Observer,
    lock: DriverLock,
    *,
    workers: int | None,
    retry: Retry | None,
    here: bool,
    address: str | None,
) -> None:
    stored = read_stored(results, plan.spec.name)
    only = None
    if retry is not None:
        again = {Outcome(retry)} | ({Outcome.OUT_OF_MEMORY} if retry == "crashed" else set())
        only = {trial_id for trial_id, one in stored.items() if one.outcome in again}
        stored = {trial_id: one for trial_id, one in stored.items() if trial_id not in only}
    wanted = (trial.id for trial in plan.trials if only is None or trial.id in only)
    if all(has_result(stored.get(trial_id)) for trial_id in wanted):
        results.make_writable()
        lock.take()
        with _sweep(plan, stored, results, observer, {}):
            return

    def checked(find_tags: Callable[[], Mapping[str, str]]) -> Sweep:
        with store_in_waiting(results) as waiting:
            tags = find_tags()
            results.make_writable()
            lock.take()
            waiting.put_in_place()
        return _sweep(plan, stored, results, observer, tags, only)

    if here:
        with checked(partial(_preflight_here, plan)) as sweep:
            from study.here import run_trials_here

            run_trials_here(sweep)
        return

    with _ray(address, workers) as started:
        # Here, because each takes seconds: Tune while Ray starts. A finished study needs neither.
        from study.checking import Preflight
        from study.tune import run_trials

        slots = started.slots(plan.spec.resources)
        with checked(Preflight(plan, started.slots_of_a_node(plan.spec.resources)).result) as sweep:
            run_trials(sweep, slots)


def _ray(address: str | None, workers: int | None) -> AbstractContextManager[Ray]:
    if address is None:
        from study.cluster import local_ray

        return local_ray(workers)
    from study.token import use_token

    use_token()
    from study.remote import cluster_ray

    return cluster_ray(address, workers)


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
