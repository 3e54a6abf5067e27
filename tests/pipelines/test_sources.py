from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from itertools import islice
from multiprocessing import active_children
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import IterableDataset, TensorDataset

from pipelines import DatasetSource, EchoSpec, MapSource, MemorySource, Pipeline, SourceError
from pipelines.sources import stack
from pipelines.testing import assert_resumes_exactly
from pipelines.workers import tells_of_death

IMAGES = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (17, 3, 4), dtype=np.uint8))
LABELS = torch.arange(17)
ECHO = EchoSpec(1.5, "before_augmentation", 9)


def make(data: Any, **settings: Any) -> Pipeline:
    return Pipeline(data, **({"batch_size": 5, "echo": ECHO, "seed": 3} | settings))


class Pictures:
    """A data set of NumPy arrays and plain integers."""

    def __len__(self) -> int:
        return 17

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return IMAGES[index].numpy(), index


class Killed(Pictures):
    def __getitem__(self, index: int) -> tuple[Any, Any]:
        os._exit(3)


class Broken(Pictures):
    def __getitem__(self, index: int) -> tuple[Any, Any]:
        raise RuntimeError(f"picture {index} is torn")


class OfManySizes(Pictures):
    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return np.zeros((3, 4 + index)), index


class Triples(Pictures):
    def __getitem__(self, index: int) -> Any:
        return index, index, index


@pytest.mark.parametrize("source", [MemorySource(IMAGES, LABELS), DatasetSource(Pictures())])
def test_the_sources_that_are_read_by_number_are_map_sources(source: Any) -> None:
    assert isinstance(source, MapSource)
    ((inputs, targets),) = source.read([np.array([3, 1])])
    assert torch.equal(torch.as_tensor(inputs), IMAGES[[3, 1]])
    assert targets.tolist() == [3, 1]


@pytest.mark.filterwarnings("ignore:This DataLoader will create 4 worker processes")
@pytest.mark.parametrize("workers", [0, 1, 2, 4])
@pytest.mark.parametrize("dataset", [TensorDataset(IMAGES, LABELS), Pictures()])
def test_the_stream_is_the_same_for_every_number_of_workers(workers: int, dataset: Any) -> None:
    with make(DatasetSource(dataset, workers)) as stream:
        for batch, same in zip(islice(make((IMAGES, LABELS)), 12), stream, strict=False):
            assert torch.equal(batch.inputs, same.inputs)
            assert torch.equal(batch.targets, same.targets)
            assert np.array_equal(batch.example_ids, same.example_ids)


@pytest.mark.parametrize("insertion_point", ["before_augmentation", "after_batching"])
def test_a_data_set_resumes_exactly(insertion_point: str) -> None:
    echo = EchoSpec(2.5, insertion_point, 9)
    assert_resumes_exactly(lambda: make(DatasetSource(Pictures()), echo=echo), batches=14)


def test_workers_may_differ_between_saving_and_resuming() -> None:
    with make(DatasetSource(Pictures(), 1)) as saved, make(DatasetSource(Pictures(), 0)) as resumed:
        list(islice(saved, 7))
        resumed.load_state_dict(saved.state_dict())
        assert torch.equal(next(saved).inputs, next(resumed).inputs)


def test_reading_leaves_the_global_generators_alone() -> None:
    torch.manual_seed(1), np.random.seed(1), random.seed(1)
    before = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
    list(islice(make(DatasetSource(Pictures())), 5))
    after = torch.get_rng_state(), np.random.get_state()[1].tolist(), random.getstate()
    assert torch.equal(before[0], after[0])
    assert before[1:] == after[1:]


@pytest.mark.parametrize("ahead", [0, 2])
def test_closing_ends_the_workers_and_the_stream_goes_on(ahead: int) -> None:
    with make(DatasetSource(Pictures(), workers=2)).prefetch(ahead) as stream:
        next(stream)
        assert len(active_children()) == 2
        stream.close()
        assert not active_children()
        for batch, same in zip(stream, list(islice(make((IMAGES, LABELS)), 4))[1:], strict=False):
            assert torch.equal(batch.inputs, same.inputs)
    assert not active_children()


