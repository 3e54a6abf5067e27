"""The adaptive engine: a thread reads ahead, and what it has not read in time is replaced by repeats."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import count

import numpy as np

from pipelines.adaptive import AdaptiveOrder, Arrival, as_block, waiting
from pipelines.augment import augmented
from pipelines.batch import Batch, Origins
from pipelines.draws import Draws
from pipelines.exchange import Ints
from pipelines.from_source import FromSource, in_groups
from pipelines.prefetch import Prefetch
from pipelines.readers import Examples
from pipelines.rows import Rows

_GROUPS_A_BATCH = 8
_BATCHES_AHEAD = 2


class AdaptiveEngine(FromSource):
    """Batches from a reader that works in a thread, in groups of an eighth of a batch, two batches ahead.

    An example is ready once its group has been read (and augmented, if all its copies share their draws).
    A replay asks the trace rather than the thread, and waits for what must be there.

    Memory: of the elements in the echo buffer, of those that leave it in one batch, and what is read ahead.
    """

    def batches(self, order: AdaptiveOrder, ahead: int = 0) -> Iterator[Batch]:
        """See `Engine`. Always reads ahead. First reads again what was in the buffer where `order` stands."""
        stage, buffer = order.stage, order.buffer
        width, held = stage.examples_per_element, waiting(buffer)
        at_once = -(-stage.elements_per_batch // _GROUPS_A_BATCH)
        ahead = _BATCHES_AHEAD * -(-stage.elements_per_batch // at_once)
        reading = self.arriving(_to_read(held, buffer.taken, at_once, width), stage.copies_differ)
        memory = Rows(max(stage.slots, 1) + stage.elements_per_batch + at_once)
        with Prefetch(reading, ahead) as arriving:
            rows: list[int] = []
            while len(rows) < len(held):
                rows += self.keep(memory, width, next(arriving)).tolist()
            row_of = dict(zip(held.tolist(), rows, strict=True))
            buffer.marks = [row_of[element] for element in buffer.elements]
            arrival = self._arrival(memory, width, arriving)
            while True:
                oldest = int(waiting(buffer)[0]) if buffer.elements else buffer.taken
                emissions = order.next_batch(arrival)
                block = as_block(stage, emissions, oldest * width)
                ids, inputs, targets = memory.pick(np.array([emission.mark for emission in emissions]))
                memory.give_back(np.array(buffer.left, np.int64))
                buffer.left.clear()
                if self._augment is not None and stage.copies_differ:
                    draws = Draws(self._seed, block.ordinals[0], block.copies[0])
                    inputs, targets = augmented(self._augment, inputs, targets, draws)
                yield Batch(inputs, targets, Origins(block, np.asarray(ids)[None]), 0)

    def _arrival(self, memory: Rows, width: int, arriving: Prefetch[Examples]) -> Arrival:
        """Takes elements out of the groups that have been read; their marks are their rows."""
        rows: deque[int] = deque()

        def arrival(wait: bool) -> int | None:
            if not rows:
                if not (wait or arriving.ready):
                    return None
                rows.extend(self.keep(memory, width, next(arriving)).tolist())
            return rows.popleft()

        return arrival


def _to_read(held: Ints, taken: int, at_once: int, width: int) -> Iterator[Ints]:
    """The ordinals to be read: of the elements that are held, then fresh ones."""
    yield from in_groups(held, at_once, width)
    for first in count(taken, at_once):
        yield from in_groups(np.arange(first, first + at_once), at_once, width)
