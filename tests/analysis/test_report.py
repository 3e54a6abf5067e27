"""The report: files and sentences from a store, whatever state the study is in."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest

from analysis import write_report
from analysis.gallery import _MAKERS, NAMES
from study.errors import UserError

TABLES = [
    *(
        "cost",
        "estimates",
        "figure2",
        "figure3",
        "figure4",
        "figure5",
        "figure6",
        "figure7",
        "figure8",
        "health",
    ),
    *("metaparameters", "mixing", "searches", "sensitivity", "streamed", "table1", "tuning_cost"),
]
DRAWN = [
    *("figure1", "figure2", "figure3", "figure4", "streamed"),
    *("health", "metaparameters", "mixing", "tuning_cost"),
]
FEW_TABLES = ["cost", "estimates", "figure3", "figure5", "health", "searches", "sensitivity", "table1"]
FEW_DRAWN = ["figure3", "health"]


def files(drawn, tables):
    images = [f"figures/{name}.{suffix}" for name in drawn for suffix in ("png", "svg")]
    return sorted(["report.html", "report.md", *images, *(f"tables/{name}.csv" for name in tables)])


FILES, FEW_FILES = files(DRAWN, TABLES), files(FEW_DRAWN, FEW_TABLES)


@pytest.fixture
def few_figures(monkeypatch):
    """Figures 3 and 5 (which is missing) and study health alone: drawing all of them takes seconds."""
    kept = [NAMES.index(name) for name in ("figure3", "figure5", "health")]
    monkeypatch.setattr("analysis.gallery._MAKERS", tuple(_MAKERS[at] for at in kept))


def files_in(folder):
    found = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    return sorted(str(path) for path in found if path.parts[0] != "cache")


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


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.usefixtures("few_figures")
def test_a_second_report_is_the_same_files_in_the_same_place(store, small, tmp_path):
    fill(store, small)
    contents = []
    for _ in range(2):
        report = write_report(small, store.tracking_uri, tmp_path)
        contents.append([path.read_bytes() for path in report.files])
    assert contents[0] == contents[1]
    assert sorted(report.files) == sorted(tmp_path / name for name in FEW_FILES)


@pytest.mark.usefixtures("few_figures")
def test_a_study_that_has_not_begun_has_its_report_too(results, small, tmp_path):
    results.database.unlink()
    report = write_report(small, results.tracking_uri, tmp_path / "study")
    assert files_in(tmp_path / "study") == FEW_FILES
    assert report.sentences == ("Unfinished: 0 of 16 trials have a result.",)
    assert not results.database.exists()


@pytest.mark.usefixtures("few_figures")
def test_a_study_with_a_running_trial_only_has_its_report_too(store, small, tmp_path):
    store.begin(small.trials[0])
    report = write_report(small, store.tracking_uri, tmp_path)
    assert report.sentences == ("Unfinished: 0 of 16 trials have a result.",)


@pytest.mark.usefixtures("few_figures")
def test_a_folder_that_cannot_be_written_to_is_named(store, small, tmp_path):
    (tmp_path / "study").write_text("a file where the folder should be")
    with pytest.raises(UserError, match=f"Cannot write the report to {tmp_path / 'study'}: .*; choose"):
        write_report(small, store.tracking_uri, tmp_path / "study")


@pytest.mark.usefixtures("few_figures")
def test_a_damaged_store_is_one_sentence(results, small, tmp_path):
    shutil.copy(__file__, results.database)
    with pytest.raises(UserError, match="damaged"):
        write_report(small, results.tracking_uri, tmp_path)


@pytest.fixture
def begun(store, small):
    """A study's run beside its trials, as the driver makes it, with tags that have odd characters."""
    tags = {"echostudy.kind": "study", "echostudy.git_commit": "abc | <b>&amp;</b>"}
    run = store.client.create_run(store.experiment_id, tags=tags)
    fill(store, small)
    return run.info.run_id


@pytest.mark.slow
@pytest.mark.usefixtures("few_figures")
def test_the_pages_are_attached_to_the_studys_run_and_replaced_by_the_next_report(
    store, small, begun, tmp_path
):
    for _ in range(2):
        write_report(small, store.tracking_uri, tmp_path)
    found = store.client.list_artifacts(begun, "report")
    assert [one.path for one in found] == ["report/report.html", "report/report.md"]
    kept = Path(store.client.download_artifacts(begun, "report/report.html", str(tmp_path / "kept")))
    assert kept.read_bytes() == (tmp_path / "report.html").read_bytes()


@pytest.mark.usefixtures("few_figures")
def test_a_page_holds_all_it_needs_and_escapes_what_it_shows(store, small, begun, tmp_path):
    write_report(small, store.tracking_uri, tmp_path)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert set(re.findall(r'(?:src|href)="([^"]{1,20})', page)) <= {
        "data:image/svg+xml;b",
        "data:,",
        *(f"#{part}" for part in ("claims", "advice", "found", "warnings")),
        *(f"#{part}" for part in ("figures", "tables", "methods", "provenance")),
    }
    assert page.count("<img ") == len(FEW_DRAWN)
    assert "abc | &lt;b&gt;&amp;amp;&lt;/b&gt;" in page
    positions = [page.index(f'id="{part}"') for part in ("claims", "advice", "methods", "provenance")]
    assert positions == sorted(positions)


@pytest.mark.usefixtures("few_figures")
def test_the_markdown_says_the_same(store, small, begun, tmp_path):
    report = write_report(small, store.tracking_uri, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert all(f"figures/{name}.png" in text for name in FEW_DRAWN)
    assert "abc \\| \\<b\\>&amp;\\</b\\>" in text
    for claim in report.claims:
        assert claim.name in text
    assert sum(report.verdicts.values()) == len(report.claims)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert all(line.endswith(" |") for line in rows)


@pytest.mark.usefixtures("few_figures")
def test_an_artifact_store_that_cannot_be_written_to_is_one_remark(
    store, small, begun, tmp_path, monkeypatch
):
    def refuse(*_args):
        raise OSError("no room")

    monkeypatch.setattr("mlflow.tracking.MlflowClient.log_artifact", refuse)
    report = write_report(small, store.tracking_uri, tmp_path)
    assert report.sentences[-1] == (
        "The report could not be attached to the study's MLflow run (no room); it is on disk alone."
    )


@pytest.mark.usefixtures("few_figures")
def test_figures_of_an_older_report_that_cannot_be_drawn_any_more_go(store, small, tmp_path):
    left = tmp_path / "figures" / "figure5.png"
    left.parent.mkdir()
    left.write_bytes(b"old")
    write_report(small, store.tracking_uri, tmp_path)
    assert not left.exists()
