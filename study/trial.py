"""One training run, an ordinary object: it knows neither Ray nor MLflow.

Loop: batches from the echo pipeline, an update each, and an evaluation on a grid of *fresh* examples
that is the same in every condition. An interrupted run goes on from its state and ends bit for bit as
an uninterrupted one on the same CPU.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pipelines import Pipeline, SourceClock
from study.clocks import Clocks, others_s
from study.execution import Execution
from study.grid import EvaluationGrid, Next
from study.job import TrialJob
from study.racing import cannot_win
from study.result import Evaluation, Outcome, Rank
from study.slow import slowed
from study.workloads.base import Workload


@dataclass
class TrialRun:
    """A training run that is under way; iterate `evaluations()` until `outcome` is set.

    `bound` is the best rank of the trial's search so far: a run that can no longer come before it stops
    as `beaten` (only under `stop: racing`; see `study.racing` for why that is exact).
    """

    job: TrialJob
    workload: Workload
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    bound: Rank | None = None
    outcome: Outcome | None = None
    clocks: Clocks = field(default_factory=Clocks)
    done: list[Evaluation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._grid = EvaluationGrid(self.job)
        self._source_clock = SourceClock()
        self._execution = Execution(self.device, self.job.options)
        torch.manual_seed(self.job.initialisation_seed)
        self._model = self._execution.model(self.workload.model())
        self._model.train()
        metaparameters = self.job.metaparameters
        self._loss = self.workload.loss_at(metaparameters)
        self._optimizer = self.workload.optimizer(self._model, metaparameters)
        self._schedule = self.workload.schedule(metaparameters)
        self._rates = [group["lr"] for group in self._optimizer.param_groups]
        data = self.workload.train_data()
        if self.job.timing is not None:
            data = slowed(data, self.job.timing, self.job.batch_size, self._source_clock)
        data = self._execution.data(data)
        self._pipeline = Pipeline(
            data,
            batch_size=self.job.batch_size,
            echo=self.job.echo,
            augment=self._execution.augmentation(self.workload.augment, data),
            seed=self.job.stream_seed,
        )
        if not isinstance(data, tuple):
            self._pipeline.prefetch()

    def evaluations(self) -> Generator[Evaluation, None, None]:
        """Train, and yield a record at every evaluation; ends when `outcome` is set.

        Threads and workers that read ahead end with the iteration.
        """
        with self._pipeline:
            while self.outcome is None and (due := self._next) is not None:
                mean_loss = self._train_until(due)
                with self.clocks.evaluating(), self._source_clock.stopped():
                    evaluation = self._evaluate(mean_loss)
                if evaluation is None:
                    self.outcome = Outcome.REACHED if self._reached else Outcome.DIVERGED
                    return
                self.done.append(evaluation)
                self.outcome = self._outcome_now()
                yield evaluation

    def rehearse(self) -> None:
        """Do one update, for what it takes and not for what it gives: the run is spoilt by it."""
        with self._pipeline:
            batch = next(iter(self._pipeline))
            self._update(0, *self._execution.batch(batch.inputs, batch.targets))

    @property
    def earliest(self) -> Rank | None:
        """The rank this run would get by reaching the target at its next evaluation; None at its end."""
        due = self._next
        return None if due is None else due.rank

    @property
    def _next(self) -> Next | None:
        """The next evaluation; None after the last."""
        return self._grid.after(*self._stands)

    @property
    def _stands(self) -> tuple[int, float]:
        """Updates and fresh examples at the last evaluation."""
        return (self.done[-1].updates, self.done[-1].fresh_examples) if self.done else (0, 0.0)

    @property
    def _reached(self) -> bool:
        target = self.job.target
        return any(target.is_reached_by(one.values[target.metric]) for one in self.done)

    def _train_until(self, due: Next) -> float:
        """Update until an evaluation is due; the mean training loss on the way (not finite if ever so)."""
        clocks, timing = self.clocks, self.job.timing
        updates, fresh = before, _ = self._stands
        total = torch.zeros((), dtype=torch.float64, device=self.device)
        batches = iter(self._pipeline)
        others = others_s() if timing else 0.0
        start = time.perf_counter()
        while not due.is_due(updates, fresh):
            batch = next(batches)
            inputs, targets = self._execution.batch(batch.inputs, batch.targets)
            if self.job.is_adaptive:
                fresh += np.count_nonzero(batch.copies == 0)
            ready = time.perf_counter()
            total += self._update(updates, inputs, targets)
            if timing:
                self._execution.finish()
            updates += 1
            end = time.perf_counter()
            clocks.input_wait_s += ready - start
            clocks.update_s += end - ready
            start = end
        if timing:
            clocks.others_s += others_s() - others
        return total.item() / (updates - before)

    def _update(self, number: int, inputs: Tensor, targets: Tensor) -> Tensor:
        """One step of the optimizer; the loss before it."""
        factor = self._schedule(number)
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = factor * rate
        self._optimizer.zero_grad(set_to_none=True)
        with self._execution.forward():
            loss = self._loss(self._model, inputs, targets)
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()
        return loss.detach()

    def _evaluate(self, mean_loss: float) -> Evaluation | None:
        """The record of this moment; None if the run has diverged."""
        if not math.isfinite(mean_loss) or not self._parameters_are_finite():
            return None
        ledger = self._pipeline.ledger
        with self._execution.forward():
            metrics = self.workload.evaluate(self._model, self.device)
        values = {
            **metrics,
            "train_loss": mean_loss,
            **ledger.as_dict(),
        }
        if skipped := ledger.skipped + self.workload.skipped:
            values["skipped"] = skipped
        return Evaluation(float(ledger.fresh_examples), ledger.updates, values)

    def _parameters_are_finite(self) -> bool:
        with torch.no_grad():
            return all(torch.isfinite(weights).all() for weights in self._model.parameters())

    def _outcome_now(self) -> Outcome | None:
        """What the last evaluation decides; None to go on."""
        if self._reached and (self.job.stop != "exhaustive" or self._next is None):
            return Outcome.REACHED
        if self.earliest is None:
            return Outcome.MISSED
        if self.job.stop == "racing" and cannot_win(self.bound, self.earliest):
            return Outcome.BEATEN
        return None

    def state_dict(self) -> dict[str, Any]:
        """All that is needed to go on from the last evaluation, loadable with `weights_only`."""
        return {
            "trial_id": self.job.trial_id,
            "model": self._model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "pipeline": self._pipeline.state_dict(),
            "random": self._execution.random_state(),
            "clocks": asdict(self.clocks),
            "evaluations": [
                {"fresh_examples": one.fresh_examples, "updates": one.updates, "values": dict(one.values)}
                for one in self.done
            ],
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a saved state of the same trial; ValueError for another trial's."""
        if state["trial_id"] != self.job.trial_id:
            raise ValueError(f"this is the state of trial {state['trial_id']}, not of {self.job.trial_id}")
        self._model.load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._pipeline.load_state_dict(state["pipeline"])
        self._execution.set_random_state(state["random"])
        self.clocks = Clocks(**state["clocks"])
        self.done = [Evaluation(**one) for one in state["evaluations"]]
