"""Budgets and evaluation intervals in any unit, by the rows of a table and by laws."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from study.budget import UNITS, Budget, in_fresh_examples

BATCH, ECHO, TRAIN = 32, Fraction(5, 2), 1400


@pytest.mark.parametrize(
    ("amount", "unit", "fresh"),
    [
        (12000, "fresh_examples", 12000),
        (12000, "consumed_examples", 4800),
        (100, "updates", 1280),
        (1, "updates", Fraction(64, 5)),
        (3, "passes", 4200),
        (0.25, "passes", 350),
    ],
)
def test_every_unit_is_converted_exactly(amount, unit, fresh):
    assert in_fresh_examples(amount, unit, BATCH, ECHO, TRAIN) == fresh


@given(st.integers(1, 10**9), st.integers(1, 10**4), st.integers(1, 10**6), st.integers(1, 10**3))
def test_so_many_updates_are_worth_the_fresh_examples_that_take_as_many(updates, batch, p, q):
    echo = Fraction(p + q, q)
    fresh = in_fresh_examples(updates, "updates", batch, echo, None)
    assert fresh * echo / batch == updates


@given(st.sampled_from(["fresh_examples", "passes"]), st.integers(1, 1000), st.fractions(1, 100))
def test_fresh_examples_and_passes_are_the_same_in_every_condition(unit, amount, echo):
    assert in_fresh_examples(amount, unit, 8, echo, TRAIN) == in_fresh_examples(
        amount, unit, 64, Fraction(1), TRAIN
    )


@pytest.mark.parametrize(
    ("written", "identity"),
    [
        (
            {"fresh_examples": 1.2e4, "evaluate_every": 256.0},
            {"fresh_examples": 12000, "evaluate_every": 256},
        ),
        ({"passes": 8, "evaluate_every": 0.5}, {"passes": 8.0, "evaluate_every": 0.5}),
        ({"updates": 5, "evaluate_every": 1, "evaluate_in": "updates"}, {"updates": 5, "evaluate_every": 1}),
        (
            {"updates": 500, "evaluate_every": 256, "evaluate_in": "fresh_examples"},
            {"updates": 500, "evaluate_every": 256, "evaluate_in": "fresh_examples"},
        ),
    ],
)
def test_what_a_budget_is_does_not_depend_on_how_it_is_written(written, identity):
    assert Budget.model_validate(written).identity() == identity


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"evaluate_every": 1}, "stands beside no amount; give the budget in one of"),
        ({"updates": 5, "passes": 1, "evaluate_every": 1}, "stands beside updates and passes"),
        ({"updates": 5, "evaluate_every": 6}, r"must be at most updates \(5\), not 6"),
        ({"updates": 5, "evaluate_every": 0.5}, "must be a whole number of updates, not 0.5"),
        ({"passes": 5, "evaluate_every": 1.5, "evaluate_in": "updates"}, "must be a whole number of updates"),
        ({"passes": 0, "evaluate_every": 1}, "greater than 0"),
        ({"passes": 1, "evaluate_every": 1, "evaluate_in": "epochs"}, "Input should be"),
    ],
)
def test_a_budget_that_is_none_is_refused(written, words):
    with pytest.raises(ValidationError, match=words):
        Budget.model_validate(written)


def test_the_units_are_the_four_of_the_study_file():
    assert set(UNITS) < set(Budget.model_fields)
