"""Intervals against SciPy and by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analysis.statistics import (
    Interval,
    log_contrast,
    log_t_interval,
    min_max_coverage,
    paired_log_ratio,
    summarise,
    welch_difference,
    welch_log_ratio,
)

DRAWS = 10_000
counts = st.lists(st.floats(1, 1e9), min_size=2, max_size=8)


def log_normal(seed: int, sigma: float) -> np.ndarray:
    return np.exp(np.random.default_rng(seed).normal(9, sigma, size=(DRAWS, 5)))


def test_the_log_t_interval_covers_the_geometric_mean_with_95_percent_at_five_repeats():
    hits = [one.low <= math.exp(9) <= one.high for one in map(log_t_interval, log_normal(1, 0.2))]
    assert 0.93 <= np.mean(hits) <= 0.97


@pytest.mark.parametrize("sigma", [0.02, 0.2, 0.6])
def test_the_welch_interval_covers_the_ratio_with_95_percent_at_five_repeats_of_unlike_spread(sigma):
    pairs = zip(log_normal(2, sigma), log_normal(3, 0.2) * 2, strict=True)
    hits = [one.low <= 0.5 <= one.high for one in (welch_log_ratio(*pair) for pair in pairs)]
    assert 0.93 <= np.mean(hits) <= 0.97


def test_the_range_of_five_draws_holds_the_median_with_93_75_percent():
    draws = log_normal(4, 0.5)
    hits = (draws.min(axis=1) <= math.exp(9)) & (math.exp(9) <= draws.max(axis=1))
    assert min_max_coverage(5) == 0.9375
    assert hits.mean() == pytest.approx(0.9375, abs=0.01)
    assert [min_max_coverage(n) for n in (0, 1, 2)] == [0, 0, 0.5]


@settings(deadline=None)
@given(counts)
def test_the_log_t_interval_is_scipys_t_interval_of_the_logs(values):
    found = log_t_interval(values)
    assert found.estimate == pytest.approx(stats.gmean(values))
    logs = np.log(values)
    if logs.min() < logs.max():
        expected = stats.t.interval(0.95, len(logs) - 1, logs.mean(), stats.sem(logs))
        assert np.log([found.low, found.high]) == pytest.approx(expected, abs=1e-9)


@settings(deadline=None)
@given(counts, counts)
def test_the_welch_interval_is_scipys_for_unequal_variances(values, baseline):
    found = welch_log_ratio(values, baseline)
    assert found.estimate == pytest.approx(stats.gmean(values) / stats.gmean(baseline))
    if min(np.ptp(np.log(values)), np.ptp(np.log(baseline))) > 1e-6:
        expected = stats.ttest_ind(np.log(values), np.log(baseline), equal_var=False).confidence_interval()
        assert np.log([found.low, found.high]) == pytest.approx(list(expected), rel=1e-6, abs=1e-9)


@settings(deadline=None)
@given(counts, counts, st.floats(0.01, 100))
def test_the_ratio_does_not_depend_on_the_unit(values, baseline, unit):
    first = welch_log_ratio(values, baseline)
    second = welch_log_ratio([v * unit for v in values], [v * unit for v in baseline])
    assert second.estimate == pytest.approx(first.estimate)


def test_a_group_of_equal_values_against_a_spread_one_has_an_interval():
    found = welch_log_ratio([50, 50, 50], [90, 100, 110])
    alone = log_t_interval([90, 100, 110])
    assert found.is_known
    assert found.high / found.estimate == pytest.approx(alone.high / alone.estimate)


@pytest.mark.parametrize(
    ("values", "baseline"), [([50], [90, 100]), ([50, 60], [100]), ([50, 50], [100, 100, 100])]
)
def test_one_repeat_or_no_spread_gives_a_ratio_without_an_interval(values, baseline):
    found = welch_log_ratio(values, baseline)
    assert found.estimate == pytest.approx(stats.gmean(values) / stats.gmean(baseline))
    assert not found.is_known


def test_one_value_or_equal_values_give_a_geometric_mean_without_an_interval():
    for values in ([7168.0], [7168.0] * 3):
        found = log_t_interval(values)
        assert found.estimate == pytest.approx(7168)
        assert not found.is_known


def test_an_empty_group_has_no_estimate():
    for found in (log_t_interval([]), welch_log_ratio([], [1, 2]), welch_log_ratio([1, 2], [])):
        assert isinstance(found, Interval)
        assert math.isnan(found.estimate)
        assert not found.is_known
    empty = summarise([])
    assert empty.n == 0
    assert all(map(math.isnan, (empty.mean, empty.min, empty.max, empty.median)))


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_values_that_have_no_logarithm_are_refused(bad):
    with pytest.raises(ValueError, match="positive finite values"):
        log_t_interval([1, bad])


def test_a_summary_is_mean_range_and_median():
    found = summarise([4, 1, 2, 9])
    assert (found.n, found.mean, found.min, found.max, found.median) == (4, 4, 1, 9, 3)


def test_the_paired_interval_covers_the_ratio_with_95_percent_and_is_narrower_where_seeds_are_shared():
    rng = np.random.default_rng(5)
    common = rng.normal(9, 0.3, size=(DRAWS, 5))
    values, baseline = (np.exp(common + rng.normal(at, 0.1, size=(DRAWS, 5))) for at in (math.log(0.5), 0))
    pairs = list(zip(values, baseline, strict=True))
    paired = [paired_log_ratio(*pair) for pair in pairs]
    unpaired = [welch_log_ratio(*pair) for pair in pairs]
    assert 0.93 <= np.mean([one.low <= 0.5 <= one.high for one in paired]) <= 0.97
    widths = [np.median([math.log(one.high / one.low) for one in each]) for each in (paired, unpaired)]
    assert widths[0] < 0.6 * widths[1]


def test_the_interval_of_a_ratio_of_ratios_covers_it_with_95_percent_at_five_repeats():
    rng = np.random.default_rng(6)
    groups = np.exp(rng.normal(9, 0.2, size=(DRAWS, 4, 5)) + np.log([0.5, 1, 0.8, 1])[:, None])
    found = [log_contrast(four, [1, -1, -1, 1]) for four in groups]
    assert 0.93 <= np.mean([one.low <= 0.5 / 0.8 <= one.high for one in found]) <= 0.97


def test_the_interval_of_a_difference_covers_it_with_95_percent_at_five_repeats():
    rng = np.random.default_rng(7)
    pairs = zip(rng.normal(0.9, 0.01, (DRAWS, 5)), rng.normal(0.88, 0.03, (DRAWS, 5)), strict=True)
    found = [welch_difference(*pair) for pair in pairs]
    assert 0.93 <= np.mean([one.low <= 0.02 <= one.high for one in found]) <= 0.97


@given(st.lists(st.tuples(st.floats(1, 1e6), st.floats(1, 1e6)), min_size=2, max_size=8))
def test_the_paired_interval_is_scipys_one_sample_interval_of_log_ratios(pairs):
    values, baseline = zip(*pairs, strict=True)
    logs = np.log(values) - np.log(baseline)
    found = paired_log_ratio(values, baseline)
    assert math.log(found.estimate) == pytest.approx(logs.mean(), abs=1e-9)
    if np.ptp(logs) > 1e-6:
        expected = stats.t.interval(0.95, len(logs) - 1, logs.mean(), stats.sem(logs))
        assert np.log([found.low, found.high]) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_pairs_need_partners():
    with pytest.raises(ValueError, match="not 2 against 3"):
        paired_log_ratio([1, 2], [1, 2, 3])
