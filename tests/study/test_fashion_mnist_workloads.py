import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

from models import Standardise
from study.errors import UserError
from study.job import TrialJob
from study.plan import make_plan
from study.spec import load_spec
from study.trial import TrialRun
from study.workloads import fashion_mnist
from study.workloads.fashion_mnist import FashionMnistConvnet, FashionMnistResNet8
from study.workloads.load import load_workload
from study.workloads.registry import workload_card

formats = runpy.run_path(str(Path(__file__).parents[1] / "data_formats" / "fashion.py"))
WEIGHTS = {
    # weights and biases of two convolutions and two linear layers on 32 maps of 7x7
    "fashion_mnist_convnet": (9 * 16 + 16) + (9 * 16 * 32 + 32) + (32 * 49 * 64 + 64) + (64 * 10 + 10),
    # seven convolutions, seven batch norms, a linear layer
    "fashion_mnist_resnet8": 9 * (16 + 2 * 16 * 16 + 16 * 32 + 32 * 32 + 32 * 64 + 64 * 64)
    + 2 * (3 * 16 + 2 * 32 + 2 * 64)
    + (64 * 10 + 10),
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A small sample in the official format: 240 images for training, 40 for test."""
    folder = tmp_path_factory.mktemp("data")
    formats["write_fashion_mnist"](folder)
    return folder


@pytest.fixture(params=WEIGHTS)
def workload(request, root, monkeypatch):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(root))
    return load_workload(request.param)


def rows(images):
    """Each image as bytes, to compare sets of images."""
    return {image.numpy().tobytes() for image in images}


@pytest.mark.parametrize("kind", [FashionMnistConvnet, FashionMnistResNet8])
def test_the_official_data_are_split_as_the_card_says(kind, monkeypatch):
    everything = np.zeros((60_000, 28, 28), dtype=np.uint8), np.repeat(np.arange(10, dtype=np.uint8), 6000)
    everything[0][:, 0, 0] = everything[1]
    everything[0][:, 1, 1] = 1
    monkeypatch.setattr(fashion_mnist, "read_fashion_mnist", lambda part: everything)
    one = kind()
    images, labels = one.train_data()
    (name,) = [name for name in WEIGHTS if workload_card(name).factory.endswith(kind.__name__)]
    assert len(images) == len(labels) == workload_card(name).train_examples == 55_000
    assert torch.bincount(labels).tolist() == [5500] * 10
    assert torch.bincount(one._valid[1]).tolist() == [kind.valid_examples // 10] * 10
    assert f"(55,000 / {kind.valid_examples:,})" in workload_card(name).summary
    assert torch.equal(images[:, 0, 0, 0].long(), labels), "each image keeps its label"


def test_training_and_validation_share_no_image_and_are_the_same_every_time(workload):
    images, labels = workload.train_data()
    valid, valid_labels = workload._valid
    assert (len(images), len(valid)) == (220, 20)
    assert (images.dtype, labels.dtype) == (torch.uint8, torch.int64)
    assert images.shape[1:] == valid.shape[1:] == (1, 28, 28)
    assert not rows(images) & rows(valid)
    assert rows(images) | rows(valid) <= rows(torch.from_numpy(formats["articles"](240)[0].astype(np.uint8)))
    assert torch.bincount(valid_labels).tolist() == [2] * 10
    again = type(workload)()
    assert torch.equal(again.train_data()[0], images)
    assert torch.equal(again._valid[0], valid)


def test_the_model_has_the_weights_its_layers_say_and_takes_bytes(workload, root):
    torch.manual_seed(0)
    model = workload.model()
    name = next(name for name in WEIGHTS if workload_card(name).factory.endswith(type(workload).__name__))
    assert sum(weights.numel() for weights in model.parameters()) == WEIGHTS[name]
    images, labels = workload.train_data()
    assert model(images[:4]).shape == (4, 10)
    assert workload.loss(model, images[:4], labels[:4]).item() > 0


def test_pixels_are_standardised_by_the_training_images(workload):
    torch.manual_seed(0)
    standardise = next(part for part in workload.model().modules() if isinstance(part, Standardise))
    images, _ = workload.train_data()
    standardised = standardise(images).double()
    assert standardised.mean().item() == pytest.approx(0, abs=1e-5)
    assert standardised.std().item() == pytest.approx(1, abs=1e-4)


def test_the_metrics_are_those_of_the_card_on_the_validation_images(workload):
    torch.manual_seed(0)
    model = workload.model()
    found = workload.evaluate(model, torch.device("cpu"))
    assert set(found) == set(workload_card("fashion_mnist_convnet").metrics)
    valid, labels = workload._valid
    with torch.inference_mode():
        guesses = model.eval()(valid).argmax(1)
    assert found["valid_accuracy"] == pytest.approx((guesses == labels).double().mean().item())


@pytest.mark.parametrize("name", WEIGHTS)
def test_without_data_one_sentence_says_how_to_get_them(name, tmp_path, monkeypatch):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    (tmp_path / "fashion_mnist").mkdir()  # so that a system's own copy is not found
    with pytest.raises(UserError, match="run 'echostudy data fetch fashion_mnist'"):
        load_workload(name)


@pytest.mark.parametrize("name", WEIGHTS)
def test_every_condition_of_the_study_file_trains(name, root, monkeypatch):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(root))
    torch.set_num_threads(1)
    spec = load_spec(f"study/specs/{name}.yaml", ["budget.evaluate_every=64"], smoke=True)
    one = load_workload(name)
    losses = {}
    for trial in make_plan(spec).trials:
        if trial.point == 0:
            first, last = TrialRun(TrialJob.of(trial, spec), one).evaluations()
            losses[trial.search.condition.insertion_point] = first.values["train_loss"]
            assert last.fresh_examples == 128
            assert 0 <= last.values["valid_accuracy"] <= 1
    assert set(losses) == {"none", "before_augmentation", "after_augmentation", "after_batching"}
    assert len(set(losses.values())) == 4, "each condition trains on a stream of its own"
