"""Running a study from its plan to a complete store: checks first, then the sweep."""

from __future__ import annotations

from collections.abc import Mapping

from study.folder import ResultsFolder
from study.plan import Plan
from study.stored import StoredTrial, has_result, read_stored
from study.sweep import Observer, Sweep


def run_study(plan: Plan, results: ResultsFolder, observer: Observer, *, workers: int | None = None) -> None:
    """Run every trial of the plan that has no result yet, on this machine; `workers` limits CPU slots.

    Idempotent: interrupt it anywhere and call it again. Nothing is written before all checks have passed;
    raises `UserError` where one fails.
    """
    stored = read_stored(results, plan.spec.name)
    if all(has_result(stored.get(trial.id)) for trial in plan.trials):
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
        with _sweep(plan, stored, results, observer, tags) as running:
            run_trials(running, slots)


def _sweep(
    plan: Plan,
    stored: Mapping[str, StoredTrial],
    results: ResultsFolder,
    observer: Observer,
    tags: Mapping[str, str],
) -> Sweep:
    from study.store import open_store
    from study.tracking import StudyWriter

    results.make_writable()
    results.study(plan.spec.name).mkdir(exist_ok=True)

    def open_writer() -> StudyWriter:
        return StudyWriter(open_store(results.tracking_uri), plan, results.artifacts.as_uri(), tags)

    return Sweep(plan, stored, open_writer, results, observer)
