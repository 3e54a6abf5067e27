"""Running a study from its plan to a complete store: checks first, then the sweep."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeAlias

from study.folder import ResultsFolder
from study.plan import Plan
from study.result import Outcome
from study.stored import StoredTrial, has_result, read_stored
from study.sweep import Observer, Sweep

Retry: TypeAlias = Literal["crashed", "diverged"]


def run_study(
    plan: Plan,
    results: ResultsFolder,
    observer: Observer,
    *,
    workers: int | None = None,
    retry: Retry | None = None,
) -> None:
    """Run every trial of the plan that has no result yet, on this machine; `workers` limits CPU slots.

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

    from study.cluster import local_ray

    with local_ray(workers) as started:
        # Imported here, and in this order, because each takes seconds: Tune while Ray starts, MLflow and the
        # tables of a new store while the slots load PyTorch. A finished study needs neither Ray nor Tune.
        from study.tune import run_trials
        from study.warm import Preflight

        slots = started.slots(plan.spec.resources)
        checking = Preflight(plan, slots)

        from study.newstore import store_in_waiting

        with store_in_waiting(results) as waiting:
            tags = checking.result()
            results.make_writable()
            waiting.put_in_place()
        with _sweep(plan, stored, results, observer, tags, only) as running:
            run_trials(running, slots)


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

    def open_writer() -> StudyWriter:
        return StudyWriter(open_store(results.tracking_uri), plan, results.artifacts.as_uri(), tags)

    chooser = None
    if plan.spec.search.sampler == "tpe":
        from study.adaptive import AdaptiveSearch

        chooser = AdaptiveSearch(plan, results.study(plan.spec.name))
    return Sweep(plan, stored, open_writer, results, observer, only, chooser)
