"""What is checked before a sweep writes anything: sizes, targets, and a user's own workload part by part."""

from dataclasses import replace
from shutil import rmtree

import numpy as np
import pytest
import torch
from data_formats.images import write_imagenet_folders

from pipelines import MemorySource
from study.errors import SettingError, UserError
from study.job import TrialJob
from study.plan import make_plan
from study.preflight import check_batch_size, check_target, preflight
from study.rehearsal import rehearse, train_data_of
from study.spec import load_spec
from study.workloads.card import WorkloadCard
from study.workloads.digits import DigitsConvnet
from study.workloads.options import WorkloadOptions
from study.workloads.own import WorkloadError

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def job() -> TrialJob:
    spec = load_spec("study/specs/digits.yaml")
    return TrialJob.of(make_plan(spec).trials[0], spec)


def card(**changes) -> WorkloadCard:
    settings = {
        "name": "mine.py:Mine",
        "factory": "/home/me/mine.py:Mine",
        "summary": "",
        "train_examples": None,
        "metrics": DigitsConvnet.metrics,
        "metaparameters": ("learning_rate",),
    }
    return WorkloadCard(**(settings | changes))


def test_preflight_of_a_sound_study_tells_where_its_data_come_from(job):
    tags = preflight([job])
    assert tags["echostudy.data_checksum_covers"] == "all training data"


@pytest.fixture
def photos(tmp_path, monkeypatch):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    write_imagenet_folders(tmp_path)
    return tmp_path / "imagenet" / "train"


def of_photos(job, **options):
    return [replace(job, workload="imagenet_resnet50", batch_size=4, options=WorkloadOptions(**options))]


def test_a_cut_photo_that_stands_for_the_data_is_one_sentence(job, photos):
    for photo in photos.rglob("*.JPEG"):
        photo.write_bytes(photo.read_bytes()[:200])
    with pytest.raises(
        UserError, match=r"_0\.JPEG cannot be decoded .*; fetch it anew, or leave such photos"
    ):
        preflight(of_photos(job))
    with pytest.raises(UserError, match=r"None of the 12 photos in .*train is whole; fetch them anew"):
        preflight(of_photos(job, on_error="skip"))


def test_a_file_where_a_folder_should_be_is_one_sentence(job, photos):
    rmtree(photos)
    photos.write_text("no folder")
    with pytest.raises(UserError, match=r"train cannot be read \(Not a directory\); check what lies there"):
        preflight(of_photos(job))


def test_a_batch_is_held_against_the_data_that_are_really_here(job):
    inputs, targets = torch.zeros(10, 1), torch.zeros(10)
    for data in ((inputs, targets), MemorySource(inputs, targets)):
        check_batch_size(replace(job, batch_size=10), data)
        with pytest.raises(SettingError) as caught:
            check_batch_size(replace(job, batch_size=11), data)
        assert caught.value.key_path == ("conditions", "batch_size")
        assert "is 11, but digits_convnet has 10 training examples here" in str(caught.value)


def test_a_target_that_the_untrained_model_has_is_refused_from_either_side(job):
    workload = DigitsConvnet()
    check_target(job, workload)
    with pytest.raises(SettingError, match=r"choose a value above that"):
        check_target(replace(job, target=replace(job.target, value=0.01)), workload)
    loss = replace(job.target, metric="valid_loss", value=9.0, higher_is_better=False)
    with pytest.raises(SettingError, match=r"choose a value below that"):
        check_target(replace(job, target=loss), workload)


def test_large_data_behind_a_source_are_not_evaluated_to_check_a_target(job, monkeypatch):
    class Large(DigitsConvnet):
        def train_data(self):
            return MemorySource(*super().train_data())

        def evaluate(self, model, device):
            raise AssertionError("not before the first trial")

    monkeypatch.setattr("study.preflight.load_workload", lambda name, options: Large())
    tags = preflight([job])
    assert tags["echostudy.data_checksum_covers"] == "16 examples of 1400, evenly spaced"


def test_a_sound_workload_of_a_users_own_passes_its_rehearsal_which_trains_and_evaluates(job):
    asked = []

    class Mine(DigitsConvnet):
        def loss(self, model, inputs, targets):
            asked.append("loss")
            return super().loss(model, inputs, targets)

        def evaluate(self, model, device):
            asked.append("evaluate")
            return super().evaluate(model, device)

    workload = Mine()
    rehearse(workload, train_data_of(workload, "/home/me/mine.py:Mine"), job, card())
    assert set(asked) == {"loss", "evaluate"}


def fault(name, value):
    """The digits with another method."""
    return type("Mine", (DigitsConvnet,), {name: value})


FAULTS = [
    ("train_data", lambda self: 3, "train_data gives an int; return a tuple of two tensors, or a source."),
    (
        "train_data",
        lambda self: (torch.zeros(3, 2), torch.zeros(4)),
        "train_data gives inputs [3, 2] and targets [4]; give as many of both, at least one, on the first",
    ),
    (
        "train_data",
        lambda self: (np.zeros(3), np.zeros(3)),
        "train_data gives a tuple; return a tuple of two tensors, or a source.",
    ),
    ("model", lambda self: None, "model gives a NoneType; return a torch.nn.Module."),
    ("optimizer", lambda self, model, m: "sgd", "optimizer gives a str; return a torch.optim.Optimizer."),
    ("schedule", lambda self, m: lambda update: "1", "schedule gives a str; let it give a number."),
    (
        "loss_at",
        lambda self, m: lambda model, inputs, targets: model(inputs),
        "loss gives a Tensor [32, 10]; return the mean, a scalar tensor.",
    ),
    (
        "loss_at",
        lambda self, m: lambda model, inputs, targets: model(inputs.flatten()),
        "loss of inputs [32, 1, 8, 8] and targets [32] failed (RuntimeError: ",
    ),
    (
        "evaluate",
        lambda self, model, device: 0.5,
        "evaluate gives a float; return a dict from metric to number.",
    ),
    (
        "evaluate",
        lambda self, model, device: {"valid_loss": 0.5},
        "evaluate leaves out valid_accuracy; return it, or take it out of metrics.",
    ),
    (
        "evaluate",
        lambda self, model, device: {"valid_loss": 0.5, "valid_accuracy": torch.tensor(1.0)},
        "evaluate gives a Tensor as valid_accuracy; return a float (.item()).",
    ),
    ("evaluate", lambda self, model, device: 1 / 0, "evaluate failed (ZeroDivisionError: division by zero)"),
]


@pytest.mark.parametrize(("name", "value", "sentence"), FAULTS, ids=[one[2][:40] for one in FAULTS])
def test_a_faulty_part_is_one_sentence_that_names_it(job, name, value, sentence):
    own = "/home/me/mine.py:Mine"
    workload = fault(name, value)()
    with pytest.raises(WorkloadError) as caught:
        rehearse(workload, train_data_of(workload, own), job, card())
    assert str(caught.value).startswith(f"The workload mine.py:Mine cannot be used: {sentence}")
    assert "\n" not in str(caught.value)


def test_an_augmentation_that_plan_could_not_see_is_refused(job):
    workload = DigitsConvnet()
    with pytest.raises(WorkloadError, match=r"augment is set in __init__; set it in the class"):
        rehearse(workload, workload.train_data(), job, card(augments=False))
