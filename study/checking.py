"""The preflight as a Ray task: it loads PyTorch and the data where trials run, not on the driver."""

from __future__ import annotations

from dataclasses import replace

import ray
from ray.exceptions import RayError, RayTaskError

from study.errors import UserError
from study.job import TrialJob, jobs_to_check
from study.plan import Plan
from study.spec import Resources
from study.workloads.carried import at_hand, carried_text


class Preflight:
    """The check of a plan's workload and settings, under way in a slot."""

    def __init__(self, plan: Plan, at_a_time: int) -> None:
        """`at_a_time`: how many trials are to share a machine, at most."""
        resources = plan.spec.resources
        in_a_slot = ray.remote(num_cpus=resources.cpu, num_gpus=resources.gpu, max_retries=2)
        text = carried_text(plan.spec.workload)
        largest = max(plan.trials, key=lambda trial: trial.search.condition.batch_size)
        self._tags = in_a_slot(_preflight).remote(
            jobs_to_check(plan), text, TrialJob.of(largest, plan.spec), resources, at_a_time
        )

    def result(self) -> dict[str, str]:
        """Wait for the study's provenance tags; `UserError` if the check found fault."""
        try:
            tags: dict[str, str] = ray.get(self._tags)
        except RayTaskError as error:
            if isinstance(error.cause, UserError):
                raise error.cause from None
            raise
        except RayError as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise UserError(
                f"The process that was to check the study's workload has died ({reason}); see that memory is "
                "free where trials run, and run the same command again."
            ) from error
        return tags


def _preflight(
    jobs: list[TrialJob], text: bytes | None, largest: TrialJob, resources: Resources, at_a_time: int
) -> dict[str, str]:
    from study.preflight import check_room, preflight

    workload = at_hand(largest.workload, text)
    tags = preflight([replace(job, workload=workload) for job in jobs])
    check_room(replace(largest, workload=workload), resources, at_a_time)
    return tags
