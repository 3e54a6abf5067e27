"""What a wrapper adds to a batch: `echo_batches` around ready-made batches, and around a DataLoader.

Setting: batches of 128 images of 28 x 28 bytes and their labels, e = 4, 10 batches of buffer, one thread.
Ready batches cost nothing, so that what is left is the wrapper; its promise is less than 20 microseconds a
batch. All cases take turns within one process, and medians are shown.

    python benchmarks/bench_wrappers.py
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset

from pipelines import echo_batches, echo_examples

BATCHES, BATCH, FACTOR, TURNS = 500, 128, 4, 8


def main() -> None:
    torch.set_num_threads(1)
    images = torch.randint(0, 256, (BATCHES * BATCH, 28, 28), dtype=torch.uint8)
    labels = torch.randint(0, 10, (BATCHES * BATCH,))
    loader = DataLoader(TensorDataset(images[:6400], labels[:6400]), batch_size=BATCH)
    ready = [list(pair) for pair in zip(images.split(BATCH), labels.split(BATCH), strict=True)]
    named: list[Any] = [{"image": image, "label": label} for image, label in ready]
    cases: dict[str, tuple[Iterable[Any], str]] = {
        "ready batches, bare": (ready, ""),
        "echo_batches, no buffer": (echo_batches(ready, FACTOR), ""),
        "echo_batches, 10 batches of buffer": (echo_batches(ready, FACTOR, 10), ""),
        "echo_batches, dicts": (echo_batches(named, FACTOR, 10), ""),
        "echo_batches, copy=True": (echo_batches(ready, FACTOR, 10, copy=True), "100 kB copied a batch"),
        "echo_batches, factor 1": (echo_batches(ready, 1), ""),
        "DataLoader, bare": (loader, "a fresh batch"),
        "DataLoader, echo_batches": (echo_batches(loader, FACTOR, 10), "1 fresh batch in 4"),
        "echo_examples, buffer 10,000": (echo_examples(labels, FACTOR, 10_000), "a single example"),
    }
    print(f"{'':40}{'us each':>10}")
    for name, microseconds in median_turns({name: case for name, (case, _) in cases.items()}).items():
        print(f"{name:40}{microseconds:10.1f}   {cases[name][1]}".rstrip())


def median_turns(cases: dict[str, Iterable[Any]]) -> dict[str, float]:
    """Median microseconds an element of one whole pass."""
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(TURNS):
        for name, elements in cases.items():
            times[name].append(seconds_each(elements) * 1e6)
    return {name: statistics.median(seen[1:]) for name, seen in times.items()}


def seconds_each(elements: Iterable[Any], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    number = sum(1 for _ in elements)
    return (clock() - start) / number


if __name__ == "__main__":
    main()
