"""Detection workloads: boxes in torchvision's form and back, mean average precision, data and training."""

from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
import torch
from data_formats.detection import narrow_ssd, write_coco
from data_formats.fashion import articles, write_fashion_mnist
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from torch import nn

from models import ssd_small
from pipelines import INSERTION_POINTS, EchoSpec, Pipeline
from pipelines.detection import pack_boxes
from study.data.scenes import VISIBLE_FROM, tight_boxes
from study.errors import UserError
from study.schedules import constant
from study.workloads.cards.detection import CARDS
from study.workloads.coco import CocoSsd
from study.workloads.detection import average_precision, detect, detection_loss
from study.workloads.options import WorkloadOptions
from study.workloads.scenes import ScenesSsd

CPU = torch.device("cpu")


def seen(*rows):
    """Detections: left, top, right, bottom, label, score a row."""
    table = torch.tensor(rows, dtype=torch.float32).reshape(-1, 6)
    return {"boxes": table[:, :4], "labels": table[:, 4].long(), "scores": table[:, 5]}


def annotated(*rows):
    """Annotated boxes: left, top, right, bottom, label, crowd or not a row."""
    table = torch.tensor(rows, dtype=torch.float32).reshape(-1, 6)
    return {"boxes": table[:, :4], "labels": table[:, 4].long(), "iscrowd": table[:, 5].long()}


HERE, THERE = (0, 0, 10, 10), (40, 40, 60, 50)
BY_HAND = {
    "found": ([seen((*HERE, 0, 0.9))], [annotated((*HERE, 0, 0))], 1.0, 1.0),
    "found to 82%, past seven of ten overlaps": (
        [seen((0, 0, 10, 8.2, 0, 0.9))],
        [annotated((*HERE, 0, 0))],
        0.7,
        1.0,
    ),
    "under another name": ([seen((*HERE, 1, 0.9))], [annotated((*HERE, 0, 0))], 0.0, 0.0),
    "behind a false alarm": (
        [seen((*HERE, 0, 0.5), (*THERE, 0, 0.9))],
        [annotated((*HERE, 0, 0))],
        0.5,
        0.5,
    ),
    "before a false alarm": (
        [seen((*HERE, 0, 0.9), (*THERE, 0, 0.5))],
        [annotated((*HERE, 0, 0))],
        1.0,
        1.0,
    ),
    "found twice": ([seen((*HERE, 0, 0.9), (*HERE, 0, 0.8))], [annotated((*HERE, 0, 0))], 1.0, 1.0),
    "one of two, 51 of 101 recalls": (
        [seen((*HERE, 0, 0.9))],
        [annotated((*HERE, 0, 0), (*THERE, 0, 0))],
        51 / 101,
        51 / 101,
    ),
    "one class of two": (
        [seen((*HERE, 0, 0.9))],
        [annotated((*HERE, 0, 0), (*THERE, 1, 0))],
        0.5,
        0.5,
    ),
    "a false alarm in an image without boxes": (
        [seen((*HERE, 0, 0.5)), seen((*HERE, 0, 0.9))],
        [annotated((*HERE, 0, 0)), annotated()],
        0.5,
        0.5,
    ),
    "within a crowd": (
        [seen((*HERE, 0, 0.5), (42, 42, 45, 45, 0, 0.9))],
        [annotated((*HERE, 0, 0), (*THERE, 0, 1))],
        1.0,
        1.0,
    ),
    "nothing seen": ([seen()], [annotated((*HERE, 0, 0))], 0.0, 0.0),
}


def by_pycocotools(detected, wanted):
    """Mean average precision by COCO's own code."""

    def wide_high(boxes):
        return torch.cat([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], dim=1).tolist()

    annotations, results = [], []
    for number, one in enumerate(wanted):
        for box, label, crowd in zip(wide_high(one["boxes"]), one["labels"], one["iscrowd"], strict=True):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number,
                    "category_id": int(label),
                    "bbox": box,
                    "area": box[2] * box[3],
                    "iscrowd": int(crowd),
                }
            )
    for number, one in enumerate(detected):
        for box, label, score in zip(wide_high(one["boxes"]), one["labels"], one["scores"], strict=True):
            results.append(
                {"image_id": number, "category_id": int(label), "bbox": box, "score": float(score)}
            )
    with redirect_stdout(StringIO()):
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": number} for number in range(len(wanted))],
            "annotations": annotations,
            "categories": [{"id": label} for label in range(5)],
        }
        truth.createIndex()
        judge = COCOeval(truth, truth.loadRes(results) if results else COCO(), "bbox")
        judge.evaluate()
        judge.accumulate()
        judge.summarize()
    return judge.stats[0], judge.stats[1]


