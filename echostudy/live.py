"""The live display of a running sweep: by condition what is done, running and left, and the time left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from types import TracebackType

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from echostudy.tables import status_table
from study.plan import Condition, Plan, Trial
from study.record import TrialRecord
from study.status import StudyStatus

PLAIN_LINE_EVERY_S = 10.0


class LiveDisplay:
    """An observer of a sweep. On a terminal it redraws a table; elsewhere it prints a line now and then."""

    def __init__(self, console: Console, plan: Plan, status: StudyStatus) -> None:
        self._console = console
        self._conditions = {one.condition: one for one in status.conditions}
        self._running: Counter[str] = Counter()
        self._pace_since: float | None = None
        self._ended = 0
        self._turns = 0
        self._left = status.left
        self._progress = Progress(
            TextColumn(f"[bold]{plan.spec.name}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[time_left]}"),
            console=console,
        )
        self._task = self._progress.add_task("", total=status.trials, completed=status.done, time_left="")
        self._live = Live(console=console, refresh_per_second=4, get_renderable=self._render)
        self._next_line_at = 0.0

    def started(self, trial: Trial) -> None:
        """A trial has been handed to a slot."""
        self._running[trial.search.condition.label] += 1

    def paused(self, trial: Trial) -> None:
        """A trial has left its slot and waits for its next turn."""
        self._running[trial.search.condition.label] -= 1
        self._turns += 1
        self._print_line_if_due()

    def added(self, trials: Collection[Trial]) -> None:
        """Trials have come to the plan, to make up for diverged ones."""
        self._left += len(trials)
        for trial in trials:
            before = self._conditions[trial.search.condition]
            self._conditions[trial.search.condition] = replace(before, trials=before.trials + 1)
        total = sum(one.trials for one in self._conditions.values())
        self._progress.update(self._task, total=total)

    def ended(self, record: TrialRecord) -> None:
        """A trial has its outcome."""
        assert record.outcome is not None
        condition = record.trial.search.condition
        self._running[condition.label] -= 1
        self._count(condition, record)
        self._ended += 1
        self._pace_since = self._pace_since or time.monotonic()
        self._left -= record.outcome.is_result
        self._progress.update(self._task, advance=int(record.outcome.is_result), time_left=self._time_left())
        self._print_line_if_due()

    def noticed(self, sentence: str) -> None:
        """Something a person should know."""
        self._console.print(sentence, soft_wrap=True, markup=False, highlight=False)

    def _print_line_if_due(self) -> None:
        if not self._console.is_terminal and time.monotonic() >= self._next_line_at:
            self._print_line()

    def _count(self, condition: Condition, record: TrialRecord) -> None:
        assert record.outcome is not None
        before = self._conditions[condition]
        outcomes = dict(before.outcomes)
        outcomes[record.outcome] = outcomes.get(record.outcome, 0) + 1
        best = before.best_fresh_examples
        if record.rank is not None:
            best = record.rank.fresh_examples if best is None else min(best, record.rank.fresh_examples)
        self._conditions[condition] = replace(
            before, done=before.done + record.outcome.is_result, outcomes=outcomes, best_fresh_examples=best
        )

    def _time_left(self) -> str:
        """At the pace since the first trial ended: starting the processes says nothing of the others."""
        if self._pace_since is None or self._ended < 2:
            return "time left unknown yet"
        seconds = round((time.monotonic() - self._pace_since) / (self._ended - 1) * self._left)
        return f"about {seconds // 60} min {seconds % 60:02d} s left"

    def _render(self) -> Group:
        return Group(self._progress, status_table(self._conditions.values(), self._running))

    def _print_line(self) -> None:
        done = sum(one.done for one in self._conditions.values())
        self._console.print(
            f"{done} of {done + self._left} trials done after {self._turns + self._ended} turns, "
            f"{self._time_left()}",
            highlight=False,
        )
        self._next_line_at = time.monotonic() + PLAIN_LINE_EVERY_S

    def __enter__(self) -> LiveDisplay:
        if self._console.is_terminal:
            self._live.start()
        elif self._left:
            self._console.print(f"Starting {self._left} trials ...", highlight=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
