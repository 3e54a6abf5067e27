"""The preflight as a Ray task: it loads PyTorch and the data where trials run, not on the driver."""

from __future__ import annotations

import ray
from ray.exceptions import RayTaskError

from study.errors import UserError
from study.job import TrialJob, jobs_to_check
from study.plan import Plan


class Preflight:
    """The check of a plan's workload and settings, under way in a slot."""

    def __init__(self, plan: Plan) -> None:
        resources = plan.spec.resources
        in_a_slot = ray.remote(num_cpus=resources.cpu, num_gpus=resources.gpu, max_retries=0)
        self._tags = in_a_slot(_preflight).remote(jobs_to_check(plan))

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

    return preflight(jobs)
