from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.exchange import exchange


@pytest.mark.parametrize("cells", [7, 200_000])
@given(st.data())
def test_an_exchange_is_one_read_and_write_after_the_other(cells: int, data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.integers(0, cells - 1) | st.integers(0, 3), max_size=60))
    times = sorted(data.draw(st.lists(st.integers(0, 30), min_size=len(keys), max_size=len(keys))))
    table = -np.arange(1, cells + 1)
    slow = table.tolist()
    expected = []
    for key, time in zip(keys, times, strict=True):
        expected.append(slow[key])
        slow[key] = time
    assert exchange(table, np.array(keys, np.int64), np.array(times, np.int64)).tolist() == expected
    assert table.tolist() == slow


def test_more_than_16_bits_of_positions_are_no_trouble() -> None:
    keys = np.arange(150_000) % 5
    previous = exchange(np.arange(-5, 0), keys, np.arange(150_000))
    assert np.array_equal(previous, np.arange(-5, 149_995))
