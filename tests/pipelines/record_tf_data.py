"""What tf.data's own echoing and shuffling do, recorded for `test_peers.py`. TensorFlow is needed here alone.

    pip install tensorflow-cpu
    python tests/pipelines/record_tf_data.py    # writes tf_data.json beside this file

The pipeline is the paper's own: `flat_map` that repeats each element, then `shuffle`, then `batch`; arXiv
1907.05550, section 2. Every number is of one run, from its first batch on; runs differ in their seed alone.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

FACTOR, BATCH, UPDATES, RUNS = 4, 128, 512, 16
BUFFERS = (0, 128, 1000, 10_000)
RECORD = Path(__file__).with_name("tf_data.json")


def statistics(buffer: int, seed: int) -> tuple[float, float]:
    """Share of duplicates within a batch, and mean updates from one emission of an example to its next."""
    return measured(tf_data_order(buffer, seed))


def tf_data_order(buffer: int, seed: int) -> np.ndarray:
    """[updates, batch] which fresh example tf.data emits when."""
    import tensorflow as tf

    fresh = tf.data.Dataset.range(UPDATES * BATCH + buffer + 1)
    stream = fresh.flat_map(lambda i: tf.data.Dataset.from_tensors(i).repeat(FACTOR))
    if buffer:
        stream = stream.shuffle(buffer, seed=seed)
    return np.stack(list(stream.batch(BATCH).take(UPDATES).as_numpy_iterator()))


def measured(order: np.ndarray) -> tuple[float, float]:
    """The two statistics, example by example."""
    duplicates, lags = 0, []
    last: dict[int, int] = {}
    for update, batch in enumerate(order.tolist()):
        for example in batch:
            if example in last:
                lags.append(update - last[example])
                duplicates += lags[-1] == 0
            last[example] = update
    return duplicates / order.size, sum(lags) / len(lags)


def main() -> None:
    import tensorflow as tf

    record = {
        "tensorflow": tf.__version__,
        "factor": FACTOR,
        "batch": BATCH,
        "updates": UPDATES,
        "buffers": {},
    }
    for buffer in BUFFERS:
        runs = [statistics(buffer, seed) for seed in range(1, RUNS + 1)]
        duplicates, lags = ([round(value, 8) for value in values] for values in zip(*runs, strict=True))
        record["buffers"][str(buffer)] = {"duplicate_share": duplicates, "mean_lag_updates": lags}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
