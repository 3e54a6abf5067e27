"""One background thread that takes entries from the journal to the store, in order."""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from study.entry import Entry
from study.errors import UserError
from study.journal import Journal, read_journal

if TYPE_CHECKING:
    from study.tracking import StudyWriter

PATIENCE_S = 600.0
"""How long the end of a run waits for a store that does not answer."""

LONGEST_PAUSE_S = 10.0


class Background:
    """Opens the writer, writes what an earlier driver left in the journal, then what is submitted.

    A store that does not answer is tried again, with a writer opened anew: what it holds by then is looked
    up, and nothing is written twice. Any other error of the store is raised on the driver, at its next call.
    `afterwards` is called with an entry once the store holds it.
    """

    def __init__(
        self,
        journal: Journal,
        open_writer: Callable[[], StudyWriter],
        patience_s: float = PATIENCE_S,
        afterwards: Callable[[Entry], None] = lambda _: None,
    ) -> None:
        self._journal = journal
        self._open_writer = open_writer
        self._patience_s = patience_s
        self._afterwards = afterwards
        self._writer: StudyWriter | None = None
        self._entries: queue.SimpleQueue[Entry | None] = queue.SimpleQueue()
        for entry in read_journal(journal.path):
            self._entries.put(entry)
        self._finished = False
        self._given_up = threading.Event()
        self._lost = False
        self._error: Exception | None = None
        self.trouble = ""
        self._thread = threading.Thread(target=self._work, name="mlflow-writer", daemon=True)
        self._thread.start()

    def submit(self, entry: Entry) -> None:
        """Have this written after all that was submitted before; it is in the journal when this returns."""
        self._journal.append(entry)
        self._entries.put(entry)

    def raise_errors(self) -> None:
        """`UserError` if the store has refused something."""
        if self._error is not None:
            raise self._not_written(str(self._error)) from self._error

    def close(self, *, finished: bool, wait: bool, say: Callable[[str], None] = lambda _: None) -> None:
        """Close the study's runs once all is written; `UserError` where that cannot be.

        Waits `patience_s` for a store that does not answer, and says so; or not at all, if not `wait`.
        """
        self._finished = finished
        self._entries.put(None)
        deadline = time.monotonic() + self._patience_s
        said = False
        while self._thread.is_alive() and not (self.trouble and (not wait or time.monotonic() > deadline)):
            self._thread.join(timeout=0.2)
            if self.trouble and wait and not said:
                say(f"Waiting for MLflow to take {self._journal.waiting} results ({self.trouble}) ...")
                said = True
        self._given_up.set()
        self._thread.join()
        self.raise_errors()

    def _work(self) -> None:
        try:
            self._do(lambda writer: None)
            while (entry := self._entries.get()) is not None:
                self._do(lambda writer, entry=entry: writer.write(entry))  # type: ignore[misc]
                self._journal.written()
                self._afterwards(entry)
            if self._lost:  # a request given up for lost may have been carried out late
                self._writer = None
            self._do(lambda writer: writer.close(finished=self._finished))
        except Exception as error:
            self._error = error

    def _do(self, act: Callable[[StudyWriter], None]) -> None:
        """Do it until the store has taken it."""
        from study.store import is_outage

        for pause in _pauses():
            try:
                self._writer = self._writer or self._open_writer()
                act(self._writer)
                self.trouble = ""
                return
            except Exception as error:
                if not is_outage(error) or self._given_up.is_set():
                    raise
                self._writer, self._lost = None, True
                self.trouble = _first_line(error)
                self._given_up.wait(pause)

    def _not_written(self, reason: str) -> UserError:
        waiting = self._journal.waiting
        kept = f"; {waiting} results wait in {self._journal.path}" if waiting else ""
        return UserError(
            f"The MLflow store has not taken all results ({_first_line(reason)}){kept}. Run the same command "
            "again once that is put right: nothing is lost."
        )


def _pauses() -> Iterator[float]:
    """Seconds between one try and the next."""
    return (min(LONGEST_PAUSE_S, 0.25 * 2**i) for i in itertools.chain(range(8), itertools.repeat(8)))


def _first_line(error: object) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
