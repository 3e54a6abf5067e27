from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines.exchange import exchange


def assert_is_a_loop(cells: int, keys: list[int], times: list[int]) -> None:
    table = -np.arange(1, cells + 1)
    slow, expected = table.copy(), []
    for key, time in zip(keys, times, strict=True):
        expected.append(slow[key])
        slow[key] = time
    assert exchange(table, np.array(keys, np.int64), np.array(times, np.int64)).tolist() == expected
    assert np.array_equal(table, slow)


@given(st.integers(1, 9), st.data())
def test_an_exchange_is_one_read_and_write_after_the_other(cells: int, data: st.DataObject) -> None:
    keys = data.draw(st.lists(st.integers(0, cells - 1), max_size=60))
    times = data.draw(st.lists(st.integers(0, 30), min_size=len(keys), max_size=len(keys)))
    assert_is_a_loop(cells, keys, sorted(times))


@settings(max_examples=10, deadline=None)
@given(st.sampled_from([1, 3000, 2**19, 2**19 + 1, 2**20]), st.integers(0, 2**32))
def test_so_it_is_over_more_steps_and_cells_than_are_sorted_at_once(cells: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    cells_used = random.integers(0, cells, 5000)
    keys = np.concatenate([[cells - 1], random.choice(cells_used, 20_000)])
    assert_is_a_loop(cells, keys.tolist(), sorted(random.integers(0, 9000, len(keys)).tolist()))


@pytest.mark.parametrize("n", [8191, 8192, 8193])
def test_a_single_cell_hands_on_the_time_before(n: int) -> None:
    table = np.array([-7])
    assert exchange(table, np.zeros(n, np.int64), np.arange(n)).tolist() == [-7, *range(n - 1)]
    assert table.tolist() == [n - 1]
