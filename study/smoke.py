"""The quick mode of every study: the same question, cut to a few seconds of training."""

from __future__ import annotations

from math import floor

from study.budget import Budget
from study.conditions import Condition
from study.specmodel import StudySpec
from study.workloads.reference import workload_name


def smoke_cut(spec: StudySpec) -> StudySpec:
    """A small study with all of the insertion points: one batch size, factor and buffer, 2 points, 1 repeat.

    A trial trains for two evaluations of at most 4 baseline updates each. Its name ends in `-smoke`, so its
    results stay apart. Workload, metaparameters, target, stop rule, seed and resources are the study's own.
    """
    grid = spec.conditions
    batch_size = grid.batch_size[0]
    factor = next((e for e in grid.echo_factor if e > 1), grid.echo_factor[0])
    _, interval = spec.budget_of(Condition.baseline(workload_name(spec.workload), batch_size))
    evaluate_every = max(1, min(floor(interval), 4 * batch_size))
    conditions = grid.model_copy(
        update={
            "batch_size": (batch_size,),
            "echo_factor": (factor,),
            "echo_buffer": grid.echo_buffer[:1],
            "also": (),
            "exclude": (),
        }
    )
    if conditions.R:
        conditions = conditions.model_copy(update={"R": conditions.R[:1]})
    left = conditions.expand(workload_name(spec.workload))
    changes = {
        "name": f"{spec.name[:94]}-smoke",
        "conditions": conditions,
        "overrides": tuple(one for one in spec.overrides if any(map(one.where.selects, left))),
        "search": spec.search.model_copy(update={"points": min(2, spec.search.points), "repeats": 1}),
        "budget": Budget(fresh_examples=max(2 * evaluate_every, batch_size), evaluate_every=evaluate_every),
    }
    return StudySpec.model_validate(dict(spec) | changes)
