"""The paper's two image workloads, on tiny samples in the official formats."""

import io
import math

import numpy as np
import pytest
import torch
from data_formats.images import labelled_jpegs, write_cifar10, write_imagenet_folders, write_imagenet_shards
from PIL import Image
from torch import nn
from torchvision.models import ResNet50_Weights
from torchvision.transforms import v2

from pipelines import EchoSpec, Pipeline
from study.data import cifar10
from study.workloads.classification import classification_metrics, metrics_over
from study.workloads.load import load_workload
from study.workloads.options import WorkloadOptions

CPU = torch.device("cpu")
SKIP = WorkloadOptions(on_error="skip")


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty data root."""
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    return tmp_path


class Always(nn.Module):
    """Is sure of one class, whatever it sees."""

    def __init__(self, label, classes):
        super().__init__()
        self.logits = torch.full((classes,), -1.0)
        self.logits[label] = 1.0
        self.seen = []

    def forward(self, inputs):
        self.seen.append(inputs.clone())
        return self.logits.expand(len(inputs), -1)


def expected_loss(right, examples, classes):
    """Mean cross entropy of `Always`: logits 1 and -1."""
    total = math.log(math.e + (classes - 1) / math.e)
    return total - (2 * right / examples - 1)


def test_cifar10_trains_on_bytes_and_validates_on_what_it_never_trains_on(data):
    write_cifar10(data)
    workload = load_workload("cifar10_resnet32")
    images, labels = workload.train_data()
    assert images.dtype == torch.uint8
    assert images.shape == (180, 3, 32, 32)
    assert labels.dtype == torch.int64
    model = Always(3, classes=10)
    metrics = workload.evaluate(model, CPU)
    assert metrics["valid_accuracy"] == 2 / 20
    assert metrics["valid_loss"] == pytest.approx(expected_loss(2, 20, 10))
    seen = {image.numpy().tobytes() for image in torch.cat(model.seen)}
    assert not seen & {image.numpy().tobytes() for image in images}


def test_cifar10s_model_is_a_resnet32_on_standardised_pixels(data):
    write_cifar10(data)
    model = load_workload("cifar10_resnet32").model()
    assert sum(weights.numel() for weights in model.parameters()) == 464_154
    images = torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8)
    assert model[0](images).std().item() == pytest.approx(1.16, abs=0.05)  # evenly spread bytes: 73.9 / 63.9
    assert model(images).shape == (2, 10)


def test_cifar10s_augmentation_keeps_shape_and_type_and_differs_between_copies(data):
    write_cifar10(data)
    workload = load_workload("cifar10_resnet32")
    pipeline = Pipeline(workload.train_data(), batch_size=50, echo=EchoSpec(4), augment=workload.augment)
    batch = next(pipeline)
    assert batch.inputs.shape == (50, 3, 32, 32)
    assert batch.inputs.dtype == torch.uint8
    assert len({image.numpy().tobytes() for image in batch.inputs}) > len(set(batch.ordinals.tolist()))


def test_broken_records_are_counted_where_they_are_left_out(data):
    write_cifar10(data)
    assert load_workload("cifar10_resnet32").skipped == 0
    file = cifar10.folder() / "data_batch_1"
    content = file.read_bytes()
    file.write_bytes(content.replace(b"K\x09K\x00", b"K\x0bK\x00", 1))
    workload = load_workload("cifar10_resnet32", SKIP)
    assert workload.skipped == 1
    assert len(workload.train_data()[0]) == 180


@pytest.mark.parametrize("write", [write_imagenet_folders, write_imagenet_shards])
def test_imagenet_validates_on_the_usual_middle_of_each_photo(data, write):
    write(data)
    model = Always(2, classes=1000)
    metrics = load_workload("imagenet_resnet50").evaluate(model, CPU)
    assert metrics["valid_accuracy"] == 2 / 6
    assert metrics["valid_loss"] == pytest.approx(expected_loss(2, 6, 1000), rel=1e-5)
    usual = v2.Compose([v2.Resize(256), v2.CenterCrop(224), v2.PILToTensor()])
    photos = [usual(Image.open(io.BytesIO(content)).convert("RGB")) for content, _ in labelled_jpegs(6, 2)]
    seen = {photo.numpy().tobytes() for photo in torch.cat(model.seen)}
    assert seen == {photo.numpy().tobytes() for photo in photos}


@pytest.mark.parametrize("write", [write_imagenet_folders, write_imagenet_shards])
def test_imagenet_trains_on_augmented_squares_of_224_pixels(data, write):
    write(data)
    workload = load_workload("imagenet_resnet50")
    with Pipeline(
        workload.train_data(), batch_size=4, echo=EchoSpec(2), augment=workload.augment
    ) as pipeline:
        batch = next(pipeline)
        assert batch.inputs.shape == (4, 3, 224, 224)
        assert batch.inputs.dtype == torch.uint8
        assert batch.targets.dtype == torch.int64
        assert len({photo.numpy().tobytes() for photo in batch.inputs}) == 4


def test_imagenets_model_is_a_resnet50_with_torchvisions_standardisation(data):
    write_imagenet_folders(data)
    model = load_workload("imagenet_resnet50").model()
    assert sum(weights.numel() for weights in model.parameters()) == 25_557_032
    preset = ResNet50_Weights.IMAGENET1K_V1.transforms()
    for ours, theirs in ((model[0].mean, preset.mean), (model[0].std, preset.std)):
        assert np.allclose(ours.flatten() / 255, theirs)


def test_damaged_photos_are_counted_where_they_are_left_out(data):
    write_imagenet_folders(data)
    for part in ("train", "val"):
        photo = next((data / "imagenet" / part).glob("*/*.JPEG"))
        photo.write_bytes(photo.read_bytes()[:-1000])
    workload = load_workload("imagenet_resnet50", SKIP)
    assert workload.skipped == 2
    assert workload.train_data().examples == 11
    write_imagenet_shards(data)
    shard = data / "imagenet" / "shards" / "imagenet-val-000000.tar"
    shard.write_bytes(shard.read_bytes()[:-30_000])
    workload = load_workload("imagenet_resnet50", SKIP)
    assert workload.skipped == 0  # nobody has looked yet
    assert workload.evaluate(Always(0, classes=1000), CPU)["valid_accuracy"] > 0
    assert workload.skipped == 1


def test_metrics_over_batches_are_those_of_the_whole():
    torch.manual_seed(0)
    model, inputs, targets = nn.Linear(5, 3).double(), torch.randn(23, 5).double(), torch.arange(23) % 3
    logits = model(inputs)
    loss = nn.functional.cross_entropy(logits, targets).item()
    for at_once in (1, 7, 23, 100):
        metrics = classification_metrics(model, inputs, targets, at_once=at_once)
        assert metrics["valid_accuracy"] == (logits.argmax(1) == targets).sum().item() / 23
        assert metrics["valid_loss"] == pytest.approx(loss, rel=1e-6)


def test_a_model_is_evaluated_in_its_mode_for_that_and_trains_on_after_it():
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
    one, other = (classification_metrics(model, torch.ones(4, 2), torch.zeros(4).long()) for _ in range(2))
    assert one == other
    assert model.training


def test_an_empty_validation_set_is_refused():
    with pytest.raises(ValueError, match="validation set is empty"):
        metrics_over(nn.Linear(2, 2), [])
