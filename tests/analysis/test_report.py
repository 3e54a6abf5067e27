"""The report: files and sentences from a store, whatever state the study is in."""

import shutil

import pandas as pd
import pytest

from analysis import write_report
from study.errors import UserError

FILES = [
    "figures/figure3.png",
    "figures/figure3.svg",
    "tables/cost.csv",
    "tables/figure3.csv",
    "tables/searches.csv",
]


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def small(plan_of):
    """4 conditions x 2 repeats x 2 points."""
    return plan_of("search.points=2", "search.repeats=2")


def fill(store, plan):
    """Point 0 reaches the target in all searches but one; point 1 ends in every other way."""
    others = ["missed", "diverged", "beaten", "crashed"] * 2
    for search, other in zip(plan.searches, others, strict=True):
        first, second = (trial for trial in plan.trials if trial.search == search)
        fresh = 512.0 * (6 + search.repeat) / search.condition.echo_factor
        if search == plan.searches[-1]:
            store.write_unreached(first, "missed", 12000.0)
        else:
            store.write_reached(first, fresh)
        store.write_unreached(second, other, 0.0 if other == "diverged" else 12000.0)


def test_the_tables_on_disk_are_those_of_the_report(store, small, tmp_path):
    fill(store, small)
    report = write_report(small, store.tracking_uri, tmp_path / "study")
    assert files_in(tmp_path / "study") == FILES
    assert sorted(report.files) == sorted(tmp_path / "study" / name for name in FILES)
    assert (tmp_path / "study" / "tables" / "searches.csv").read_text() == (
        "workload,batch_size,echo_factor,insertion_point,echo_buffer,repeat,points,reached,"
        "fresh_examples_to_target,best_point\n"
        "digits_convnet,32,1,none,0,0,2,True,3072,0\n"
        "digits_convnet,32,1,none,0,1,2,True,3584,0\n"
        "digits_convnet,32,2,before_augmentation,1024,0,2,True,1536,0\n"
        "digits_convnet,32,2,before_augmentation,1024,1,1,True,1792,0\n"
        "digits_convnet,32,2,after_augmentation,1024,0,2,True,1536,0\n"
        "digits_convnet,32,2,after_augmentation,1024,1,2,True,1792,0\n"
        "digits_convnet,32,2,after_batching,1024,0,2,True,1536,0\n"
        "digits_convnet,32,2,after_batching,1024,1,1,False,,\n"
    )
    assert (tmp_path / "study" / "tables" / "cost.csv").read_text() == (
        "workload,batch_size,echo_factor,insertion_point,echo_buffer,repeat,"
        "points_reached,points_missed,points_diverged,points_beaten,examples_consumed,training_s\n"
        "digits_convnet,32,1,none,0,0,1,1,0,0,15072,3\n"
        "digits_convnet,32,1,none,0,1,1,0,1,0,3584,3\n"
        "digits_convnet,32,2,before_augmentation,1024,0,1,0,0,1,27072,3\n"
        "digits_convnet,32,2,before_augmentation,1024,1,1,0,0,0,3584,2\n"
        "digits_convnet,32,2,after_augmentation,1024,0,1,1,0,0,27072,3\n"
        "digits_convnet,32,2,after_augmentation,1024,1,1,0,1,0,3584,3\n"
        "digits_convnet,32,2,after_batching,1024,0,1,0,0,1,27072,3\n"
        "digits_convnet,32,2,after_batching,1024,1,0,1,0,0,24000,1\n"
    )
    figure3 = pd.read_csv(tmp_path / "study" / "tables" / "figure3.csv")
    assert list(figure3["repeats_reached"]) == list(report.figure3["repeats_reached"]) == [2, 2, 2, 1]
    assert list(figure3["unfinished"]) == [0, 1, 0, 1]
    assert "Unfinished: 14 of 16 trials have a result." in report.sentences
    assert "Crashed: 2 trials, to be run again with the study." in report.sentences


def test_a_second_report_is_the_same_files_in_the_same_place(store, small, tmp_path):
    fill(store, small)
    contents = []
    for _ in range(2):
        report = write_report(small, store.tracking_uri, tmp_path)
        contents.append([path.read_bytes() for path in report.files])
    assert contents[0] == contents[1]
    assert sorted(report.files) == sorted(tmp_path / name for name in FILES)


def test_a_study_that_has_not_begun_has_its_report_too(results, small, tmp_path):
    results.database.unlink()
    report = write_report(small, results.tracking_uri, tmp_path / "study")
    assert files_in(tmp_path / "study") == FILES
    assert report.sentences == ("Unfinished: 0 of 16 trials have a result.",)
    assert not results.database.exists()


def test_a_study_with_a_running_trial_only_has_its_report_too(store, small, tmp_path):
    store.begin(small.trials[0])
    report = write_report(small, store.tracking_uri, tmp_path)
    assert report.sentences == ("Unfinished: 0 of 16 trials have a result.",)


def test_a_folder_that_cannot_be_written_to_is_named(store, small, tmp_path):
    (tmp_path / "study").write_text("a file where the folder should be")
    with pytest.raises(UserError, match=f"Cannot write the report to {tmp_path / 'study'}: .*; choose"):
        write_report(small, store.tracking_uri, tmp_path / "study")


def test_a_damaged_store_is_one_sentence(results, small, tmp_path):
    shutil.copy(__file__, results.database)
    with pytest.raises(UserError, match="damaged"):
        write_report(small, results.tracking_uri, tmp_path)
