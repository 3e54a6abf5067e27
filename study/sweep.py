"""A sweep's state on the driver: what waits, what each trial has reported, the race, the store.

Nothing here knows of Ray: `study.tune` connects it to Ray Tune.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from study.background import PATIENCE_S, Background
from study.counting import Ended, points_missing
from study.entry import Entry, search_entry, trial_entry
from study.errors import UserError
from study.folder import ResultsFolder
from study.journal import Journal
from study.memory import ADVICE, is_out_of_memory
from study.plan import Plan, Search, Trial
from study.queue import TrialQueue
from study.racing import Race, cannot_win
from study.record import TrialRecord, TrialReport
from study.result import Outcome
from study.storage import checkpoint_name
from study.stored import StoredTrial, has_result
from study.topup import ended_of, more_trials
from study.workloads.reference import source_digest

if TYPE_CHECKING:
    from study.tracking import StudyWriter

TRIES = 3
"""How often a trial may crash in one run before it is given up: once, and two more."""

FEW = 5
"""Trials that must have ended before their crashed share stops a run."""


def _in_rungs(plan: Plan) -> bool:
    """True if trials may be laid aside: what is timed runs through, and TPE learns from whole trials."""
    is_timed = any(search.timing is not None for search in plan.searches)
    return plan.spec.stop == "racing" and plan.spec.search.sampler != "tpe" and not is_timed


class LimitError(Exception):
    """A limit of the study has ended the run before its plan; `run` goes on from what has ended."""


class Observer(Protocol):
    """Told of a sweep's progress, on the driver's main thread; the command line's display is one."""

    def started(self, trial: Trial) -> None:
        """A trial has been handed to a slot."""

    def paused(self, trial: Trial) -> None:
        """A trial has left its slot and waits for its next turn."""

    def ended(self, record: TrialRecord) -> None:
        """A trial has its outcome."""

    def added(self, trials: Collection[Trial]) -> None:
        """Trials have come to the plan, to make up for diverged ones."""

    def noticed(self, sentence: str) -> None:
        """Something a person should know."""


class Chooser(Protocol):
    """Chooses the points of an adaptive search (`study.adaptive`)."""

    def ask(self, trial: Trial) -> Trial:
        """The trial with its metaparameters."""

    def tell(self, record: TrialRecord) -> None:
        """How it ended."""


