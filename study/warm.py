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


class Preflight:
    """The check of a plan's target on the first point of every repeat of the baseline, under way in a slot.

    The other slots load what their trials will need meanwhile.
    """

    def __init__(self, plan: Plan, slots: int) -> None:
        jobs = [
            TrialJob.of(trial, plan.spec)
            for trial in plan.trials
            if trial.point == 0 and trial.search.condition.is_baseline
        ] or [TrialJob.of(plan.trials[0], plan.spec)]
        resources = plan.spec.resources
        in_a_slot = ray.remote(num_cpus=resources.cpu, num_gpus=resources.gpu, max_retries=0)
        self._tags = in_a_slot(_preflight).remote(jobs)
        for _ in range(slots - 1):
            in_a_slot(_load).remote()

    def result(self) -> dict[str, str]:
        """Wait for the study's provenance tags; `UserError` if the check found fault."""
        try:
            tags: dict[str, str] = ray.get(self._tags)
        except RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise error.cause from None
            raise
        return tags


def _preflight(jobs: list[TrialJob]) -> dict[str, str]:
    from study.preflight import preflight

    tags = preflight(jobs)
    _load()
    return tags


def _load() -> None:
    import study.slot
    import study.worker  # noqa: F401
