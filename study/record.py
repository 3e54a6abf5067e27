"""What a worker reports of a trial while it runs, and what is kept of it in the end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from study.clocks import Clocks
from study.counting import Ended
from study.result import Evaluation, Outcome, Rank, Target, best_value, first_reached

if TYPE_CHECKING:
    from study.plan import Trial


@dataclass(frozen=True, slots=True)
class TrialReport:
    """A worker's word on its trial: the evaluations since the report before, and how it stands.

    `first` is the place of the first of them in the trial's curve (a trial that goes on from a checkpoint
    in another process reports its curve from the start).
    `earliest` is the rank the trial would get if it reached the target at its next evaluation, or would have
    got at the one that found it diverged. `slot_s` is
    how long the trial has held its slot, the sweep's overhead included; `warm` is False for the first trial
    of a worker process, whose slot time contains imports and the loading of the data. `log` is the traceback
    of a trial that crashed.
    """

    trial_id: str
    first: int
    evaluations: tuple[Evaluation, ...]
    outcome: Outcome | None
    earliest: Rank | None
    clocks: Clocks
    slot_s: float
    warm: bool
    error: str = ""
    paused: bool = False
    log: str = ""


@dataclass(slots=True)
class TrialRecord:
    """A trial's curve so far, and its outcome once it has one.

    `slot_s` adds up over the slots that a trial had which was laid aside in between.
    """

    trial: Trial
    target: Target
    evaluations: list[Evaluation] = field(default_factory=list)
    outcome: Outcome | None = None
    clocks: Clocks = field(default_factory=Clocks)
    slot_s: float = 0.0
    warm: bool = True
    error: str = ""
    earliest: Rank | None = None
    slots_before_s: float = 0.0

    def add(self, report: TrialReport) -> None:
        """Take in a worker's report."""
        self.evaluations[report.first :] = report.evaluations
        self.outcome = report.outcome
        self.clocks = report.clocks
        self.slot_s = self.slots_before_s + report.slot_s
        self.warm = self.warm and report.warm
        self.error = report.error
        self.earliest = report.earliest
        if report.paused:
            self.slots_before_s = self.slot_s

    @property
    def shortfall(self) -> float:
        """How far the best value so far is from the target; NaN before there is one."""
        best = best_value(self.evaluations, self.target)
        return self.target.value - best if self.target.higher_is_better else best - self.target.value

    @property
    def ended(self) -> Ended:
        """What the count rule needs to know of a trial with an outcome."""
        diverged = self.outcome is Outcome.DIVERGED
        return Ended(self.rank, self.earliest if diverged else None, at_once=not self.evaluations)

    @property
    def rank(self) -> Rank | None:
        """The trial's rank in its search; None if it has not reached the target."""
        at = first_reached(self.evaluations, self.target)
        if at is None:
            return None
        return Rank(self.evaluations[at].fresh_examples, self.evaluations[at].updates, self.trial.point)

    def final_metrics(self) -> dict[str, float]:
        """The numbers that sum up the trial; those of the target only if it was reached."""
        metrics = {
            "training_s": self.clocks.training_s,
            "input_wait_s": self.clocks.input_wait_s,
            "update_s": self.clocks.update_s,
            "evaluation_s": self.clocks.evaluation_s,
            "slot_s": self.slot_s,
            "warm": float(self.warm),
        }
        timing = self.trial.search.timing
        if timing is not None:
            metrics["source_batch_s"] = timing.R * timing.update_s
            metrics["others_s"] = self.clocks.others_s
            if self.outcome is Outcome.REACHED:
                metrics["time_to_target_s"] = self.clocks.input_wait_s + self.clocks.update_s
        if self.evaluations:
            metrics["buffer_examples"] = self.evaluations[-1].values["buffer_examples"]
            metrics[f"best_{self.target.metric}"] = best_value(self.evaluations, self.target)
        if self.outcome is Outcome.DIVERGED:
            assert self.earliest is not None, "a run reports where it was found to have diverged"
            metrics["fresh_examples_at_divergence"] = self.earliest.fresh_examples
            metrics["updates_at_divergence"] = float(self.earliest.updates)
        at = first_reached(self.evaluations, self.target)
        if at is not None:
            reached = self.evaluations[at]
            metrics["fresh_examples_to_target"] = reached.fresh_examples
            metrics["fresh_examples_before_target"] = self.evaluations[at - 1].fresh_examples if at else 0.0
            metrics["updates_to_target"] = float(reached.updates)
            metrics["examples_read_to_target"] = reached.values["examples_read"]
        return metrics
