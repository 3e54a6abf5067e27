from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.rows import Rows


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.data()), max_size=20), st.booleans(), st.integers(1, 3))
def test_what_is_picked_is_what_was_put_there_last(
    steps: list[tuple[int, Any]], as_tensors: bool, width: int
) -> None:
    memory, kept, number = Rows(12), dict[int, int](), 0
    for n, data in steps:
        n = min(n, 12 - len(kept))
        if n:
            values = np.repeat(np.arange(number, number + n), width)
            rows = memory.add((torch.from_numpy(values) if as_tensors else values, values * 2.0), n)
            kept |= dict(zip(rows.tolist(), range(number, number + n), strict=True))
            number += n
        assert memory.in_use == len(kept)
        if kept:
            chosen = data.draw(st.lists(st.sampled_from(sorted(kept)), min_size=1))
            first, second = memory.pick(np.array(chosen))
            assert isinstance(first, torch.Tensor) == as_tensors
            assert first.tolist() == [kept[row] for row in chosen for _ in range(width)]
            assert second.tolist() == [2.0 * kept[row] for row in chosen for _ in range(width)]
            leaving = data.draw(st.lists(st.sampled_from(sorted(kept)), unique=True))
            memory.give_back(np.array(leaving, np.int64))
            for row in leaving:
                del kept[row]


def test_tensors_that_numpy_has_no_type_for_are_kept_too() -> None:
    values = torch.tensor([1.5, -2.0], dtype=torch.bfloat16)
    memory = Rows(3)
    rows = memory.add((values,), 2)
    (picked,) = memory.pick(rows[::-1].copy())
    assert isinstance(picked, torch.Tensor)
    assert torch.equal(picked, values.flip(0))


def test_what_is_picked_may_be_changed() -> None:
    memory = Rows(2)
    rows = memory.add((np.ones(2),), 2)
    memory.pick(rows)[0][:] = 0
    assert memory.pick(rows)[0].tolist() == [1, 1]


def test_more_than_the_machine_has_is_refused_in_one_sentence() -> None:
    huge = np.broadcast_to(np.zeros(1, np.uint8), (1, 1 << 50))
    with pytest.raises(ValueError, match=r"needs 10 x 1,125,899,906,842,624 bytes, .*make it smaller"):
        Rows(10).add((huge,), 1)
