"""The preflight on Ray, in the processes that will run the trials: it warms them up on the way.

A process that has run a task is kept and given to the next task or actor, so PyTorch is loaded once a slot,
and not at all on the driver.
"""

from __future__ import annotations

import ray
from ray.exceptions import RayTaskError

from study.errors import UserError
from study.job import TrialJob
from study.plan import Plan


def preflight_in_slots(plan: Plan, slots: int) -> dict[str, str]:
    """Check the plan's target on the first point of every repeat of the baseline; the provenance tags.

    Raises:
        UserError: what the check found.
    """
    jobs = [
        TrialJob.of(trial, plan.spec)
        for trial in plan.trials
        if trial.point == 0 and trial.search.condition.is_baseline
    ]
    resources = plan.spec.resources
    in_a_slot = ray.remote(num_cpus=resources.cpu, num_gpus=resources.gpu, max_retries=0)
    tags = in_a_slot(_preflight).remote(jobs)
    for _ in range(slots - 1):
        in_a_slot(_load).remote()
    try:
        found: dict[str, str] = ray.get(tags)
    except RayTaskError as error:
        if isinstance(error.cause, UserError):
            raise error.cause from None
        raise
    return found


def _preflight(jobs: list[TrialJob]) -> dict[str, str]:
    from study.preflight import preflight

    return preflight(jobs)


def _load() -> None:
    import study.slot  # noqa: F401
