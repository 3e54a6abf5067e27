"""What the streaming engine costs beside bare reading: a DataLoader, a tar, with and without the pipeline.

Setting: examples of 3 x 64 x 64 bytes, batch 128, echo buffer 1,000; one thread, reading in this process. All
cases take turns within one process, and medians are shown. The last two columns are ratios to the first line
of a table: examples handed out a second, and fresh examples read a second.

    python benchmarks/bench_streaming.py
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import count, cycle, islice
from pathlib import Path
from tarfile import TarFile, TarInfo
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset, default_collate

from pipelines import DatasetSource, EchoSpec, Pipeline, TarSource
from pipelines.sources import MapSource, StreamSource
from pipelines.tars import examples_in

EXAMPLES, BATCH, TURN, TURNS = 4096, 128, 16, 24
SHAPE = (3, 64, 64)


def main() -> None:
    torch.set_num_threads(1)
    images = torch.from_numpy(np.random.default_rng(0).integers(0, 256, (EXAMPLES, *SHAPE), dtype=np.uint8))
    dataset = TensorDataset(images, torch.arange(EXAMPLES))
    print(f"{'':44}{'us an example':>14}{'handed out':>12}{'fresh':>8}")
    show("bare DataLoader", bare_loader(dataset), DatasetSource(dataset))
    with tempfile.TemporaryDirectory() as folder:
        shards = [write_shard(Path(folder, f"{n}.tar"), part) for n, part in enumerate(images.chunk(4))]
        show("bare tar reading", bare_tar(shards), TarSource(shards, decode))
        show(
            "the same, shuffle buffer 1,000", bare_tar(shards), TarSource(shards, decode, shuffle_buffer=1000)
        )


def bare_loader(dataset: TensorDataset) -> Iterator[Any]:
    """Batches of a DataLoader that shuffles, pass after pass."""
    return (batch for _ in count() for batch in DataLoader(dataset, BATCH, shuffle=True, drop_last=True))


def bare_tar(shards: list[Path]) -> Iterator[Any]:
    """Batches of decoded examples, in the order of the files."""
    examples = (decode(files) for shard in cycle(shards) for _, files in examples_in(str(shard)))
    while True:
        yield default_collate(list(islice(examples, BATCH)))


def decode(files: dict[str, bytes]) -> tuple[torch.Tensor, int]:
    return torch.frombuffer(bytearray(files["raw"]), dtype=torch.uint8).reshape(SHAPE), int(files["cls"])


def write_shard(path: Path, images: torch.Tensor) -> Path:
    with TarFile(path, "w") as archive:
        for number, image in enumerate(images.numpy()):
            for kind, content in (("raw", image.tobytes()), ("cls", str(number % 10).encode())):
                member = TarInfo(f"{number:06}.{kind}")
                member.size = len(content)
                archive.addfile(member, BytesIO(content))
    return path


def show(title: str, bare: Iterator[Any], source: MapSource | StreamSource) -> None:
    """A line for bare reading, and one for each echo factor."""
    cases = {title: bare}
    for factor in (1, 2, 4):
        echo = EchoSpec(factor, "before_augmentation", 1000)
        cases[f"pipeline, e = {factor}"] = Pipeline(source, batch_size=BATCH, echo=echo)
    times: dict[str, list[float]] = {name: [] for name in cases}
    fresh: dict[str, int] = {}
    for number in range(TURNS + 1):
        for name in list(cases)[:: 1 - 2 * (number % 2)]:
            before = read_by(cases[name])
            times[name].append(seconds(lambda name=name: [None for _ in islice(cases[name], TURN)]))
            fresh[name] = read_by(cases[name]) - before or BATCH * TURN
    medians = {name: statistics.median(seen[1:]) for name, seen in times.items()}
    for name, median in medians.items():
        faster = medians[title] / median
        share = faster * fresh[name] / fresh[title]
        print(f"{name:44}{median / BATCH / TURN * 1e6:14.1f}{faster:12.2f}{share:8.2f}")
    print()


def read_by(case: Any) -> int:
    """Fresh examples read so far, where somebody keeps count."""
    return case.ledger.examples_read if isinstance(case, Pipeline) else 0


def seconds(step: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
