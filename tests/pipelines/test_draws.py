from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from pipelines import Draws
from pipelines.draws import philox4x32

KNOWN_ANSWERS = [
    (
        (0x00000000, 0x00000000, 0x00000000, 0x00000000),
        (0x00000000, 0x00000000),
        (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ),
    (
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
        (0xFFFFFFFF, 0xFFFFFFFF),
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
"""Counter, key and words of philox4x32-10, from the known-answer file of the Random123 library."""


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN_ANSWERS)
def test_philox_gives_the_known_answers(
    counter: tuple[int, ...], key: tuple[int, int], words: tuple[int, ...]
) -> None:
    c0, c1, c2, c3 = (np.full(3, part, np.uint64) for part in counter)
    assert [word.tolist() for word in philox4x32((c0, c1, c2, c3), key)] == [[word] * 3 for word in words]


def draws(ordinals: int = 100, seed: int = 1, copy: int = 0) -> Draws:
    return Draws(seed, np.arange(ordinals), np.full(ordinals, copy))


@given(st.permutations(range(20)), st.integers(1, 9))
def test_a_draw_depends_on_its_example_and_not_on_the_others(order: list[int], n: int) -> None:
    ordinals, copies = np.arange(20), np.arange(20) % 3
    shuffled = Draws(1, ordinals[order], copies[order]).uniform("crop", n)
    assert np.array_equal(shuffled, Draws(1, ordinals, copies).uniform("crop", n)[order])


def test_seed_name_scope_ordinal_and_copy_each_make_a_difference() -> None:
    same = draws().uniform("crop")
    assert np.array_equal(draws().uniform("crop"), same)
    for other in (
        draws(seed=2),
        draws(copy=1),
        draws().within(0),
        Draws(1, np.arange(100) + 2**32, np.zeros(100, int)),
    ):
        assert not np.isin(other.uniform("crop"), same).any()
    assert not np.isin(draws().uniform("flip"), same).any()
    assert len(np.unique(same)) == 100


@given(st.integers(1, 12), st.integers(1, 12))
def test_asking_for_more_numbers_leaves_the_first_ones(few: int, more: int) -> None:
    one = draws(5)
    assert np.array_equal(one.uniform("crop", few), draws(5).uniform("crop", few + more)[:, :few])
    assert one.uniform("crop", few + more).shape == (5, few + more)
    assert np.array_equal(one.uniform("crop", few), draws(5).uniform("crop", few))


@given(st.integers(0, 20), st.integers(0, 20))
def test_rows_of_draws_are_the_draws_of_rows(start: int, stop: int) -> None:
    part = draws(20).within("a").rows(slice(start, stop))
    assert len(part) == max(0, stop - start)
    assert np.array_equal(part.uniform("crop", 3), draws(20).within("a").uniform("crop", 3)[start:stop])


def test_numbers_are_uniform_and_neighbours_independent() -> None:
    numbers = draws(20_000).uniform("crop", 4)
    assert kstest(numbers.ravel(), "uniform").pvalue > 0.01
    assert (numbers >= 0).all()
    assert (numbers < 1).all()
    correlation = np.corrcoef(np.hstack([numbers[:-1], numbers[1:]]), rowvar=False)
    assert np.abs(correlation - np.eye(8)).max() < 4 / np.sqrt(20_000)


def test_integers_cover_their_range_evenly() -> None:
    numbers = draws(20_000).integers("crop", -3, 4, 2)
    assert numbers.shape == (20_000, 2)
    assert chisquare(np.bincount(numbers.ravel() + 3, minlength=7)).pvalue > 0.01


def test_draws_are_the_same_on_every_machine() -> None:
    some = Draws(7, np.array([0, 1, 2**33]), np.array([0, 1, 0]))
    assert some.integers("shift", 0, 100, 2).tolist() == [[66, 75], [54, 69], [32, 58]]


@pytest.mark.parametrize(("low", "high"), [(3, 3), (4, 3), (0, 2**33)])
def test_an_empty_or_too_wide_range_is_refused(low: int, high: int) -> None:
    with pytest.raises(ValueError, match="give low < high"):
        draws().integers("crop", low, high)
