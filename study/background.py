"""One background thread that writes to the store, in order; what it raises is raised on the driver later."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from study.tracking import StudyWriter


class Background:
    """Opens the writer on its thread, and then does what is submitted, one after the other."""

    def __init__(self, open_writer: Callable[[], StudyWriter]) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mlflow-writer")
        self._writer = self._thread.submit(open_writer)
        self._written: list[Future[None]] = []

    def submit(self, write: Callable[[StudyWriter], None]) -> None:
        """Do this after all that was submitted before."""
        self._written.append(self._thread.submit(lambda: write(self._writer.result())))

    def raise_errors(self) -> None:
        """Raise what a write raised that is over by now."""
        over = [future for future in self._written if future.done()]
        self._written = [future for future in self._written if future not in over]
        for future in over:
            future.result()

    def close(self, *, raise_errors: bool) -> None:
        """Wait for all writes, and raise what one of them raised."""
        self._thread.shutdown(wait=True)
        if raise_errors:
            self.raise_errors()
