from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipelines.fresh import FreshStream


@given(st.integers(1, 40), st.integers(0, 2**64), st.integers(0, 1000))
def test_every_pass_is_a_permutation(examples: int, seed: int, number: int) -> None:
    assert sorted(FreshStream(examples, seed).permutation(number)) == list(range(examples))


def test_passes_and_seeds_differ() -> None:
    orders = {tuple(FreshStream(50, seed).permutation(number)) for seed in range(5) for number in range(5)}
    assert len(orders) == 25


@given(st.integers(1, 7), st.lists(st.integers(0, 12), min_size=1, max_size=12))
def test_an_ordinal_has_the_same_example_whatever_was_asked_before(examples: int, steps: list[int]) -> None:
    stream, oldest = FreshStream(examples, 3), 0
    for step in steps:
        ordinals = np.array([[oldest + step, oldest], [oldest, oldest + 2 * step]])
        expected = [
            [stream.permutation(o // examples)[o % examples] for o in row] for row in ordinals.tolist()
        ]
        assert stream.example_ids(ordinals, oldest).tolist() == expected
        oldest += step


def test_passes_that_are_over_are_forgotten() -> None:
    stream = FreshStream(10, 3)
    for ordinal in range(0, 1000, 10):
        stream.example_ids(np.array([ordinal, ordinal + 19]), ordinal)
    assert len(stream._passes) == 2
