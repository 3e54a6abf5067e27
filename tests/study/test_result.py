"""The result rule, held against golden cases and an obvious reading of it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.result import Evaluation, Outcome, Rank, Target, best_trial, best_value, first_reached

ACCURACY = Target("valid_accuracy", 0.9, higher_is_better=True)
LOSS = Target("valid_loss", 3.9, higher_is_better=False)


def curve(metric: str, *values: float) -> list[Evaluation]:
    return [Evaluation(256.0 * i, 8 * i, {metric: value}) for i, value in enumerate(values, start=1)]


@pytest.mark.parametrize(
    ("target", "values", "at"),
    [
        (ACCURACY, (0.5, 0.9, 0.95), 1),
        (ACCURACY, (0.95, 0.1, 0.1), 0),
        (ACCURACY, (0.89, 0.8999999), None),
        (ACCURACY, (math.nan, 0.91), 1),
        (ACCURACY, (math.nan, math.nan), None),
        (ACCURACY, (), None),
        (LOSS, (5.0, 3.9, 3.8), 1),
        (LOSS, (4.0, 3.91), None),
        (LOSS, (math.nan, math.inf, 1.0), 2),
    ],
)
def test_a_target_is_reached_at_the_first_evaluation_at_or_past_it(target, values, at):
    assert first_reached(curve(target.metric, *values), target) == at


@pytest.mark.parametrize(
    ("target", "values", "best"),
    [(ACCURACY, (0.2, 0.8, 0.5), 0.8), (LOSS, (5.0, 4.0, 6.0), 4.0), (ACCURACY, (math.nan, 0.1), 0.1)],
)
def test_the_best_value_follows_the_direction_of_the_metric_and_passes_over_nan(target, values, best):
    assert best_value(curve(target.metric, *values), target) == best


def test_the_best_value_of_nothing_is_nan():
    assert math.isnan(best_value([], ACCURACY))


@pytest.mark.parametrize(
    ("ranks", "best"),
    [
        ([], None),
        ([Rank(512, 16, 3)], Rank(512, 16, 3)),
        ([Rank(512, 16, 3), Rank(256, 99, 9)], Rank(256, 99, 9)),
        ([Rank(512, 32, 0), Rank(512, 16, 5)], Rank(512, 16, 5)),
        ([Rank(512, 16, 7), Rank(512, 16, 2), Rank(512, 16, 4)], Rank(512, 16, 2)),
    ],
)
def test_fewest_fresh_examples_win_then_fewer_updates_then_the_smaller_point(ranks, best):
    assert best_trial(ranks) == best


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), min_size=1))
def test_the_result_does_not_depend_on_the_order_in_which_trials_end(triples):
    ranks = [Rank(float(fresh), updates, point) for fresh, updates, point in triples]
    assert best_trial(ranks) == best_trial(reversed(ranks))
    best = best_trial(ranks)
    assert min(triples) == (best.fresh_examples, best.updates, best.point)


def test_only_a_crash_is_no_result_for_want_of_memory_or_for_another_reason():
    without = [outcome for outcome in Outcome if not outcome.is_result]
    assert without == [Outcome.CRASHED, Outcome.OUT_OF_MEMORY]
