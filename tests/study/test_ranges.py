import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy import stats

from study.ranges import NARROWEST, Choice, Range

shares = st.floats(0, 1, exclude_max=True)
grid_steps = st.integers(0, 2**30 - 1)


@st.composite
def ranges(draw):
    """Ranges of every scale, from the narrowest to many orders of magnitude."""
    scale = draw(st.sampled_from(["linear", "log", "reverse_log"]))
    width = draw(st.floats(2 * NARROWEST, 5))
    if scale == "linear":
        low = draw(st.floats(-1e3, 1e3))
        return Range(scale=scale, low=low, high=low + max(width * abs(low), 1e-3))
    far = 10 ** draw(st.floats(-9, 0 if scale == "reverse_log" else 5))
    near = far / (1 + width)
    return (
        Range(scale=scale, low=1 - far, high=1 - near)
        if scale == "reverse_log"
        else Range(scale=scale, low=near, high=far)
    )


def refusal(**keys):
    with pytest.raises(ValidationError) as caught:
        Range(**keys)
    (problem,) = caught.value.errors()
    return problem["loc"], problem["msg"]


@given(ranges(), shares)
def test_a_value_lies_within_its_range(span, u):
    assert span.low <= span.at(u) <= span.high


@given(ranges())
def test_the_beginning_of_a_range_is_its_low_end(span):
    assert span.at(0) == pytest.approx(span.low, rel=1e-12, abs=1e-12)


@given(ranges(), shares, shares)
def test_a_larger_share_never_gives_a_smaller_value(span, u, v):
    assume(u <= v)
    assert span.at(u) <= span.at(v)


@given(st.floats(-1e3, 1e3), st.floats(0.1, 1e3), shares)
def test_a_linear_range_is_scipys_uniform_distribution(low, width, u):
    high = low + width
    assume(high - low >= NARROWEST * max(abs(low), abs(high)))
    expected = stats.uniform(low, high - low).ppf(u)
    assert Range(low=low, high=high).at(u) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.floats(1e-9, 1), st.floats(1.1, 1e6), shares)
def test_a_log_range_is_scipys_log_uniform_distribution(low, ratio, u):
    expected = stats.loguniform(low, low * ratio).ppf(u)
    assert Range(scale="log", low=low, high=low * ratio).at(u) == pytest.approx(expected, rel=1e-9)


@given(st.floats(1e-6, 0.5), st.floats(1.1, 2), shares)
def test_a_reverse_log_range_is_log_uniform_in_what_is_missing_to_one(near, ratio, u):
    span = Range(scale="reverse_log", low=1 - near * ratio, high=1 - near)
    expected = 1 - stats.loguniform(1 - span.high, 1 - span.low).ppf(1 - u)
    assert span.at(u) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_reverse_log_gives_every_nine_of_momentum_the_same_room():
    span = Range(scale="reverse_log", low=0.9, high=0.999)
    assert span.at(0.5) == pytest.approx(0.99)


@given(st.floats(1e-4, 1e4), grid_steps)
def test_neighbouring_steps_of_the_sobol_grid_differ_even_in_the_narrowest_range(low, step):
    span = Range(scale="log", low=low, high=low * (1 + 1.01 * NARROWEST))
    assert span.at(step / 2**30) != span.at((step + 1) / 2**30)


def test_ranges_of_astronomic_width_do_not_overflow():
    assert Range(scale="log", low=1e-300, high=1e300).at(0.5) == pytest.approx(1)
    assert Range(low=-1.7e308, high=1.7e308).at(0.5) == 0


def test_values_are_rounded_to_thirteen_digits_so_that_machines_agree():
    assert Range(scale="log", low=0.003, high=0.3).at(1 / 3) == 0.01392476650084


@given(st.integers(-100, 100), st.integers(1, 50), shares)
def test_whole_numbers_of_a_linear_range_have_equal_shares(low, width, u):
    span = Range(low=low, high=low + width, integer=True)
    assert span.at(u) == min(low + width, low + math.floor(u * (width + 1) + 1e-9)) or (
        abs(u * (width + 1) - round(u * (width + 1))) < 1e-6
    )


def test_every_whole_number_of_a_range_is_found():
    for scale in ("linear", "log"):
        span = Range(scale=scale, low=1, high=20, integer=True)
        assert {span.at(i / 10_000) for i in range(10_000)} == set(map(float, range(1, 21)))
        assert span.different_values == 20


def test_small_whole_numbers_have_more_room_on_a_log_scale():
    span = Range(scale="log", low=10, high=1000, integer=True)
    assert span.at(0.5) == pytest.approx(100, abs=3)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6, unique=True), shares)
def test_a_choice_gives_each_of_its_values_an_equal_share(values, u):
    choice = Choice(values=values)
    assert choice.at(u) == values[int(u * len(values))]
    assert choice.different_values == len(values)


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"low": 0.5, "high": 3, "integer": True}, "low", "must be a whole number, since integer is true"),
        ({"low": 1, "high": 3.5, "integer": True}, "high", "must be a whole number, since integer is true"),
        (
            {"scale": "reverse_log", "low": 0.5, "high": 0.9, "integer": True},
            "integer",
            "is for scale linear or log",
        ),
        ({"scale": "log", "low": 0, "high": 1}, "low", "must be more than 0 on a log scale, not 0"),
        ({"scale": "reverse_log", "low": -0.1, "high": 0.5}, "low", "must be from 0 to under 1"),
        (
            {"scale": "reverse_log", "low": 0.5, "high": 1},
            "high",
            "must be less than 1 on a reverse_log scale",
        ),
        ({"low": 2, "high": 2}, "high", "must be more than low (2.0), not 2.0"),
        ({"low": 2, "high": -3}, "high", "must be more than low (2.0), not -3.0"),
        ({"low": 1, "high": 1.001}, "high", "is too near low (1.0)"),
        ({"scale": "reverse_log", "low": 0.9, "high": 0.90001}, "high", "is too near low (0.9)"),
    ],
)
def test_a_range_that_is_none_is_refused_at_the_right_key(keys, key, words):
    path, sentence = refusal(**keys)
    assert path == (key,)
    assert sentence.startswith(words)
