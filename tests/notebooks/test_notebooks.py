"""Every notebook runs from a clean kernel against the store that the demo leaves."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome
from study.spec import load_spec
from study.store import open_store
from study.tracking import StudyWriter

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
WITH_OUTPUTS = {"01_quick_look", "02_paper_figures"}


@pytest.fixture
def demo(results, monkeypatch):
    """A store as the demo leaves it, with two trials of each search."""
    plan = make_plan(load_spec(ROOT / "study" / "specs" / "digits.yaml"))
    writer = StudyWriter(open_store(results.tracking_uri), plan, None, {})
    for trial in plan.trials:
        if trial.point > 1:
            continue
        fresh = 6144.0 / trial.search.condition.echo_factor + 256 * trial.search.repeat
        evaluations = [
            Evaluation(
                at,
                int(at // 32),
                {"valid_accuracy": accuracy, "examples_read": at, "examples_consumed": at}
                | {"duplicate_share": 0.01, "mean_lag_updates": 20.0, "buffer_examples": 1024.0},
            )
            for at, accuracy in ((fresh - 256, 0.9), (fresh, 0.96 if trial.point else 0.92))
        ]
        outcome = Outcome.REACHED if trial.point else Outcome.BEATEN
        writer.write_trial(TrialRecord(trial, plan.spec.rule, evaluations, outcome))
    monkeypatch.setenv("ECHOSTUDY_RESULTS", str(results.root))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    return results


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_a_clean_kernel(path, demo):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(path.parent)}}).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any(cell.outputs for cell in code)
    printed = [output for cell in code for output in cell.outputs]
    assert not [output for output in printed if output.get("name") == "stderr"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_begins_with_prose_and_keeps_outputs_only_where_they_are_to_be_read(path):
    notebook = nbformat.read(path, as_version=4)
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")
    outputs = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    assert bool(outputs) == (path.stem in WITH_OUTPUTS)
    assert str(ROOT) not in path.read_text(encoding="utf-8")
    assert path.stat().st_size < 1_000_000


def test_there_are_four_notebooks():
    assert [path.stem[:2] for path in NOTEBOOKS] == ["01", "02", "03", "04"]