@pytest.mark.parametrize("case", BY_HAND)
def test_mean_average_precision_is_what_it_is_by_hand(case):
    detected, wanted, value, value50 = BY_HAND[case]
    found = average_precision(detected, wanted)
    assert found["valid_map"] == pytest.approx(value, abs=1e-6)
    assert found["valid_map50"] == pytest.approx(value50, abs=1e-6)


@settings(max_examples=4)
@given(st.integers(0, 10_000))
@example(169)
def test_mean_average_precision_is_that_of_pycocotools(seed):
    random = torch.Generator().manual_seed(seed)

    def boxes(number):
        corner = torch.rand(number, 2, generator=random) * 60
        return torch.cat([corner, corner + 5 + torch.rand(number, 2, generator=random) * 30], dim=1)

    detected, wanted = [], []
    for _ in range(6):
        number = int(torch.randint(1, 5, (1,), generator=random))
        true, labels = boxes(number), torch.randint(0, 5, (number,), generator=random)
        crowd = (torch.rand(number, generator=random) < 0.2).long()
        moved = torch.cat([true + torch.randn(number, 4, generator=random), boxes(number)])
        names = torch.cat([labels, torch.randint(0, 5, (number,), generator=random)])
        scores = torch.rand(2 * number, generator=random)
        wanted.append({"boxes": true, "labels": labels, "iscrowd": crowd})
        detected.append({"boxes": moved, "labels": names, "scores": scores})
    found = average_precision(detected, wanted)
    assert (found["valid_map"], found["valid_map50"]) == pytest.approx(
        by_pycocotools(detected, wanted), abs=1e-5
    )


def test_stretching_an_image_and_its_boxes_changes_no_overlap():
    detected, wanted, value, _ = BY_HAND["found to 82%, past seven of ten overlaps"]
    stretch = torch.tensor([3.0, 0.5, 3.0, 0.5])
    detected, wanted = (
        [{**one, "boxes": one["boxes"] * stretch} for one in some] for some in (detected, wanted)
    )
    assert average_precision(detected, wanted)["valid_map"] == pytest.approx(value)


class Recorder(nn.Module):
    """Keeps what it is given, and answers as torchvision's detectors do."""

    def forward(self, images, targets=None):
        self.images, self.targets = images, targets
        if self.training:
            return {"classification": images[0].sum() * 0 + 2, "bbox_regression": images[0].sum() * 0 + 3}
        return [{**annotated((*HERE, 4, 0)), "scores": torch.ones(1)} for _ in images]


def test_the_loss_gives_torchvision_labels_from_1_and_pixels_from_0_to_1():
    images = torch.zeros(2, 1, 8, 8, dtype=torch.uint8)
    images[0, 0, 0, 0] = 255
    boxes = pack_boxes([{"boxes": [HERE, THERE], "labels": [0, 4]}, {"boxes": [], "labels": []}], rows=3)
    model = Recorder()
    assert detection_loss(model, images, torch.from_numpy(boxes)).item() == 5
    assert [one["labels"].tolist() for one in model.targets] == [[1, 5], []]
    assert model.targets[0]["boxes"].tolist() == [list(HERE), list(THERE)]
    assert model.targets[1]["boxes"].shape == (0, 4)
    assert [one.max().item() for one in model.images] == [1, 0]


def test_what_is_detected_has_labels_from_0_and_the_model_trains_on():
    model = Recorder()
    found = list(detect(model, [torch.zeros(3, 1, 8, 8), torch.zeros(1, 1, 8, 8)], CPU))
    assert [one["labels"].tolist() for one in found] == [[3]] * 4
    assert model.training


def test_evaluating_changes_no_weight_and_no_running_mean():
    torch.manual_seed(0)
    model = ssd_small(num_classes=3, width=4)
    before = {name: values.clone() for name, values in model.state_dict().items()}
    list(detect(model, [torch.rand(2, 1, 96, 96)], CPU))
    assert all(torch.equal(values, before[name]) for name, values in model.state_dict().items())


@pytest.fixture
def scenes(tmp_path, monkeypatch):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    write_fashion_mnist(tmp_path, train=240)
    return ScenesSsd()


@pytest.fixture
def coco(tmp_path, monkeypatch):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    monkeypatch.setattr("study.workloads.coco.ssd300", narrow_ssd)
    write_coco(tmp_path)
    return CocoSsd()


