"""Kaplan and Meier against plain counting."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.survival import median_to_target, not_reached

few = st.lists(st.integers(1, 9).map(float), max_size=7)


def counted(reached, censored):
    """The product-limit estimate, by its definition."""
    share, steps = 1.0, []
    for value in sorted(set(reached)):
        at_risk = sum(one >= value for one in [*reached, *censored])
        share *= 1 - reached.count(value) / at_risk
        steps.append((value, share))
    return steps


@given(few, few)
def test_the_share_not_reached_is_the_product_limit_estimate(reached, censored):
    table = not_reached(reached, censored)
    expected = counted(reached, censored)
    assert list(table["fresh_examples"]) == [value for value, _ in expected]
    assert list(table["share"]) == pytest.approx([share for _, share in expected])
    known = table.dropna()
    assert (known["low"] <= known["share"] + 1e-12).all()
    assert (known["share"] <= known["high"] + 1e-12).all()


@given(few, few)
def test_the_median_is_where_the_estimate_falls_to_a_half(reached, censored):
    expected = next((v for v, share in counted(reached, censored) if share <= 0.5 + 1e-9), math.inf)
    assert median_to_target(reached, censored).estimate == expected


def test_three_of_five_reached_give_a_median_and_two_of_five_none():
    assert median_to_target([10, 20, 30], [50, 50]).estimate == 30
    assert median_to_target([10, 20], [50] * 3).estimate == math.inf
    assert median_to_target([], [50] * 5).estimate == math.inf


def test_the_interval_of_the_median_covers_it_with_95_percent_at_thirty_searches():
    rng = np.random.default_rng(3)
    hits, draws = 0, 500
    for _ in range(draws):
        values = np.exp(rng.normal(0, 0.5, 30))
        reached = [float(value) for value in values if value <= 1.8]
        found = median_to_target(reached, [1.8] * (30 - len(reached)))
        hits += found.low <= 1 <= found.high
    assert 0.92 <= hits / draws <= 0.99
