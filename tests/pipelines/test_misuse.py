"""What newcomers get wrong is one sentence that says what to do, in both engines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import TensorDataset

from pipelines import INSERTION_POINTS, Compose, EchoSpec, MemorySource, Pipeline, RandomFlip, echo_examples
from pipelines.sources import SourceError

INPUTS, TARGETS = np.arange(100.0).reshape(50, 2), np.arange(50)
DATA: list[Any] = [(INPUTS, TARGETS), MemorySource(INPUTS, TARGETS)]


def pipeline(data: Any, **settings: Any) -> Pipeline:
    chosen: dict[str, Any] = {"batch_size": 5, "echo": EchoSpec(2, "before_augmentation", 10), "seed": 3}
    return Pipeline(data, **(chosen | settings))


def too_short(inputs: Any, targets: Any, draws: Any) -> Any:
    return inputs[:3], targets


def without_targets(inputs: Any, targets: Any, draws: Any) -> Any:
    return inputs


def lists(inputs: Any, targets: Any, draws: Any) -> Any:
    return inputs, targets.tolist()


def three(inputs: Any, targets: Any, draws: Any) -> Any:
    return inputs, targets, targets


WRONG: list[tuple[Callable[..., Any], str]] = [
    (too_short, r"too_short at .* gave ndarray \(3, 2\) and ndarray \(5,\) for 5 examples; let it"),
    (without_targets, r"without_targets at .* gave ndarray \(5, 2\) for 5 examples; let it return the pair"),
    (lists, r"lists at .* gave ndarray \(5, 2\) and list for 5 examples; let it return the pair"),
    (three, r"three at .* gave tuple for 5 examples; let it return the pair \(inputs, targets\)"),
    (Compose(lambda *given: given[:2], too_short), r"too_short at .* gave ndarray \(3, 2\)"),
]


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
@pytest.mark.parametrize(("augment", "complaint"), WRONG)
def test_an_augmentation_must_return_as_many_examples_as_it_got(
    data: Any, insertion_point: str, augment: Any, complaint: str
) -> None:
    stream = pipeline(data, augment=augment, echo=EchoSpec(2, insertion_point, 10))
    with pytest.raises(ValueError, match=complaint):
        next(stream)
    assert stream.updates == 0


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"augment": 3}, r"Pipeline: augment is 3; give what can be called like an `Augmentation`\."),
        ({"echo": 2}, r"Pipeline: echo is 2; give an EchoSpec, such as EchoSpec\(factor=2\)\."),
        ({"echo": None}, r"Pipeline: echo is None; give an EchoSpec"),
    ],
)
def test_what_is_no_setting_is_refused(data: Any, settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        pipeline(data, **settings)


def test_steps_that_cannot_be_called_are_refused() -> None:
    with pytest.raises(ValueError, match="Compose: 3 is no augmentation"):
        Compose(RandomFlip(), 3)  # type: ignore[arg-type]


@pytest.mark.parametrize("factor", [1e300, 10**400, 1_000_001, True])
def test_a_factor_beyond_all_measure_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match=r"EchoSpec: factor is .*; give .* \(a million at most\)"):
        EchoSpec(factor)


def test_the_largest_factor_repeats_one_element_for_ever() -> None:
    stream = pipeline(DATA[0], echo=EchoSpec(10**6))
    assert [next(stream).copies.tolist() for _ in range(2)] == [[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]]


@pytest.mark.parametrize("data", DATA)
def test_an_echo_buffer_beyond_all_memory_is_refused(data: Any) -> None:
    complaint = "needs 80,000,000,000,000,000 bytes for the order of its 10,000,000,000,000,000 slots alone"
    with pytest.raises(ValueError, match=complaint):
        pipeline(data, echo=EchoSpec(2, buffer=10**16))


@pytest.mark.parametrize("data", DATA)
def test_a_rank_without_examples_is_told_to_leave(data: Any) -> None:
    with pytest.raises(ValueError, match="rank 50 of 60 gets none of the 50 examples; train with fewer"):
        pipeline(data, batch_size=1).shard(50, 60)


def test_a_bare_data_set_is_shown_the_way() -> None:
    dataset: Any = TensorDataset(torch.ones(3), torch.ones(3))
    with pytest.raises(
        ValueError, match=r"of type TensorDataset; give .*, as DatasetSource\(dataset\) is one"
    ):
        pipeline(dataset)


def test_what_is_printed_tells_what_it_is() -> None:
    stream = pipeline(DATA[0], echo=EchoSpec(2)).shard(1, 2)
    assert repr(next(stream)) == "<Batch of inputs ndarray (5, 2) and targets ndarray (5,)>"
    assert repr(stream) == (
        "<Pipeline(batch_size=5, echo=EchoSpec(factor=2, insertion_point='before_augmentation', buffer=0, "
        "ceiling=None), augment=None, seed=3), rank 1 of 2 after 1 updates>"
    )
    assert repr(echo_examples([1, 2], 2.5, 9)) == "<echo_examples of a list, factor 2.5, 9 in the buffer>"


@pytest.mark.parametrize("make", [lambda *data: Pipeline(data, batch_size=1), MemorySource])
def test_arrays_of_objects_are_refused(make: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(
        ValueError, match="data hold an array of objects; give numbers, with one example a row"
    ):
        make(np.array([{"x": 1}, {"x": 2}]), np.arange(2))


class Source:
    """A `MapSource` that gives what it is told to."""

    examples = 50

    def __init__(self, give: Callable[[int], Any]) -> None:
        self._give = give

    def read(self, groups: Iterable[Any]) -> Iterator[Any]:
        return (self._give(len(group)) for group in groups)


@pytest.mark.parametrize(
    ("give", "complaint"),
    [
        (lambda n: ([[0]] * n, [0] * n), "list and list"),
        (lambda n: np.zeros((n, 2)), r"ndarray \(\d+, 2\)"),
        (lambda n: (np.zeros((1, 2)), np.zeros(n)), r"ndarray \(1, 2\) and ndarray \(\d+,\)"),
        (lambda n: (torch.zeros(n), torch.tensor(3)), r"Tensor \(\d+,\) and Tensor \(\)"),
        (lambda n: None, "NoneType"),
    ],
)
@pytest.mark.parametrize("ahead", [0, 2])
def test_a_source_must_give_a_row_for_each_example(give: Any, complaint: str, ahead: int) -> None:
    with (
        pytest.raises(SourceError, match=rf"Source\.read gave {complaint} for \d+ examples; let it give the"),
        pipeline(Source(give)).prefetch(ahead) as stream,
    ):
        next(stream)


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_a_state_moves_between_engines_of_the_same_data(insertion_point: str) -> None:
    for one, other in (DATA, DATA[::-1]):
        echo = EchoSpec(2.5, insertion_point, 10)
        saved, resumed = pipeline(one, echo=echo), pipeline(other, echo=echo)
        for _ in range(7):
            next(saved)
        resumed.load_state_dict(saved.state_dict())
        for _ in range(30):
            batch, same = next(saved), next(resumed)
            assert np.array_equal(batch.inputs, same.inputs)
            assert batch.copies.tolist() == same.copies.tolist()


def test_the_state_of_a_wrapper_is_named_as_such() -> None:
    wrapper = echo_examples(range(5), 2, 10, seed=3)
    for saved, other in ((wrapper, pipeline(DATA[0])), (pipeline(DATA[0]), wrapper)):
        with pytest.raises(
            ValueError, match="state is that of another kind of pipeline: a Pipeline and a wra"
        ):
            other.load_state_dict(saved.state_dict())


@pytest.mark.parametrize("data", DATA)
def test_a_rank_is_not_sharded_again(data: Any) -> None:
    with pytest.raises(
        ValueError, match=r"the pipeline of rank 0 of 2 already; shard the pipeline of all the"
    ):
        pipeline(data).shard(0, 2).shard(1, 2)
    assert pipeline(data).shard(0, 1).shard(1, 2).updates == 0