class Sweep:
    """Results go to the journal as trials end, and from there to the store by a background thread, in order.

    That order is what makes racing safe across a crash of the driver: the result that beats a trial is
    known before the beaten trial is. As a context manager it closes the study's runs, also when the
    sweep is interrupted; an error of the store stops the sweep.

    `stored` is what the store knew of the trials before; `open_writer` is called on the writing thread, while
    the first trials start. `only` are the trials to run, where not all without a result are meant. `chooser`
    gives an adaptive search its points. At the end, a store that does not answer is waited for `patience_s`.
    """

    def __init__(
        self,
        plan: Plan,
        stored: Mapping[str, StoredTrial],
        open_writer: Callable[[], StudyWriter],
        results: ResultsFolder,
        observer: Observer,
        only: Collection[str] | None = None,
        chooser: Chooser | None = None,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self.plan = plan
        self._chooser = chooser
        self.race = Race()
        self.folder = results.study(plan.spec.name)
        self.storage = results.storage(plan.spec.name)
        self.stop_reason = ""
        self._queue = TrialQueue(plan, rungs=_in_rungs(plan))
        self._searches = {search.id: search for search in plan.searches}
        self._ended: dict[str, list[Ended]] = {search.id: [] for search in plan.searches}
        self._left: Counter[str] = Counter()
        self._open_searches: dict[str, Search] = {}
        self._records: dict[str, TrialRecord] = {}
        self._crashes: Counter[str] = Counter()
        self._over: Counter[bool] = Counter()
        self._began = time.monotonic()
        self._observer = observer
        self._workload_source = source_digest(plan.spec.workload)
        self._replaces = only is not None
        journal = Journal(results.journal(plan.spec.name))
        self._writer = Background(journal, open_writer, patience_s, self._forget)
        for trial in plan.in_running_order():
            known = stored.get(trial.id)
            if known is not None and known.rank:
                self.race.record(trial.search.id, known.rank)
            if known is not None and has_result(known):
                self._ended[trial.search.id].append(ended_of(known))
            elif only is None or trial.id in only:
                self._queue.add(trial)
                self._left[trial.search.id] += 1

    @property
    def is_over(self) -> bool:
        """True if nothing is left to run."""
        return not self._left.total()

    def next(self) -> tuple[Trial, int | None] | None:
        """Hand the next trial to a slot, with the number of evaluations after which to lay it aside.

        None if none waits at the moment. A trial that was beaten while it waited ends here.
        """
        while (turn := self._queue.take()) is not None:
            trial, until = turn
            record = self._records.get(trial.id)
            self._observer.started(trial)
            if record is not None and self._is_beaten(record):
                record.outcome = Outcome.BEATEN
                self._end(record)
                continue
            if self._chooser is not None:
                trial = self._chooser.ask(trial)
            self._open_searches[trial.search.id] = trial.search
            self._records.setdefault(trial.id, TrialRecord(trial, self.plan.spec.rule))
            return trial, until
        return None

    def is_beaten(self, report: TrialReport) -> bool:
        """True if the reported trial can no longer be its search's result."""
        record = self._records[report.trial_id]
        return self._is_beaten(replace(record, earliest=report.earliest))

    def add(self, report: TrialReport, *, stopped: bool) -> None:
        """Take in a report; `stopped` if the trial ends with it because it is beaten."""
        record = self._records[report.trial_id]
        record.add(report)
        if record.rank is not None:
            self.race.record(record.trial.search.id, record.rank)
        if stopped:
            record.outcome = Outcome.BEATEN
        if report.log:
            self._write_log(report)
        if record.outcome is not None:
            if record.outcome.is_result:
                self._end(record)
            else:
                self._crashed(record)
        elif report.paused:
            self._queue.add(record.trial, len(record.evaluations), record.shortfall)
            self._observer.paused(record.trial)
        self._stop_at_a_limit()

    def crash(self, trial_id: str, error: str) -> None:
        """A trial's process died."""
        record = self._records.get(trial_id)
        if record is not None:
            short = is_out_of_memory(error)
            record.outcome = Outcome.OUT_OF_MEMORY if short else Outcome.CRASHED
            record.error = f"{error}; {ADVICE}" if short else error
            self._crashed(record)
            self._stop_at_a_limit()

    def lost(self, trial_id: str) -> None:
        """A trial's node is gone, which is not its fault: it goes on elsewhere, from its checkpoint."""
        record = self._records.pop(trial_id, None)
        if record is not None:
            self._queue.add(record.trial)
            self._observer.paused(record.trial)

    def _is_beaten(self, record: TrialRecord) -> bool:
        if self.plan.spec.stop != "racing" or record.earliest is None:
            return False
        return cannot_win(self.race.best(record.trial.search.id), record.earliest)

    def _crashed(self, record: TrialRecord) -> None:
        """Try once more, from the trial's checkpoint if it has one; or give the trial up for this run."""
        trial = record.trial
        self._crashes[trial.id] += 1
        if self._crashes[trial.id] < TRIES:
            del self._records[trial.id]
            self._queue.add(trial)
            self._observer.paused(trial)
        else:
            self._end(record)

    def _write_log(self, report: TrialReport) -> None:
        """Keep the traceback of a crashed trial; `TrialRecord.error` is its last line."""
        log = self.folder / "logs" / f"{report.trial_id}.log"
        log.parent.mkdir(exist_ok=True)
        log.write_text(report.log, encoding="utf-8")

    def _end(self, record: TrialRecord) -> None:
        """Write an outcome, and the search with it once all of its trials have one."""
        assert record.outcome is not None
        self._writer.raise_errors()
        trial = record.trial
        search = trial.search
        del self._records[trial.id]
        crashed = not record.outcome.is_result
        self._over[crashed] += 1
        self._left[search.id] -= 1
        self._submit_trial(record)
        if self._chooser is not None:
            self._chooser.tell(record)
        if not crashed:
            self._ended[search.id].append(record.ended)
            if self._left[search.id] == 0:
                self._top_up(search.id)
        if self._left[search.id] == 0 and len(self._ended[search.id]) >= self._searches[search.id].points:
            self._submit_search(self._open_searches.pop(search.id), finished=True)
        self._observer.ended(record)

    def _top_up(self, search_id: str) -> None:
        """Make up for diverged trials, where the study counts the others alone."""
        search, spec = self._searches[search_id], self.plan.spec
        if spec.search.count != "non_divergent" or len(self._ended[search_id]) < search.points:
            return
        missing = points_missing(self._ended[search_id], spec.search.points)
        total = sum(one.points for one in self._searches.values())
        if not missing or (spec.limits.trials is not None and total + missing > spec.limits.trials):
            return
        trials = more_trials(self.plan, search, missing)
        self._searches[search_id] = replace(search, points=search.points + missing)
        self._left[search_id] += missing
        for trial in trials:
            self._queue.add(trial)
        self._observer.added(trials)

    def _stop_at_a_limit(self) -> None:
        """Raise `LimitError` where the study says that a run is to end."""
        limits, over = self.plan.spec.limits, self._over.total()
        hours = (time.monotonic() - self._began) / 3600
        if limits.hours is not None and hours > limits.hours:
            self.stop_reason = f"limits.hours ({limits.hours:g}) are over"
        elif over >= FEW and self._over[True] > limits.crashed_share * over:
            self.stop_reason = (
                f"{self._over[True]} of {over} trials crashed at each of {TRIES} tries, "
                f"more than limits.crashed_share ({limits.crashed_share:g}) allows"
            )
        if self.stop_reason:
            raise LimitError(self.stop_reason)

    def _submit_trial(self, record: TrialRecord) -> None:
        self._writer.submit(trial_entry(record, self._workload_source, replaces=self._replaces))

    def _forget(self, entry: Entry) -> None:
        """What the store holds needs no checkpoint any more. One that stays behind only takes room."""
        if entry.trial_id is not None:
            with suppress(OSError):
                self.storage.remove(checkpoint_name(entry.trial_id))

    def _submit_search(self, search: Search, *, finished: bool) -> None:
        self._writer.submit(search_entry(search, self.race.best(search.id), finished=finished))

    def __getstate__(self) -> dict[str, object]:
        """Nothing: Tune pickles all it is given, to restore an experiment; ours is rebuilt from the plan."""
        return {}

    def __enter__(self) -> Sweep:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        broken = kind is not None
        with suppress(UserError) if broken else nullcontext():  # the first error is the one to tell
            try:
                for search in self._open_searches.values():
                    self._submit_search(search, finished=False)
            finally:
                complete = all(len(self._ended[one.id]) >= one.points for one in self._searches.values())
                self._writer.close(
                    finished=complete and not broken, wait=not broken, say=self._observer.noticed
                )
            if complete:
                with suppress(OSError):
                    self.storage.clear()
