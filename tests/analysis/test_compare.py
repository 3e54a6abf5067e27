"""Two studies side by side."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.compare import compare, comparison_remarks
from study.errors import UserError

FIRST = {"none": [8000, 8200, 9000], "before_augmentation": [4000, 4100, 4500]}


def ended(plan, scale):
    """The first point of each search reaches the target, others and other conditions miss it."""
    found = {}
    for trial in plan.trials:
        values = FIRST.get(trial.search.condition.insertion_point)
        is_reached = values is not None and trial.point == 0
        fresh = values[trial.search.repeat] * scale if is_reached else 12000
        found[trial.id] = ("reached" if is_reached else "missed", float(fresh))
    return found


@pytest.fixture(scope="module")
def sides(plan, plan_of, material_of):
    other = plan_of("search.points=4", "search.repeats=3", "seed=1")
    return material_of(plan, ended(plan, 1)).trials, material_of(other, ended(other, 1.5)).trials


def test_two_studies_are_compared_condition_by_condition(sides):
    table = compare(*sides).set_index("insertion_point")
    row = table.loc["before_augmentation"]
    first, second = (
        np.log(FIRST["before_augmentation"]),
        np.log(np.multiply(FIRST["before_augmentation"], 1.5)),
    )
    ends = stats.ttest_ind(second, first, equal_var=False).confidence_interval()
    assert row[["ratio", "ratio_low", "ratio_high"]].tolist() == pytest.approx([1.5, *np.exp(list(ends))])
    assert row[["searches_first", "reached_second"]].tolist() == [3, 3]
    assert table.loc["after_batching", "reached_first"] == 0
    assert np.isnan(table.loc["after_batching", "ratio"])
    assert not table["same_question"].any()
    assert list(comparison_remarks(table.reset_index())) == [
        (
            "4 of 4 conditions are not the same question in both: the target, the budget, the "
            "metaparameters, the sampler, the seed or the repeats differ."
        ),
        (
            "In 2 of 4 conditions the two differ by more than their repeats explain (95% interval of the "
            "ratio without 1; by chance about 1 in 20)."
        ),
    ]


def test_what_a_study_ran_before_its_file_was_changed_does_not_count_as_more_repeats(sides):
    before = sides[1].assign(end_time=1000)
    now = sides[0].assign(end_time=2000)
    for both in (pd.concat([before, now]), pd.concat([now, before])):
        pd.testing.assert_frame_equal(compare(both, now), compare(now, now))


def test_a_study_equals_itself(sides):
    table = compare(sides[0], sides[0])
    assert table["same_question"].all()
    assert table.loc[table["reached_first"] > 0, "ratio"].tolist() == pytest.approx([1, 1])
    assert len(list(comparison_remarks(table))) == 1


def test_conditions_of_one_side_alone_are_counted(sides):
    first, second = sides
    table = compare(first, second[second["insertion_point"] == "none"])
    assert next(comparison_remarks(table)).startswith("3 of 4 conditions have results in one of the two")


def test_other_protocol_versions_are_refused(sides):
    first, second = sides
    with pytest.raises(UserError, match=r"protocol version 1, the second under 2: .* do not compare; run"):
        compare(first, second.assign(protocol_version=2))
