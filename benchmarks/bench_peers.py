"""The same echoing job, done by us and by other libraries: those that are installed, see extra `peers`.

Job: 50,000 images of 28 x 28 bytes in memory, each emitted 4 times, behind a shuffle buffer of 10,000, in
batches of 128. One thread of ours; the others are left to do as they like. All take turns within one process
and medians are shown; ratios are what counts. The last column says whether it is the same job: the share of
examples that are in their batch already, which doubles where copies are shuffled in windows, not by tf.data's
buffer.

    pip install -e .[peers]
    python benchmarks/bench_peers.py
"""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import count, islice

import numpy as np
import torch

from pipelines import EchoSpec, Pipeline, echo_examples

EXAMPLES, FACTOR, BUFFER, BATCH = 50_000, 4, 10_000, 128
TURN, TURNS = 235, 7
Batches = Iterator[np.ndarray]


def main() -> None:
    torch.set_num_threads(1)
    images = numbered_images()
    cases: dict[str, tuple[str, Callable[[np.ndarray], Batches]]] = {
        "bare np.take, order known": ("", bare_take),
        "Pipeline": ("", pipeline),
        "echo_examples": ("", wrapper),
        "tf.data": ("tensorflow", tf_data),
        "tf.data on indices, np.take": ("tensorflow", tf_data_on_indices),
        "WebDataset": ("webdataset", web_dataset),
        "Grain, window shuffle": ("grain", grain_windows),
        "torchdata nodes, echo_examples": ("torchdata", torchdata_nodes),
    }
    missing = sorted({needs for needs, _ in cases.values() if needs and not importlib.util.find_spec(needs)})
    streams = {name: make(images) for name, (needs, make) in cases.items() if needs not in missing}
    times: dict[str, list[float]] = {name: [] for name in streams}
    repeated: dict[str, list[float]] = {name: [] for name in streams}
    for _ in range(TURNS):
        for name, stream in streams.items():
            start = time.perf_counter()
            batches = list(islice(stream, TURN))
            times[name].append((time.perf_counter() - start) / TURN * 1e6)
            repeated[name] += map(share_of_duplicates, batches)
    medians = {name: statistics.median(seen[1:]) for name, seen in times.items()}
    bare = next(iter(medians.values()))
    print(f"{'':34}{'us a batch':>12}{'of bare take':>14}{'duplicates':>12}")
    for name, median in medians.items():
        print(f"{name:34}{median:12.1f}{bare / median:14.4f}{statistics.mean(repeated[name]):12.4f}")
    for name in missing:
        print(f"{name}: not installed, left out")


def numbered_images() -> np.ndarray:
    """Random images whose first four bytes are their number."""
    images = np.random.default_rng(0).integers(0, 256, (EXAMPLES, 28, 28), dtype=np.uint8)
    images[:, 0, :4] = np.arange(EXAMPLES, dtype="<u4").view(np.uint8).reshape(-1, 4)
    return images


def share_of_duplicates(batch: np.ndarray) -> float:
    numbers = np.ascontiguousarray(batch[:, 0, :4]).view("<u4")
    return 1 - len(np.unique(numbers)) / len(batch)


def our_order() -> Iterator[np.ndarray]:
    ids = np.arange(EXAMPLES)
    return (batch.inputs for batch in Pipeline((ids, ids), batch_size=BATCH, echo=echo(), seed=1))


def echo() -> EchoSpec:
    return EchoSpec(FACTOR, "before_augmentation", BUFFER)


def bare_take(images: np.ndarray) -> Batches:
    order = list(islice(our_order(), TURN * TURNS))
    return (np.take(images, ids, axis=0) for ids in order)


def pipeline(images: np.ndarray) -> Batches:
    ids = np.arange(EXAMPLES)
    return (batch.inputs for batch in Pipeline((images, ids), batch_size=BATCH, echo=echo(), seed=1))


def endless(images: np.ndarray) -> Iterator[np.ndarray]:
    """The images in a new order each pass."""
    random = np.random.default_rng(0)
    return (images[i] for _ in count() for i in random.permutation(EXAMPLES))


def wrapper(images: np.ndarray) -> Batches:
    echoed = iter(echo_examples(endless(images), FACTOR, BUFFER))
    return (np.stack(list(islice(echoed, BATCH))) for _ in count())


def tf_data(images: np.ndarray) -> Batches:
    import tensorflow as tf

    fresh = tf.data.Dataset.from_tensor_slices(
        images[np.random.default_rng(0).permutation(EXAMPLES)]
    ).repeat()
    echoed = fresh.flat_map(lambda image: tf.data.Dataset.from_tensors(image).repeat(FACTOR))
    return echoed.shuffle(BUFFER, seed=1).batch(BATCH).as_numpy_iterator()


def tf_data_on_indices(images: np.ndarray) -> Batches:
    """TensorFlow for the order alone."""
    import tensorflow as tf

    fresh = tf.data.Dataset.from_tensor_slices(np.random.default_rng(0).permutation(EXAMPLES)).repeat()
    echoed = fresh.flat_map(lambda i: tf.data.Dataset.from_tensors(i).repeat(FACTOR))
    order = echoed.shuffle(BUFFER, seed=1).batch(BATCH).as_numpy_iterator()
    return (np.take(images, ids, axis=0) for ids in order)


def web_dataset(images: np.ndarray) -> Batches:
    import webdataset

    def echoed() -> Iterator[tuple[np.ndarray]]:
        return ((image,) for image in endless(images) for _ in range(FACTOR))

    stages = webdataset.shuffle(BUFFER, initial=BUFFER), webdataset.batched(BATCH)
    return (batch for (batch,) in webdataset.DataPipeline(echoed, *stages))


def grain_windows(images: np.ndarray) -> Batches:
    import grain
    from grain import experimental

    class Repeat(experimental.FlatMapTransform):
        max_fan_out = FACTOR

        def flat_map(self, element: np.ndarray) -> list[np.ndarray]:
            return [element] * FACTOR

    fresh = grain.MapDataset.source(images).shuffle(seed=0).repeat().to_iter_dataset()
    echoed = experimental.FlatMapIterDataset(fresh, Repeat())
    shuffled = experimental.WindowShuffleIterDataset(echoed, window_size=BUFFER, seed=1)
    return iter(shuffled.batch(BATCH))


def torchdata_nodes(images: np.ndarray) -> Batches:
    """Its nodes read and batch; as there is no shuffle buffer among them, our wrapper echoes between."""
    from torchdata.nodes import Batcher, IterableWrapper, Loader, Mapper

    reading = Loader(IterableWrapper(endless(images)))
    echoed = IterableWrapper(echo_examples(reading, FACTOR, BUFFER))
    return iter(Loader(Mapper(Batcher(echoed, BATCH), np.stack)))


if __name__ == "__main__":
    main()
