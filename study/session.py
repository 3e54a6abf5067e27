"""Running a study from its plan to a complete store: checks first, then the sweep."""

from __future__ import annotations

from study.cluster import local_ray, slots
from study.folder import ResultsFolder
from study.plan import Plan
from study.preflight import check_target
from study.provenance import provenance
from study.store import open_store, store_exists
from study.sweep import Observer, Sweep, has_result
from study.tracking import StudyWriter, stored_trials
from study.tune import run_trials
from study.workloads.load import load_workload


def run_study(plan: Plan, results: ResultsFolder, observer: Observer, *, workers: int | None = None) -> None:
    """Run every trial of the plan that has no result yet, on this machine; `workers` limits CPU slots.

    Idempotent: interrupt it anywhere and call it again. Nothing is written before all checks have passed;
    raises `UserError` where one fails.
    """
    name, uri = plan.spec.name, results.tracking_uri
    stored = stored_trials(open_store(uri), name) if store_exists(uri) else {}
    something_waits = not all(has_result(stored.get(trial.id)) for trial in plan.trials)
    tags: dict[str, str] = {}
    if something_waits:
        workload = load_workload(plan.spec.workload)
        check_target(plan, workload)
        tags = provenance(workload.train_data())
    results.make_writable()
    results.study(name).mkdir(exist_ok=True)

    def open_writer() -> StudyWriter:
        return StudyWriter(open_store(uri), plan, results.artifacts.as_uri(), tags)

    with Sweep(plan, stored, open_writer, results, observer) as sweep:
        if sweep.waiting:
            with local_ray(workers):
                run_trials(sweep, slots(plan.spec.resources))
