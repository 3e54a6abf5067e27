"""What each stage of a `Pipeline` takes, and what the stages before each insertion point take together."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from pipelines.augment import Augmentation, augmented
from pipelines.batch import Batch
from pipelines.checks import real_number
from pipelines.draws import Draws
from pipelines.echo import INSERTION_POINTS
from pipelines.pipeline import Data, Pipeline
from pipelines.profile import SECONDS, Profile, at_work, measured_bytes
from pipelines.rows import Rows
from pipelines.sources import MapSource, Pair, SourceError, StreamSource, stack
from pipelines.stopwatch import LEAST_BATCHES, Durations, durations, finish, repeated

_AHEAD = 2
"""Batches that are prepared in advance where a source and the update work together, as in training."""

_DRAWN_AT_ONCE = 8192
"""Examples whose draws are computed at a time, about."""

_NOTHING = Durations(np.zeros(1))


def profile_pipeline(
    data: Data,
    update: Callable[[Any, Any], Any],
    *,
    batch_size: int,
    augment: Augmentation | None = None,
    transfer: Callable[[Any, Any], Pair] | None = None,
    seed: int = 0,
    seconds: float = SECONDS,
) -> Profile:
    """Measure a `Pipeline` of these and the training on its batches, stage by stage, without echoing.

    Takes some 7 times `seconds`. Data in memory are gathered in whole batches, which is the stage `batch`; to
    read there is nothing. Of a source, `batch` is what the echo stage takes to put a batch together out of
    what it keeps. What a source does in threads or processes of its own counts by the pace it arrives at.

    Args:
        data: as for `Pipeline`.
        update: called with inputs and targets on the device; trains on them.
        batch_size: as for `Pipeline`.
        augment: as for `Pipeline`.
        transfer: called with inputs and targets of a batch; gives them on the device.
        seed: as for `Pipeline`.
        seconds: what each part is timed for.

    Raises:
        ValueError: these make no pipeline. Errors of the source and of the functions pass through.
    """
    real_number(seconds, "profile_pipeline: seconds", 1e-3, "give seconds, more than 0")

    def pipeline(by: Augmentation | None) -> Pipeline:
        return Pipeline(data, batch_size=batch_size, augment=by, seed=seed)

    with pipeline(None) as batches:
        read_pair = _pair(next(batches))
        read = durations(batches, seconds)
    pair, augmenting, whole = read_pair, _NOTHING, read
    if augment is not None:
        augmented_pairs = _augmented(augment, read_pair, seed)
        pair = next(augmented_pairs)
        augmenting = durations(augmented_pairs, seconds)
        with pipeline(augment) as batches:
            whole = durations(batches, seconds)
    placed = pair if transfer is None else transfer(*pair)
    moving = _NOTHING
    if transfer is not None:
        moving = durations(repeated(lambda given: transfer(*given), [pair]), seconds / 2)
    updating = durations(repeated(lambda given: update(*given), [placed]), seconds)

    def train_on(batch: Batch) -> None:
        inputs, targets = _pair(batch)
        update(*((inputs, targets) if transfer is None else transfer(inputs, targets)))

    if isinstance(data, tuple):
        stages, batching, upstream = {}, read, (_NOTHING, augmenting, whole)
    else:
        stages, batching = _reading(data, read, batch_size, seed, seconds), _picking(read_pair, seconds / 2)
        upstream = (read, whole, whole)
    ahead = 0 if isinstance(data, tuple) else _AHEAD
    with pipeline(augment).prefetch(ahead) as batches:
        together = at_work(batches, train_on, seconds)
    named = {"augment": augmenting, "batch": batching, "transfer": moving, "update": updating}
    stages |= {name: one for name, one in named.items() if one is not _NOTHING}
    sizes = [measured_bytes(one)[1] // batch_size for one in (read_pair, pair, pair)]
    host = (augmenting.mean + batching.mean, batching.mean, 0.0)
    length = len(data[0]) if isinstance(data, tuple) else getattr(data, "examples", None)
    return Profile(
        batch_size=batch_size,
        examples=length if isinstance(length, int) else None,
        example_bytes=dict(zip(INSERTION_POINTS, sizes, strict=True)),
        stages=stages,
        upstream=dict(zip(INSERTION_POINTS, upstream, strict=True)),
        host=dict(zip(INSERTION_POINTS, host, strict=True)),
        device=Durations(updating.seconds + moving.mean),
        together=together,
    )


def _reading(
    data: MapSource | StreamSource, read: Durations, batch_size: int, seed: int, seconds: float
) -> dict[str, Durations]:
    """The stages of a source: reading, and decoding where it can be told apart."""
    if isinstance(data, MapSource):
        return {"read": read}
    kept: deque[list[Callable[[], Pair]]] = deque(maxlen=LEAST_BATCHES)
    alone = durations(_undecoded(data, batch_size, seed, kept), seconds)
    took = []
    for gives in kept:
        start = time.perf_counter()
        _decoded(gives, skip=data.skips_damage)
        took.append(time.perf_counter() - start)
    return {"read": alone, "decode": Durations(np.array(took[1:]))}


def _undecoded(
    data: StreamSource, batch_size: int, seed: int, kept: deque[list[Callable[[], Pair]]]
) -> Iterator[None]:
    """Batches of examples that are read and not decoded; the last ones are kept."""
    gives = (give for number in count() for _, give in data.read_pass(number, seed, 0, 1))
    while True:
        kept.append(list(islice(gives, batch_size)))
        yield


def _decoded(gives: list[Callable[[], Pair]], *, skip: bool) -> None:
    examples = []
    for give in gives:
        try:
            examples.append(give())
        except SourceError:
            if not skip:
                raise
    stack(examples)


def _augmented(augment: Augmentation, pair: Pair, seed: int) -> Iterator[Pair]:
    """The augmentation of a batch, over and over, with new draws as in a pipeline: many at a time."""
    size = len(pair[0])
    block = size * max(1, _DRAWN_AT_ONCE // size)
    for first in count(0, block):
        draws = Draws(seed, np.arange(first, first + block), np.zeros(block, np.int64))
        for start in range(0, block, size):
            made = augmented(augment, *pair, draws.rows(slice(start, start + size)))
            finish()
            yield made


def _picking(pair: Pair, seconds: float) -> Durations:
    """Putting batches together out of an echo stage's memory."""
    examples = len(pair[0])
    memory = Rows(examples)
    rows = memory.add(pair, examples)
    return durations(repeated(memory.pick, [rows]), seconds)


def _pair(batch: Batch) -> Pair:
    return batch.inputs, batch.targets
