from __future__ import annotations

import io
import pickle
from itertools import islice
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import INSERTION_POINTS, Compose, EchoSpec, Pipeline, RandomFlip, RandomShift
from pipelines.gather import Field
from pipelines.testing import assert_resumes_exactly

IMAGES = torch.from_numpy(np.random.default_rng(0).integers(0, 255, (13, 4, 4), dtype=np.uint8))
LABELS = torch.arange(13)
AUGMENT = Compose(RandomShift(1), RandomFlip())
CHOSEN = {"batch_size": 5, "echo": EchoSpec(2.5, "before_augmentation", 20), "augment": AUGMENT, "seed": 3}


def pipeline(**changed: Any) -> Pipeline:
    return Pipeline((IMAGES, LABELS), **(CHOSEN | changed))


def state_after(batches: int, **changed: Any) -> dict[str, Any]:
    stream = pipeline(**changed)
    for _ in islice(stream, batches):
        pass
    return stream.state_dict()


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
@pytest.mark.parametrize("factor", [1, 2, 2.6])
@pytest.mark.parametrize("buffer", [0, 1, 30])
def test_it_resumes_exactly_at_every_batch_of_several_passes(
    insertion_point: str, factor: float, buffer: int
) -> None:
    assert_resumes_exactly(
        lambda: pipeline(echo=EchoSpec(factor, insertion_point, buffer), _block_examples=35), batches=25
    )


@settings(max_examples=25, deadline=None)
@given(
    st.builds(EchoSpec, st.floats(1, 4), st.sampled_from(INSERTION_POINTS), st.integers(0, 60)),
    st.integers(1, 13),
    st.integers(1, 90),
    st.integers(1, 90),
)
def test_blocks_may_differ_between_saving_and_resuming(
    echo: EchoSpec, batch_size: int, block: int, other_block: int
) -> None:
    whole = pipeline(echo=echo, batch_size=batch_size, _block_examples=block)
    for _ in islice(whole, 31):
        pass
    resumed = pipeline(echo=echo, batch_size=batch_size, _block_examples=other_block)
    resumed.load_state_dict(whole.state_dict())
    for batch, same in zip(islice(whole, 20), islice(resumed, 20), strict=True):
        assert torch.equal(batch.inputs, same.inputs)
    assert resumed.ledger == whole.ledger


def test_a_used_pipeline_can_go_back_and_forth() -> None:
    stream = pipeline()
    early, first = stream.state_dict(), next(stream)
    late = state_after(40)
    for state, position in ((late, 40), (early, 0), (late, 40)):
        stream.load_state_dict(state)
        assert stream.updates == position
    stream.load_state_dict(early)
    assert torch.equal(next(stream).inputs, first.inputs)


def test_loading_a_state_reads_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Field] = []
    batches = Field.batches
    monkeypatch.setattr(Field, "batches", lambda field, ids: reads.append(field) or batches(field, ids))
    state, stream = state_after(3), pipeline()
    reads.clear()
    stream.load_state_dict(state)
    assert stream.ledger.updates == 3
    assert not reads
    next(stream)
    assert reads


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
@pytest.mark.parametrize("buffer", [0, 10, 50_000, 200_000])
def test_a_state_takes_at_most_8_bytes_a_slot_and_4_kilobytes(insertion_point: str, buffer: int) -> None:
    states = [state_after(n, echo=EchoSpec(2.5, insertion_point, buffer)) for n in (0, 1, 3000)]
    assert max(len(pickle.dumps(state)) for state in states) <= 8 * buffer + 4096


def test_a_state_passes_through_torchs_safe_loading() -> None:
    file = io.BytesIO()
    torch.save(state_after(9), file)
    file.seek(0)
    resumed = pipeline()
    resumed.load_state_dict(torch.load(file, weights_only=True))
    assert resumed.updates == 9


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"batch_size": 6}, "batch_size = 5, not 6"),
        ({"seed": 4}, "seed = 3, not 4"),
        ({"echo": EchoSpec(2, "before_augmentation", 20)}, "echo_factor = '5/2', not '2'"),
        (
            {"echo": EchoSpec(2.5, "after_batching", 20)},
            "insertion_point = 'before_augmentation', not 'after_batch",
        ),
        ({"echo": EchoSpec(2.5, "before_augmentation", 21)}, "echo_buffer = 20, not 21"),
        ({"augment": None}, "augment = 'Compose.*', not 'None'"),
        (
            {"augment": Compose(RandomShift(2), RandomFlip())},
            r"RandomShift\(pixels=1\).*not.*RandomShift\(pixels=2\)",
        ),
    ],
)
def test_the_state_of_another_pipeline_is_refused_by_name(changed: dict[str, Any], named: str) -> None:
    with pytest.raises(
        ValueError, match=f"{named}.*; give both the same settings, or start without the state"
    ):
        pipeline(**changed).load_state_dict(state_after(3))


def test_the_state_of_other_data_is_refused() -> None:
    with pytest.raises(ValueError, match="examples = 13, not 12"):
        Pipeline((IMAGES[:12], LABELS[:12]), **CHOSEN).load_state_dict(state_after(3))


def test_without_echo_neither_buffer_nor_insertion_point_matter_to_a_state() -> None:
    state = state_after(3, echo=EchoSpec(1, "after_batching", 7))
    resumed = pipeline(echo=EchoSpec())
    resumed.load_state_dict(state)
    assert resumed.updates == 3


def test_a_plain_function_is_known_by_its_name_not_its_address() -> None:
    def make() -> Any:
        def unchanged(inputs: Any, targets: Any, draws: Any) -> tuple[Any, Any]:
            return inputs, targets

        return unchanged

    resumed = pipeline(augment=make())
    resumed.load_state_dict(state_after(3, augment=make()))
    assert resumed.updates == 3


SLOTS = state_after(3)["slots"]


@pytest.mark.parametrize(
    "damage",
    [
        {"updates": -1},
        {"updates": 3.0},
        {"updates": 10**30},
        {"updates": None},
        {"counts": [1, 2]},
        {"counts": [1, 2, -3]},
        {"counts": 7},
        {"slots": None},
        {"slots": SLOTS[:, :-1]},
        {"slots": SLOTS[0]},
        {"slots": SLOTS + 1},
        {"slots": SLOTS * 1000},
        {"slots": torch.zeros_like(SLOTS)},
        {"slots": torch.stack([SLOTS[0], SLOTS[1] - 9])},
    ],
)
def test_a_damaged_state_is_refused_and_changes_nothing(damage: dict[str, Any]) -> None:
    stream, untouched = pipeline(), pipeline()
    next(stream), next(untouched)
    with pytest.raises(ValueError, match="damaged; load another one, or start without it"):
        stream.load_state_dict(state_after(3) | damage)
    assert torch.equal(next(stream).inputs, next(untouched).inputs)
    assert stream.ledger == untouched.ledger


@pytest.mark.parametrize("missing", ["updates", "counts", "slots"])
def test_a_state_that_lacks_a_part_is_refused(missing: str) -> None:
    state = state_after(3)
    del state[missing]
    with pytest.raises(ValueError, match="damaged"):
        pipeline().load_state_dict(state)


@pytest.mark.parametrize("state", [{}, {"pipeline": 3}, 7, None])
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(ValueError, match=r"give what a pipeline's state_dict\(\) returned"):
        pipeline().load_state_dict(state)
