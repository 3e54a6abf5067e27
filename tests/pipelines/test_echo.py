from __future__ import annotations

from fractions import Fraction
from math import floor, inf, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines import EchoSpec
from pipelines.echo import EchoStage

ratios = st.fractions(1, 20, max_denominator=1_000_000)


def stage(ratio: Fraction) -> EchoStage:
    return EchoStage(1, 1, 0, copies_differ=True, ratio=ratio)


@given(ratios, st.integers(0, 10**9))
def test_element_i_is_emitted_as_often_as_the_floors_say(ratio: Fraction, i: int) -> None:
    first, end = floor(i * ratio), floor((i + 1) * ratio)
    emissions = np.arange(first, end)
    assert stage(ratio).elements(emissions).tolist() == [i] * (end - first)
    assert stage(ratio).copies(emissions).tolist() == list(range(end - first))
    assert stage(ratio).elements(end) == i + 1


@given(st.floats(1, 20), st.integers(1, 10**6))
def test_a_fractional_factor_never_strays_by_one_element(factor: float, elements: int) -> None:
    spec = EchoSpec(factor)
    emitted = floor(elements * spec.ratio)
    assert abs(emitted - factor * elements) < 1 + elements * 1e-6
    assert stage(spec.ratio).elements(emitted - 1) == elements - 1


@pytest.mark.parametrize("factor", [2, 2.0, np.float32(2), np.float64(2), Fraction(2)])
def test_a_factor_is_any_real_number(factor: float) -> None:
    assert EchoSpec(factor).ratio == 2


def test_a_third_is_a_third() -> None:
    assert EchoSpec(4 / 3).ratio == Fraction(4, 3)


@pytest.mark.parametrize("factor", [0.5, 0, -1, nan, inf, "2", None])
def test_a_factor_below_one_or_no_number_at_all_is_refused(factor: float) -> None:
    with pytest.raises(ValueError, match="give how often each element is used, 1 or more"):
        EchoSpec(factor)


@pytest.mark.parametrize("buffer", [-1, 2.5, "10", None, True])
def test_a_buffer_that_is_no_number_of_examples_is_refused(buffer: int) -> None:
    with pytest.raises(ValueError, match="give a number of examples, or 0 for no echo buffer"):
        EchoSpec(2, buffer=buffer)


def test_a_mistyped_insertion_point_is_answered_with_the_nearest() -> None:
    with pytest.raises(ValueError, match="'after_batch'; did you mean 'after_batching'"):
        EchoSpec(2, "after_batch")
