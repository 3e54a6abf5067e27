"""What a training run needs to know, as plain values: made on the driver, taken to any worker.

Nothing here loads PyTorch: the driver never needs it.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from study.result import Rank, Target
from study.seeds import derived_seed
from study.timing import Timing
from study.workloads.options import WorkloadOptions

if TYPE_CHECKING:  # a worker needs no plan, and the driver no pipeline; both start a second sooner without
    from pipelines import EchoSpec
    from study.plan import Plan, Trial
    from study.spec import StudySpec


@dataclass(frozen=True, slots=True)
class TrialJob:
    """All that a training run needs to know; plain values, so that it travels to any worker.

    `workload` is what `load_workload` takes: the name of one of ours, or the file and name of a user's own.
    """

    trial_id: str
    search_id: str
    workload: str
    options: WorkloadOptions
    batch_size: int
    echo_factor: float
    insertion_point: str
    echo_buffer: int
    point: int
    metaparameters: dict[str, float]
    initialisation_seed: int
    stream_seed: int
    target: Target
    budget_fresh_examples: Fraction | int
    evaluate_every: Fraction | int
    stop: str
    timing: Timing | None = None

    @classmethod
    def of(cls, trial: Trial, spec: StudySpec) -> TrialJob:
        """The job of a planned trial.

        Seeds come from (study seed, repeat, point), never from the echo settings, so that conditions are
        compared on the same initial weights and the same fresh stream (common random numbers).
        """
        search, condition = trial.search, trial.search.condition
        seeded = trial.point if trial.seeded is None else trial.seeded
        identity = (spec.seed, search.repeat, seeded, *([trial.reseed] if trial.reseed else []))
        budget, every = spec.budget_of(condition)
        return cls(
            trial_id=trial.id,
            search_id=search.id,
            **asdict(condition) | {"workload": spec.workload},
            options=spec.options,
            point=trial.point,
            metaparameters=dict(trial.metaparameters),
            initialisation_seed=derived_seed("initialisation", *identity),
            stream_seed=derived_seed("stream", *identity),
            target=spec.rule,
            budget_fresh_examples=budget,
            evaluate_every=every,
            stop=spec.stop,
            timing=search.timing,
        )

    @property
    def is_adaptive(self) -> bool:
        """True if what is ready decides how often examples come again, up to the echo factor."""
        return self.timing is not None and self.timing.adaptive

    @property
    def echo(self) -> EchoSpec:
        """The pipeline's echo stage; the baseline has none."""
        from pipelines import EchoSpec

        if self.echo_factor == 1:
            return EchoSpec()
        if self.is_adaptive:
            ceiling = int(self.echo_factor)
            return EchoSpec("adaptive", self.insertion_point, self.echo_buffer, ceiling=ceiling)
        return EchoSpec(self.echo_factor, self.insertion_point, self.echo_buffer)

    def evaluation_updates(self) -> Iterator[int]:
        """The updates after which to evaluate.

        The first at or past every multiple of `evaluate_every` fresh examples below the budget, and the
        first at or past the budget itself.
        """
        last = 0
        for i in itertools.count(1):
            if (grid_point := i * self.evaluate_every) >= self.budget_fresh_examples:
                break
            updates = self._updates_for(grid_point)
            if updates > last:
                yield updates
                last = updates
        if (updates := self._updates_for(self.budget_fresh_examples)) > last:
            yield updates

    def rank_at(self, updates: int) -> Rank:
        """The rank this trial would get by reaching the target after `updates`."""
        return Rank(float(updates * self.batch_size / self.echo.ratio), updates, self.point)

    def _updates_for(self, fresh_examples: Fraction | int) -> int:
        return math.ceil(Fraction(fresh_examples) * self.echo.ratio / self.batch_size)


def jobs_to_check(plan: Plan) -> list[TrialJob]:
    """The trials whose settings a preflight checks: the first point of every repeat of the baseline."""
    firsts = [
        trial for trial in plan.trials if trial.point == 0 and trial.search.condition.is_baseline
    ] or plan.trials[:1]
    return [TrialJob.of(trial, plan.spec) for trial in firsts]
