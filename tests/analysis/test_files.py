"""Files are written whole, and equal tables are equal bytes."""

import math

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.files import replacing, write_csv

TABLE = pd.DataFrame(
    {
        "insertion_point": ["before_augmentation", "none"],
        "echo_factor": [1.5, 1.0],
        "fresh_examples_to_target": [7168.0, math.nan],
        "reached": [True, False],
        "best_point": pd.array([3, None], dtype="Int64"),
    }
)


def test_a_csv_has_whole_numbers_without_a_point_and_nothing_for_what_is_missing(tmp_path):
    write_csv(TABLE, tmp_path / "new" / "table.csv")
    assert (tmp_path / "new" / "table.csv").read_bytes() == (
        b"insertion_point,echo_factor,fresh_examples_to_target,reached,best_point\n"
        b"before_augmentation,1.5,7168,True,3\n"
        b"none,1,,False,\n"
    )


@settings(deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_numbers_come_back_to_twelve_digits(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    write_csv(pd.DataFrame({"value": values}), path)
    assert list(pd.read_csv(path)["value"].astype("float64")) == pytest.approx(values, rel=1e-11, abs=0)


def test_the_last_bits_of_a_number_do_not_show(tmp_path):
    for name, value in (("one", 0.1 + 0.2), ("two", 0.3)):
        write_csv(pd.DataFrame({"ratio": [value]}), tmp_path / name)
    assert (tmp_path / "one").read_text() == (tmp_path / "two").read_text() == "ratio\n0.3\n"


def test_the_table_itself_stays_as_it_is(tmp_path):
    before = TABLE.copy()
    write_csv(TABLE, tmp_path / "table.csv")
    pd.testing.assert_frame_equal(TABLE, before)


def fail_after_writing(path):
    path.write_text("half of the n")
    raise RuntimeError("the disk is full")


def test_a_failed_writing_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "figure.png"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="disk"), replacing(path) as temporary:
        fail_after_writing(temporary)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("figure.png", "old")]
