"""Grids, single conditions, exclusions and baselines, against an obvious reading of them."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipelines import EchoSpec
from study.conditions import Condition, Conditions

KEYS = ["batch_size", "echo_factor", "insertion_point", "echo_buffer"]
POINTS = ["before_augmentation", "after_augmentation", "after_batching"]


def some(values):
    return st.lists(st.sampled_from(values), min_size=1, unique=True)


grids = st.fixed_dictionaries(
    {
        "batch_size": some([16, 32, 64]),
        "echo_factor": some([1, 2, 4.5]),
        "insertion_point": some(POINTS),
        "echo_buffer": some([0, 100]),
    }
)
singles = st.lists(
    st.fixed_dictionaries(
        {
            "batch_size": st.sampled_from([16, 128]),
            "echo_factor": st.sampled_from([1, 3]),
            "insertion_point": st.sampled_from(POINTS),
            "echo_buffer": st.sampled_from([0, 7]),
        }
    ),
    max_size=3,
)
selectors = st.lists(
    st.fixed_dictionaries(
        {}, optional={"batch_size": st.sampled_from([16, 32]), "echo_factor": st.sampled_from([2, 3])}
    ).filter(bool),
    max_size=2,
)


def reference(grid, also, exclude):
    """What the study file asks for, as a set of tuples, spelt out."""
    wanted = set(product(*(grid[key] for key in KEYS)))
    wanted |= {tuple(one[key] for key in KEYS) for one in also}
    sizes = {row[0] for row in wanted}
    kept = set()
    for size, factor, point, buffer in wanted:
        values = {"batch_size": size, "echo_factor": factor}
        left_out = any(all(values[k] == v for k, v in one.items()) for one in exclude)
        if factor != 1 and not left_out:
            kept.add(("w", size, factor, point, buffer))
    return kept | {("w", size, 1, "none", 0) for size in sizes}


@given(grids, singles, selectors)
def test_conditions_are_grid_and_list_without_exclusions_and_a_baseline_a_batch_size(grid, also, exclude):
    conditions = Conditions.model_validate(grid | {"also": also, "exclude": exclude}).expand("w")
    rows = [(c.workload, c.batch_size, c.echo_factor, c.insertion_point, c.echo_buffer) for c in conditions]
    assert len(rows) == len(set(rows))
    assert set(rows) == reference(grid, also, exclude)


@given(grids, singles)
def test_conditions_come_by_batch_size_then_factor_and_the_baseline_first(grid, also):
    conditions = Conditions.model_validate(grid | {"also": also}).expand("w")
    keys = [(c.batch_size, c.echo_factor) for c in conditions]
    assert keys == sorted(keys)
    firsts = {c.batch_size: c for c in reversed(conditions)}
    assert all(first.is_baseline for first in firsts.values())


@given(grids, singles)
def test_there_are_never_more_conditions_than_the_bound(grid, also):
    conditions = Conditions.model_validate(grid | {"also": also})
    assert len(conditions.expand("w")) <= conditions.upper_count


def test_the_ratios_of_figure_4_change_no_condition():
    grid = {
        "batch_size": [32],
        "echo_factor": [2],
        "insertion_point": ["after_batching"],
        "echo_buffer": [0],
    }
    with_r = Conditions.model_validate(grid | {"R": [1, 2.5]})
    assert with_r.expand("w") == Conditions.model_validate(grid).expand("w")
    assert with_r.R == (1.0, 2.5)


def test_an_exclusion_that_names_nothing_is_refused():
    grid = {"batch_size": [1], "echo_factor": [2], "insertion_point": POINTS, "echo_buffer": [0]}
    with pytest.raises(ValidationError, match="would leave out everything"):
        Conditions.model_validate(grid | {"exclude": [{}]})


def test_the_baseline_is_called_so():
    assert Condition.baseline("w", 8).label == "baseline b=8"
    assert Condition.baseline("w", 8).is_baseline


@given(st.floats(1, 1e6))
def test_the_echo_ratio_is_the_pipelines(factor):
    assert Condition("w", 8, factor, "after_batching", 0).echo_ratio == EchoSpec(factor).ratio