def test_no_object_of_a_validation_scene_is_shown_in_training(scenes):
    objects, _ = articles(240)
    cut = [
        image[top:bottom, left:right]
        for image, (left, top, right, bottom) in zip(objects, tight_boxes(objects), strict=True)
    ]
    views = {"train": scenes.train_data(), "valid": scenes.valid_data()}
    shown = {
        part: {matching(images[i, 0].numpy(), row, cut) for i in range(len(images)) for row in boxes[i]}
        - {None}
        for part, (images, boxes) in views.items()
    }
    assert shown["train"]
    assert shown["valid"]
    assert all(number % 12 == 0 for number in shown["valid"])
    assert all(number % 12 for number in shown["train"])


def matching(canvas, row, objects):
    """The number of the object that lies in a box, told by its visible pixels; None for an empty row."""
    left, top, right, bottom, label = map(int, row)
    if label < 0:
        return None
    region = canvas[top:bottom, left:right]
    fitting = [
        number
        for number, one in enumerate(objects)
        if number % 10 == label
        and one.shape == region.shape
        and np.array_equal(region[one >= VISIBLE_FROM], one[one >= VISIBLE_FROM])
    ]
    assert len(fitting) == 1
    return fitting[0]


def test_scenes_are_the_same_every_time(scenes):
    again = ScenesSsd()
    for ours, theirs in zip(scenes.train_data(), again.train_data(), strict=True):
        assert torch.equal(ours, theirs)
    images, boxes = scenes.train_data()
    assert images.shape == (220, 1, 96, 96)
    assert boxes.shape == (220, 5, 5)


@pytest.mark.parametrize("insertion_point", ["none", *INSERTION_POINTS])
@pytest.mark.parametrize("name", ["scenes", "coco"])
def test_the_loss_falls_and_evaluation_measures_what_the_card_says(name, insertion_point, request):
    workload = request.getfixturevalue(name)
    echo = EchoSpec() if insertion_point == "none" else EchoSpec(2, insertion_point, 8)
    torch.manual_seed(0)
    model = workload.model()
    optimizer = workload.optimizer(model, {"learning_rate": 0.003, "momentum": 0.9})
    pipeline = Pipeline(workload.train_data(), batch_size=4, echo=echo, augment=workload.augment, seed=0)
    losses = []
    for _, batch in zip(range(16), pipeline, strict=False):
        optimizer.zero_grad()
        loss = workload.loss(model, batch.inputs, batch.targets)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert sum(losses[-8:]) / 8 < 0.8 * sum(losses[:4]) / 4
    (card,) = (one for one in CARDS if one.name == f"{name}_ssd")
    measured = workload.evaluate(model, CPU)
    assert set(measured) == set(card.metrics)
    assert all(0 <= value <= 1 for value in measured.values())


def test_schedules_warm_up_and_decay_as_far_as_the_study_says():
    schedule = ScenesSsd.schedule
    assert schedule(None, {"learning_rate": 0.1}) is constant
    warm = schedule(None, {"warmup_updates": 4})
    assert [warm(update) for update in (0, 1, 3, 4, 10_000)] == [0.25, 0.5, 1, 1, 1]
    both = schedule(None, {"warmup_updates": 2, "decay_every": 3, "decay_factor": 0.5})
    assert [both(update) for update in (0, 2, 4, 5, 8)] == [0.5, 1, 1, 0.5, 0.25]
    decaying = schedule(None, {"decay_every": 3})
    assert [decaying(update) for update in (0, 2, 3)] == [1, 1, pytest.approx(0.1)]


def test_coco_counts_what_it_skips(coco, tmp_path):
    assert coco.skipped == 0
    assert coco.train_data().examples == 11
    (tmp_path / "coco" / "train2017" / "000000000103.jpg").unlink()
    (tmp_path / "coco" / "val2017" / "000000000102.jpg").unlink()
    with pytest.raises(UserError, match=r"000000000103\.jpg, which is missing"):
        CocoSsd()
    skipping = CocoSsd(WorkloadOptions(on_error="skip"))
    assert skipping.skipped == 2
    assert skipping.train_data().examples == 10


def test_cocos_splits_must_name_the_same_categories(coco, tmp_path):
    file = tmp_path / "coco" / "annotations" / "instances_val2017.json"
    file.write_text(file.read_text().replace("bicycle", "tricycle"))
    with pytest.raises(UserError, match="train2017 and val2017 list different categories"):
        CocoSsd()


def test_coco_without_a_box_to_find_is_refused(coco, tmp_path):
    file = tmp_path / "coco" / "annotations" / "instances_val2017.json"
    file.write_text(file.read_text().replace('"iscrowd": 0', '"iscrowd": 1'))
    with pytest.raises(UserError, match="val2017 have no box to find"):
        CocoSsd()