@pytest.mark.parametrize("ahead", [0, 2])
def test_a_worker_that_dies_is_one_sentence(ahead: int) -> None:
    stream = make(DatasetSource(Killed(), workers=1)).prefetch(ahead)
    with pytest.raises(SourceError, match=r"reads the Killed died \(DataLoader worker .*workers=0") as caught:
        next(stream)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ahead", [0, 2])
def test_the_death_of_a_worker_is_told_by_next_alone(ahead: int) -> None:
    with make(DatasetSource(Pictures(), workers=1)).prefetch(ahead) as stream:
        next(stream)
        (worker,) = active_children()
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        state = stream.state_dict()
        with pytest.raises(SourceError, match="A worker process that reads the Pictures died"):
            list(islice(stream, 50))
        stream.load_state_dict(state)
        assert len(list(islice(stream, 3))) == 3


@pytest.mark.parametrize(
    ("error", "is_death"),
    [
        (RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed. "), True),
        (FileNotFoundError(2, "No such file or directory"), True),
        (ConnectionResetError(104, "Connection reset by peer"), True),
        (EOFError(), True),
        (FileNotFoundError("Caught FileNotFoundError in DataLoader worker process 0.\nOriginal"), False),
        (RuntimeError("picture 3 is torn"), False),
        (PermissionError(13, "Permission denied"), False),
    ],
)
def test_a_broken_pipe_tells_of_a_death_but_an_error_of_the_data_set_does_not(
    error: Exception, is_death: bool
) -> None:
    assert tells_of_death(error) == is_death


@pytest.mark.parametrize("workers", [0, 1])
def test_errors_of_the_data_set_pass_through(workers: int) -> None:
    with pytest.raises(RuntimeError, match=r"picture \d+ is torn"):
        next(make(DatasetSource(Broken(), workers)))


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("dataset", "complaint"),
    [
        (
            OfManySizes(),
            r"^The inputs cannot be stacked .*\(example \d+: ndarray \(3, .*all of one shape\.$",
        ),
        (Triples(), r"^An example is no pair \(example \d+: tuple\); give \(input, target\) for each\.$"),
    ],
)
def test_examples_that_cannot_be_stacked_are_one_sentence(workers: int, dataset: Any, complaint: str) -> None:
    with pytest.raises(SourceError, match=complaint):
        next(make(DatasetSource(dataset, workers)))


class OneOfAnotherSize(Pictures):
    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return np.zeros(3 if index == 13 else 2), index


@pytest.mark.parametrize("workers", [0, 2])
def test_the_one_example_of_another_shape_is_named(workers: int) -> None:
    with (
        make(DatasetSource(OneOfAnotherSize(), workers)) as stream,
        pytest.raises(SourceError, match=r"example 13: ndarray \(3,\)"),
    ):
        list(islice(stream, 99))


def test_arrays_that_cannot_be_written_to_are_stacked_as_any() -> None:
    pictures = IMAGES.numpy().copy()
    pictures.flags.writeable = False
    inputs, targets = stack([(picture, number) for number, picture in enumerate(pictures)])
    assert torch.equal(inputs, IMAGES)
    assert torch.equal(targets, LABELS)


def test_words_are_no_targets() -> None:
    with pytest.raises(
        SourceError, match=r"The targets cannot be stacked into one tensor \(example 0: str\)"
    ):
        stack([(1, "cat"), (2, "dog")])


class Streamed(Pictures, IterableDataset[Any]):
    def __iter__(self) -> Iterator[Any]:
        return iter([])


@pytest.mark.parametrize("dataset", [Streamed(), iter([]), 7])
def test_what_cannot_be_read_by_number_is_refused(dataset: Any) -> None:
    with pytest.raises(ValueError, match=r"cannot be read by number; give a map-style data set"):
        DatasetSource(dataset)


def test_an_empty_data_set_is_refused() -> None:
    with pytest.raises(ValueError, match="the list is empty; give at least one example"):
        DatasetSource([])


@pytest.mark.parametrize("workers", [-1, 1.5, None])
def test_what_is_no_number_of_workers_is_refused(workers: Any) -> None:
    with pytest.raises(ValueError, match=r"DatasetSource: workers is .*; give a number of processes, or 0"):
        DatasetSource(Pictures(), workers)


def test_data_in_memory_must_be_equally_long() -> None:
    with pytest.raises(ValueError, match="MemorySource: there are 17 inputs but 16 targets"):
        MemorySource(IMAGES, LABELS[:16])
