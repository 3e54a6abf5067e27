"""Reading a store by SQL, by MLflow's API and from the copy: one result, whichever way."""

import math
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.reading.api import fetch_by_api
from analysis.reading.fetched import wide
from analysis.reading.sqlite import fetch_by_sql
from analysis.results import load, load_trials
from study.errors import UserError


@pytest.fixture
def filled(store, plan):
    """Every outcome, a metric that is not a number, a running trial, a deleted one and a search's run."""
    first, second, third, fourth, fifth, sixth, seventh = plan.trials[:7]
    store.write_reached(first, 7168)
    store.write_unreached(second, "missed", 12000)
    store.write_unreached(third, "diverged", 0)
    store.write(fourth, "beaten", [{"fresh_examples": 256, "valid_accuracy": math.nan}], training_s=1.0)
    store.write(fifth, "crashed")
    store.begin(sixth)
    store.client.delete_run(store.write_reached(seventh, 512))
    store.client.create_run(store.experiment_id, tags={"echostudy.kind": "search"})
    return store


def as_table(fetched):
    """Fetched runs in an order that does not depend on the reader."""
    rows = [
        (one.run_id, one.status, one.end_time, dict(one.tags), dict(one.params), dict(one.metrics))
        for one in fetched.runs
    ]
    return sorted(rows, key=lambda row: row[0])


def both(store, known):
    sql = fetch_by_sql(store.database, "digits", known)
    api = fetch_by_api(store.client, "digits", known)
    assert sql.alive == api.alive
    np.testing.assert_equal(as_table(sql), as_table(api))
    pd.testing.assert_frame_equal(sql.curves, api.curves)
    return sql


def test_sql_reads_what_mlflows_api_reads(filled):
    found = both(filled, {})
    assert len(found.runs) == len(found.alive) == 6
    assert len(found.curves) == 4
    assert found.curves["valid_accuracy"].isna().sum() == 1


def test_sql_fetches_the_same_news_as_the_api(filled, plan):
    known = {one.run_id: one.end_time for one in both(filled, {}).runs if one.end_time}
    gone, changed = list(known)[:2]
    filled.client.delete_run(gone)
    filled.client.set_terminated(changed, "KILLED", end_time=known[changed] + 5)
    new = filled.write_reached(plan.trials[8], 1024)
    found = both(filled, known)
    running = [one.run_id for one in found.runs if one.status == "RUNNING"]
    assert {one.run_id for one in found.runs} == {changed, new, *running}
    assert gone not in found.alive


def test_a_study_that_is_not_there_is_nothing_either_way(store):
    for found in (
        fetch_by_sql(store.database, "other", {}),
        fetch_by_api(store.client, "other", {}),
    ):
        assert not found.alive
        assert not found.runs
        assert list(found.curves) == ["run_id", "fresh_examples"]


points = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(1, 5), st.floats(-9, 9)),
    max_size=30,
)


@given(points)
def test_curves_side_by_side_are_those_of_a_plain_dictionary(found):
    expected = {}
    for run, metric, step, value in found:
        expected.setdefault((run, step), {})[metric] = value
    table = wide(found)
    assert list(zip(table["run_id"], table["fresh_examples"], strict=True)) == sorted(expected)
    for row in table.to_dict("records"):
        values = {name: row[name] for name in row.keys() - {"run_id", "fresh_examples"}}
        kept = {name: value for name, value in values.items() if not math.isnan(value)}
        assert kept == expected[row["run_id"], row["fresh_examples"]]


def assert_same(one, two):
    pd.testing.assert_frame_equal(one.trials, two.trials)
    pd.testing.assert_frame_equal(one.curves, two.curves)


def test_the_copy_gives_what_a_fresh_look_gives_whatever_happens_between(filled, plan, tmp_path):
    uri, cache = filled.tracking_uri, tmp_path / "cache"

    def look():
        cached, fresh = load("digits", uri, cache), load("digits", uri)
        assert_same(cached, fresh)
        pd.testing.assert_frame_equal(fresh.trials, load_trials("digits", uri))
        return fresh

    before = look()
    look()
    deleted = before.trials["run_id"][0]
    filled.client.delete_run(deleted)
    assert deleted not in set(look().trials["run_id"])
    added = filled.write_reached(plan.trials[9], 2048)
    assert added in set(look().trials["run_id"])
    filled.client.log_metric(added, "training_s", 99.0, step=0)
    filled.client.set_terminated(added, "FINISHED", end_time=10**13)
    after = look().trials.set_index("run_id")
    assert after.loc[added, "training_s"] == 99


def test_the_copy_is_read_instead_of_the_store(filled, tmp_path, monkeypatch):
    load("digits", filled.tracking_uri, tmp_path)
    fetched = []

    def spy(*args, **kwargs):
        fetched.append(fetch_by_sql(*args, **kwargs))
        return fetched[-1]

    monkeypatch.setattr("analysis.reading.sqlite.fetch_by_sql", spy)
    load("digits", filled.tracking_uri, tmp_path)
    assert sorted(one.status for one in fetched[0].runs) == ["FAILED", "RUNNING"]


@pytest.mark.parametrize("damage", ["cut", "other study", "half"])
def test_a_copy_that_cannot_be_used_is_made_anew(filled, tmp_path, damage):
    cache = tmp_path / "cache"
    expected = load("digits", filled.tracking_uri, cache)
    if damage == "cut":
        file = cache / "curves.parquet"
        file.write_bytes(file.read_bytes()[:100])
    elif damage == "half":
        (cache / "trials.parquet").unlink()
    else:
        assert load("other", filled.tracking_uri, cache).trials.empty
    assert_same(load("digits", filled.tracking_uri, cache), expected)


def test_a_copy_that_cannot_be_kept_is_one_sentence(filled, tmp_path):
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(UserError, match=r"Cannot keep a copy of the results in .*; choose another folder"):
        load("digits", filled.tracking_uri, tmp_path / "cache")


def test_the_tables_of_another_mlflow_are_read_by_its_api(filled, monkeypatch):
    expected = load("digits", filled.tracking_uri)
    monkeypatch.setattr("analysis.reading.sqlite._ALIVE", "SELECT nothing FROM nowhere WHERE ? = ?")
    assert_same(load("digits", filled.tracking_uri), expected)


def test_a_damaged_store_is_named(results):
    shutil.copy(__file__, results.database)
    with pytest.raises(UserError, match="damaged"):
        load("digits", results.tracking_uri)


def test_curves_have_a_row_an_evaluation(filled, plan):
    found = load("digits", filled.tracking_uri)
    mine = found.curves[found.curves["trial_id"] == plan.trials[0].id]
    assert list(mine["fresh_examples"]) == [6912, 7168]
    assert list(mine["valid_accuracy"]) == [0.9, 0.96]
    types = {name: str(type_) for name, type_ in found.curves.dtypes.items()}
    assert types == {
        "run_id": "str",
        "trial_id": "str",
        "fresh_examples": "int64",
        "examples_consumed": "float64",
        "updates": "float64",
        "valid_accuracy": "float64",
    }


def test_a_metaparameter_that_is_a_word_stays_a_word(store, plan):
    run_id = store.write_reached(plan.trials[0], 512)
    store.client.log_param(run_id, "schedule", "cosine")
    store.write_unreached(plan.trials[1], "missed", 512)
    table = load("digits", store.tracking_uri).trials
    assert table["param.schedule"].dropna().tolist() == ["cosine"]
    assert table["param.learning_rate"].dtype == "float64"
