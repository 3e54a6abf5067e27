"""A user's own workload: found by its file, described by its class, and every fault one sentence."""

import pickle
from pathlib import Path

import pytest

from study.errors import UserError
from study.plan import make_plan
from study.spec import load_spec
from study.workloads.load import load_workload
from study.workloads.own import WorkloadError, own_card
from study.workloads.reference import own_file, own_reference, source_digest, workload_name

MINE = '''
"""My task."""
import math
import torch
from study.workloads.base import Workload
from study.workloads.card import Metric
from study.workloads.classification import TensorClassification

class Line(Workload):
    """Fit a line."""
    metrics = {"valid_loss": Metric(higher_is_better=False, low=0, high=math.inf)}
    metaparameters = ("learning_rate",)
    def train_data(self):
        x = torch.linspace(-1, 1, 64)[:, None]
        return x, 3 * x
    def model(self):
        return torch.nn.Linear(1, 1)
    def loss(self, model, inputs, targets):
        return (model(inputs) - targets).square().mean()
    def evaluate(self, model, device):
        return {"valid_loss": self.loss(model, *self.train_data()).item()}
    def optimizer(self, model, metaparameters):
        return torch.optim.SGD(model.parameters(), lr=metaparameters["learning_rate"])

class Half(Workload):
    metrics = Line.metrics
    def model(self):
        return torch.nn.Linear(1, 1)

class Silent(Line):
    metrics = {}

class Forgetful(Line):
    required_metaparameters = ("decay",)

class Plain:
    pass

def two_classes():
    """Tell left from right."""
    x = torch.linspace(-1, 1, 64)[:, None]
    data = x, (x[:, 0] > 0).long()
    return TensorClassification(data, data, lambda: torch.nn.Linear(1, 2))

def a_number():
    return 3

SETTING = 3
'''

STUDY = """
name: mine
workload: code/mine.py:Line
conditions: {batch_size: [4], echo_factor: [2], insertion_point: [before_augmentation], echo_buffer: [8]}
metaparameters: {learning_rate: {low: 0.01, high: 0.1, scale: log}}
search: {points: 2, repeats: 1}
target: {metric: valid_loss, value: 0.1}
budget: {fresh_examples: 64, evaluate_every: 32}
"""


@pytest.fixture
def mine(tmp_path) -> Path:
    """A study file, and a workload in a folder beside it."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "mine.py").write_text(MINE)
    (tmp_path / "study.yaml").write_text(STUDY)
    return tmp_path


def test_a_class_carries_what_a_card_says(mine):
    card = own_card(f"{mine}/code/mine.py:Line")
    assert (card.name, card.summary, card.train_examples) == ("mine.py:Line", "Fit a line.", None)
    assert card.metaparameters == card.required_metaparameters == ("learning_rate",)
    assert not card.augments
    workload = load_workload(card.factory)
    assert len(workload.train_data()[0]) == 64


def test_a_function_may_make_the_workload(mine):
    card = own_card(f"{mine}/code/mine.py:two_classes")
    assert card.summary == "Tell left from right."
    assert set(card.metrics) == {"valid_accuracy", "valid_loss"}
    assert load_workload(card.factory).model().out_features == 2


def test_a_path_in_a_study_file_counts_from_its_folder(mine, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    spec = load_spec(mine / "study.yaml")
    assert spec.workload == f"{mine}/code/mine.py:Line"
    assert {condition.workload for condition in make_plan(spec).conditions} == {"mine.py:Line"}


def test_ids_stay_when_the_folder_moves_or_the_file_is_edited(mine):
    before = [trial.id for trial in make_plan(load_spec(mine / "study.yaml")).trials]
    moved = mine.rename(mine.with_name("moved"))
    file = moved / "code" / "mine.py"
    file.write_text(MINE + "# a comment\n")
    assert [trial.id for trial in make_plan(load_spec(moved / "study.yaml")).trials] == before


def test_an_edited_file_is_run_anew_and_has_another_digest(mine):
    reference = f"{mine}/code/mine.py:Line"
    before = own_card(reference), source_digest(reference)
    (mine / "code" / "mine.py").write_text(MINE.replace("Fit a line.", "Fit a straight line."))
    after = own_card(reference), source_digest(reference)
    assert after[0].summary == "Fit a straight line."
    assert before[1] != after[1]


def test_a_file_may_import_its_neighbours(mine):
    (mine / "code" / "neighbour_of_mine.py").write_text("RATE = 7\n")
    (mine / "code" / "importing.py").write_text("import neighbour_of_mine\n" + MINE)
    assert own_card(f"{mine}/code/importing.py:Line").name == "importing.py:Line"


def test_ours_are_no_files():
    assert own_file("digits_convnet") is None
    assert source_digest("digits_convnet") is None
    assert own_reference("digits_convnet", Path("/x")) == workload_name("digits_convnet") == "digits_convnet"


@pytest.mark.parametrize(
    ("file", "name", "reason"),
    [
        ("nowhere.py", "Line", "there is no file FOLDER/nowhere.py; check the path."),
        ("mine.txt", "Line", "mine.txt is no Python file; name one that ends in .py."),
        ("mine.py", "Lines", "the file has no class or function of that name; did you mean 'Line'?"),
        ("mine.py", "Half", "it lacks evaluate, loss, optimizer, train_data; write what is missing."),
        ("mine.py", "Plain", "it is no subclass of study.workloads.base.Workload; make it one."),
        ("mine.py", "SETTING", "it is an int; name a class or a function."),
        ("mine.py", "a_number", "the function gives an int; return a Workload."),
        (
            "mine.py",
            "Silent",
            "its attribute metrics says nothing of what it measures; write for example metrics = {",
        ),
        (
            "mine.py",
            "Forgetful",
            "it requires decay, which is not among its metaparameters; add it there.",
        ),
        (
            "broken.py",
            "Line",
            "importing it failed at line 3 (ModuleNotFoundError: No module named 'not_there'); correct it.",
        ),
        ("typo.py", "Line", "importing it failed at line 2 (SyntaxError: "),
        ("empty.py", "Line", "the file has no class or function of that name; write a subclass of Workload"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_with_what_to_do(mine, file, name, reason):
    folder = mine / "code"
    (folder / "mine.txt").write_text(MINE)
    (folder / "broken.py").write_text("import math\n\nimport not_there\n")
    (folder / "typo.py").write_text("import math\nclass (:\n")
    (folder / "empty.py").write_text("")
    with pytest.raises(WorkloadError) as caught:
        own_card(f"{folder}/{file}:{name}")
    assert str(caught.value).startswith(
        f"The workload {file}:{name} cannot be used: {reason.replace('FOLDER', str(folder))}"
    )
    assert "\n" not in str(caught.value)


def test_a_path_without_a_class_says_how_to_name_one(mine):
    with pytest.raises(WorkloadError, match=r"it names no class; write for example mine.py:MyWorkload"):
        own_card(f"{mine}/code/mine.py")


def test_the_study_file_and_line_that_name_a_workload_are_named(mine):
    (mine / "study.yaml").write_text(STUDY.replace(":Line", ":Lines"))
    with pytest.raises(
        UserError, match=r"study.yaml line 3: 'workload' cannot be mine.py:Lines: the file has"
    ):
        load_spec(mine / "study.yaml")


def test_an_error_travels_from_a_worker_whole():
    error = pickle.loads(pickle.dumps(WorkloadError("mine.py:Line", "it is broken; mend it.")))
    assert (error.name, error.reason) == ("mine.py:Line", "it is broken; mend it.")
    assert str(error) == "The workload mine.py:Line cannot be used: it is broken; mend it."
