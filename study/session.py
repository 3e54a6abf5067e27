"""Running a study from its plan to a complete store: checks first, then the sweep."""

from __future__ import annotations

from collections.abc import Mapping

from study.folder import ResultsFolder
from study.plan import Plan
from study.store import open_store, store_exists
from study.sweep import Observer, Sweep, has_result
from study.tracking import StudyWriter, stored_trials


def run_study(plan: Plan, results: ResultsFolder, observer: Observer, *, workers: int | None = None) -> None:
    """Run every trial of the plan that has no result yet, on this machine; `workers` limits CPU slots.

    Idempotent: interrupt it anywhere and call it again. Nothing is written before all checks have passed;
    raises `UserError` where one fails.
    """
    name, uri = plan.spec.name, results.tracking_uri
    stored = stored_trials(open_store(uri), name) if store_exists(uri) else {}

    def sweep(tags: Mapping[str, str]) -> Sweep:
        results.make_writable()
        results.study(name).mkdir(exist_ok=True)
        artifacts = results.artifacts.as_uri()
        return Sweep(
            plan, stored, lambda: StudyWriter(open_store(uri), plan, artifacts, tags), results, observer
        )

    if all(has_result(stored.get(trial.id)) for trial in plan.trials):
        with sweep({}):
            return

    from study.cluster import local_ray

    with local_ray(workers) as started:
        # Imported here: Tune loads while Ray starts, and a finished study needs neither.
        from study.tune import run_trials
        from study.warm import preflight_in_slots

        slots = started.slots(plan.spec.resources)
        with sweep(preflight_in_slots(plan, slots)) as running:
            run_trials(running, slots)
