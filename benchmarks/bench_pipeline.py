"""How fast the index engine is, beside a bare `np.take` of the very same batches.

Setting: 50,000 images of 28 x 28 bytes, e = 4 before augmentation, echo buffer 10,000, batch 128, one thread.
The bare gather is `np.take(images, ids, axis=0)` into a new array each batch, as a pipeline's are; its ids
are known in advance, and it gathers no labels. All cases of a table take turns within one process. A turn is
as many batches as the engine orders at a time, measured in CPU time of this thread, so that other processes
count only for the caches they share. Shown are medians, and quartiles of the ratio within a round of turns.

    python benchmarks/bench_pipeline.py
"""

from __future__ import annotations

import pickle
import statistics
import time
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any

import numpy as np
import torch

from pipelines import Compose, EchoSpec, Pipeline, RandomCrop, RandomFlip
from pipelines.echo import EchoStage
from pipelines.order import Order

EXAMPLES, BATCH, TURN, TURNS = 50_000, 128, 1024, 24
AUGMENTED_TURN = 128
ECHO = EchoSpec(4, "before_augmentation", 10_000)
PAD_CROP_FLIP = Compose(RandomCrop(4), RandomFlip())


def main() -> None:
    torch.set_num_threads(1)
    random = np.random.default_rng(0)
    labels = random.integers(0, 10, EXAMPLES)
    digits = random.integers(0, 256, (EXAMPLES, 28, 28), dtype=np.uint8)
    pictures = random.integers(0, 256, (EXAMPLES, 3, 32, 32), dtype=np.uint8)

    print(f"{'':44}{'us a batch':>12}{'of bare take':>14}{'quartiles':>14}")
    gathers = {
        "bare np.take, ids known in advance": bare_take(digits),
        "pipeline, arrays": pipeline((digits, labels)),
        "pipeline, tensors": pipeline((torch.from_numpy(digits), torch.from_numpy(labels))),
    }
    show_beside_the_first(turns(gathers, TURN))
    larger = {
        "bare np.take, 3 x 32 x 32": bare_take(pictures),
        "pipeline": pipeline((pictures, labels)),
    }
    show_beside_the_first(turns(larger, TURN))
    augmented = {
        "bare np.take, 3 x 32 x 32": bare_take(pictures, AUGMENTED_TURN),
        "pipeline, pad-crop and flip": pipeline((pictures, labels), AUGMENTED_TURN, augment=PAD_CROP_FLIP),
    }
    show_beside_the_first(turns(augmented, AUGMENTED_TURN))
    print()
    show_order_ledger_and_state()


def pipeline(data: Any, batches: int = TURN, **settings: Any) -> Callable[[], None]:
    """A turn of so many batches."""
    stream = Pipeline(data, batch_size=BATCH, echo=ECHO, seed=1, **settings)

    def turn() -> None:
        for _ in islice(stream, batches):
            pass

    return turn


def bare_take(images: np.ndarray, batches: int = TURN) -> Callable[[], None]:
    """The same turns, with nothing left to do but the gathering."""
    ids = np.arange(EXAMPLES)
    stream = Pipeline((ids, ids), batch_size=BATCH, echo=ECHO, seed=1)
    turns = iter([[batch.inputs for batch in islice(stream, batches)] for _ in range(TURNS + 1)])

    def turn() -> None:
        for batch in next(turns):
            np.take(images, batch, axis=0)

    return turn


def turns(cases: Mapping[str, Callable[[], None]], batches: int) -> dict[str, list[float]]:
    """Microseconds a batch of each case; all take turns, each first and after each other as often."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(TURNS + 1):
        names = list(cases)[:: 1 - 2 * (number % 2)]
        first = number // 2 % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(seconds(cases[name]) / batches * 1e6)
    return {name: seen[1:] for name, seen in times.items()}


def show_beside_the_first(times: Mapping[str, list[float]]) -> None:
    first = next(iter(times.values()))
    for name, seen in times.items():
        ratios = [bare / own for bare, own in zip(first, seen, strict=True)]
        low, _, high = statistics.quantiles(ratios, n=4)
        ratio = statistics.median(first) / statistics.median(seen)
        print(f"{name:44}{statistics.median(seen):12.1f}{ratio:14.2f}{low:8.2f}-{high:.2f}")


def show_order_ledger_and_state() -> None:
    """One line each, medians."""
    ids = np.arange(EXAMPLES)
    order = Order(EchoStage.of(ECHO, BATCH), seed=1)
    stream = Pipeline((ids, ids), batch_size=BATCH, echo=ECHO, seed=1)
    states = [stream.state_dict()]

    def ledger_after_a_turn() -> float:
        for _ in islice(stream, TURN):
            pass
        return seconds(lambda: stream.ledger)

    million = BATCH * TURN / 1e6
    lines: dict[str, Callable[[], float]] = {
        "order alone, million examples a second": lambda: million / seconds(lambda: order.next_block(TURN)),
        "ledger, million examples followed a second": lambda: million / ledger_after_a_turn(),
        "ledger asked for again, us": lambda: 1e6 * seconds(lambda: stream.ledger),
        "saving a state, us": lambda: 1e6 * seconds(lambda: states.append(stream.state_dict())),
        "restoring a state, us": lambda: 1e6 * seconds(lambda: stream.load_state_dict(states[-1])),
    }
    seen: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(TURNS):
        for name, measure in lines.items():
            seen[name].append(measure())
    for name, values in seen.items():
        print(f"{name:44}{statistics.median(values):12.1f}")
    print(f"{'size of a state, bytes':44}{len(pickle.dumps(states[-1])):12}")


def seconds(step: Callable[[], object]) -> float:
    """How much CPU time one call takes."""
    start = time.thread_time()
    step()
    return time.thread_time() - start


if __name__ == "__main__":
    main()
