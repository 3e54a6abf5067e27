"""Reading ahead: a thread prepares the next items while the last one is being used."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Generic, TypeVar

from pipelines.checks import whole_number

T = TypeVar("T")


class Prefetch(Generic[T]):
    """The items of an iterable, in order, up to `ahead` of them prepared by a thread in advance.

    The iterable is used by that thread alone, from the first `next` on. Its errors arrive here, after the
    items before them; after its end or an error, `next` asks it once more. `close()`, leaving a `with` block,
    or dropping the object ends the thread, which first finishes the item it is preparing.

    For a `Pipeline` use its own `prefetch`, which knows its state.

    Args:
        items: anything that can be iterated.
        ahead: how many items to prepare in advance, at least 1.
    """

    def __init__(self, items: Iterable[T], ahead: int = 2) -> None:
        whole_number(ahead, "Prefetch: ahead", 1, "give how many items to prepare in advance, 1 or more")
        self._items = iter(items)
        self._ahead = ahead
        self._closed = False
        self._worker: _Worker[T] | None = None
        self._thread: threading.Thread | None = None

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        if self._closed:
            raise ValueError("This Prefetch is closed; make a new one.")
        if self._worker is None:
            self._start()
        assert self._worker is not None
        item, error = self._worker.ready.get()
        if error is not None:
            self._stop()
            raise error
        self._worker.room.release()
        return item[0]

    @property
    def ready(self) -> bool:
        """Whether `next` would not have to wait. Asking starts the thread."""
        if self._worker is None and not self._closed:
            self._start()
        return self._worker is not None and not self._worker.ready.empty()

    def __enter__(self) -> Prefetch[T]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the thread. What it has prepared is lost."""
        self._closed = True
        self._stop()

    def _start(self) -> None:
        self._worker = worker = _Worker(self._items, self._ahead)
        self._thread = threading.Thread(target=worker.work, name="echostudy-prefetch", daemon=True)
        self._end = weakref.finalize(self, worker.stop)
        self._thread.start()

    def _stop(self) -> None:
        if self._thread is not None:
            self._end()
            self._thread.join()
        self._worker = self._thread = None


class _Worker(Generic[T]):
    """What the thread holds. It holds no reference to the `Prefetch`, which can thus be dropped."""

    def __init__(self, items: Iterator[T], ahead: int) -> None:
        self.room = threading.Semaphore(ahead)
        self.ready: queue.SimpleQueue[tuple[list[T], BaseException | None]] = queue.SimpleQueue()
        self._items = items
        self._stopping = False

    def work(self) -> None:
        """Put item after item, or the error there was instead of one, into the queue."""
        while True:
            self.room.acquire()
            if self._stopping:
                return
            try:
                self.ready.put(([next(self._items)], None))
            except BaseException as error:  # the consumer's to judge, whatever it is
                self.ready.put(([], error))
                return

    def stop(self) -> None:
        """Let the thread end."""
        self._stopping = True
        self.room.release()
