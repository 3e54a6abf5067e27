"""Reading ahead in threads, in order: for work that leaves Python's lock, such as decoding pictures."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

PER_THREAD = 8
"""Items that are begun in advance, for each thread."""


def ahead(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int
) -> Generator[Future[Result], None, None]:
    """`function(item)` for each item, in their order, up to `PER_THREAD * threads` begun in advance.

    An error of `function` is in its future and stops nothing; one of `items` arrives after the items before
    it. Closing the generator ends the threads; what has been handed out is finished, the rest is lost.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix="echostudy-ahead")
    begun: deque[Future[Result]] = deque()
    failure: Exception | None = None
    coming = iter(items)
    try:
        while True:
            try:
                begun.append(pool.submit(function, next(coming)))
            except StopIteration:
                break
            except Exception as error:
                failure = error
                break
            if len(begun) > PER_THREAD * threads:
                yield begun.popleft()
        while begun:
            yield begun.popleft()
        if failure is not None:
            raise failure
    finally:
        for future in begun:
            future.cancel()
        pool.shutdown()
