"""A sweep's state on the driver: what waits, what each trial has reported, the race, the store.

Nothing here knows of Ray: `study.tune` connects it to Ray Tune.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from study.folder import ResultsFolder, checkpoint_file
from study.plan import Plan, Search, Trial
from study.racing import Race, cannot_win
from study.record import TrialRecord, TrialReport
from study.result import Outcome
from study.stored import StoredTrial, has_result

if TYPE_CHECKING:
    from study.tracking import StudyWriter


class Observer(Protocol):
    """Told of a sweep's progress, on the driver's main thread; the command line's display is one."""

    def started(self, trial: Trial) -> None:
        """A trial has been handed to a slot."""

    def ended(self, record: TrialRecord) -> None:
        """A trial has its outcome."""


class Sweep:
    """Runs are written by one background thread, in the order in which trials end, off their critical path.

    That order is what makes racing safe across a crash of the driver: the result that beats a trial is in
    the store before the beaten trial is. As a context manager it closes the study's runs, also when the
    sweep is interrupted; an error of the store stops the sweep.

    `stored` is what the store knew of the trials before; `open_writer` is called on the writing thread, while
    the first trials start.
    """

    def __init__(
        self,
        plan: Plan,
        stored: Mapping[str, StoredTrial],
        open_writer: Callable[[], StudyWriter],
        results: ResultsFolder,
        observer: Observer,
    ) -> None:
        self.plan = plan
        self.race = Race()
        self.waiting = [trial for trial in plan.in_running_order() if not has_result(stored.get(trial.id))]
        self.folder = results.study(plan.spec.name)
        self._left = Counter(trial.search.id for trial in self.waiting)
        self._open_searches: dict[str, Search] = {}
        self._records: dict[str, TrialRecord] = {}
        self._observer = observer
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mlflow-writer")
        self._writer = self._thread.submit(open_writer)
        self._written: list[Future[None]] = []
        for trial in plan.trials:
            known = stored.get(trial.id)
            if known and known.rank:
                self.race.record(trial.search.id, known.rank)

    def start(self, trial: Trial) -> None:
        """A trial is handed to a slot."""
        self._open_searches[trial.search.id] = trial.search
        self._records[trial.id] = TrialRecord(trial, self.plan.spec.rule)
        self._observer.started(trial)

    def is_beaten(self, report: TrialReport) -> bool:
        """True if the reported trial can no longer be its search's result."""
        if self.plan.spec.stop != "racing" or report.earliest is None:
            return False
        search = self._records[report.trial_id].trial.search
        return cannot_win(self.race.best(search.id), report.earliest)

    def add(self, report: TrialReport, *, stopped: bool) -> None:
        """Take in a report; `stopped` if the trial ends with it because it is beaten."""
        record = self._records[report.trial_id]
        record.add(report)
        if record.rank is not None:
            self.race.record(record.trial.search.id, record.rank)
        if stopped:
            record.outcome = Outcome.BEATEN
        if record.outcome is not None:
            self._end(record)

    def crash(self, trial_id: str, error: str) -> None:
        """A trial's process died."""
        record = self._records.get(trial_id)
        if record is not None:
            record.outcome, record.error = Outcome.CRASHED, error
            self._end(record)

    def _end(self, record: TrialRecord) -> None:
        self._raise_store_errors(wait=False)
        trial = record.trial
        del self._records[trial.id]
        self._submit_trial(record)
        if record.outcome is not Outcome.CRASHED:
            self._left[trial.search.id] -= 1
        if self._left[trial.search.id] == 0:
            self._submit_search(self._open_searches.pop(trial.search.id), finished=True)
        self._observer.ended(record)

    def _submit_trial(self, record: TrialRecord) -> None:
        def write() -> None:
            self._writer.result().write_trial(record)
            checkpoint_file(self.folder, record.trial.id).unlink(missing_ok=True)

        self._written.append(self._thread.submit(write))

    def _submit_search(self, search: Search, *, finished: bool) -> None:
        best = self.race.best(search.id)

        def write() -> None:
            self._writer.result().write_search(search, best, finished=finished)

        self._written.append(self._thread.submit(write))

    def _raise_store_errors(self, *, wait: bool) -> None:
        """Raise what a finished write raised; with `wait`, of all writes."""
        settled = [future for future in self._written if wait or future.done()]
        self._written = [future for future in self._written if future not in settled]
        for future in settled:
            future.result()

    def __getstate__(self) -> dict[str, object]:
        """Nothing: Tune pickles all it is given, to restore an experiment; ours is rebuilt from the plan."""
        return {}

    def __enter__(self) -> Sweep:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for search in self._open_searches.values():
            self._submit_search(search, finished=False)
        finished = kind is None and not self._open_searches and sum(self._left.values()) == 0
        self._written.append(self._thread.submit(lambda: self._writer.result().close(finished=finished)))
        self._thread.shutdown(wait=True)
        if kind is None:
            self._raise_store_errors(wait=True)
