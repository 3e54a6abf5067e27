from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from pipelines.buffer import EchoBuffer


@given(st.integers(1, 20), st.lists(st.integers(1, 30), min_size=1, max_size=8))
def test_how_many_leave_at_a_time_does_not_matter(slots: int, portions: list[int]) -> None:
    at_once, in_portions = EchoBuffer(slots, 5), EchoBuffer(slots, 5)
    expected = at_once.emit(sum(portions))
    assert np.array_equal(np.concatenate([in_portions.emit(n) for n in portions]), expected)
    assert np.array_equal(in_portions.slots, at_once.slots)


@given(st.integers(1, 20), st.integers(0, 50), st.integers(1, 50))
def test_a_buffer_put_back_goes_on_as_before(slots: int, before: int, after: int) -> None:
    buffer, other = EchoBuffer(slots, 5), EchoBuffer(slots, 5)
    if before:
        buffer.emit(before)
    other.restore(before, buffer.slots.copy())
    assert np.array_equal(other.emit(after), buffer.emit(after))


def test_every_slot_is_emptied_equally_often_and_independently_of_the_one_before() -> None:
    slots = 12
    drawn = EchoBuffer(slots, 7)._draw(120_000)
    assert chisquare(np.bincount(drawn, minlength=slots)).pvalue > 0.01
    pairs = np.bincount(drawn[::2] * slots + drawn[1::2], minlength=slots**2)
    assert chisquare(pairs).pvalue > 0.01


def test_an_element_waits_geometrically_long() -> None:
    """P(an element stays for more than d emissions) = (1 - 1 / k)^d, as in tf.data's shuffle."""
    slots, n = 50, 40_000
    incoming = EchoBuffer(slots, 3).emit(n)
    waited = np.arange(n) - (incoming - slots)
    stayed = waited[1000:20_000]
    assert stayed.min() >= 1
    quantile = 1 - (1 - 1 / slots) ** (stayed - np.random.default_rng(0).random(len(stayed)))
    assert kstest(quantile, "uniform").pvalue > 0.01
