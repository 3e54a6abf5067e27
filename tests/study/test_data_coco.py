"""COCO's official format: what is read, and that nothing wrong passes in silence."""

import json

import numpy as np
import pytest
import torch
from data_formats.detection import CATEGORIES, coco_split, write_coco, write_split
from pycocotools.coco import COCO
from torchvision.transforms.v2 import functional as F

from pipelines import DatasetSource
from pipelines.detection import unpack_boxes
from study.data.coco import read_annotations
from study.data.coco_images import MOST_BOXES, SIZE, CocoTraining, decoded, image_batches, wanted_boxes
from study.errors import UserError

SPLIT = "train2017"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small sample in the official format, as the data set of the data root."""
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    write_coco(tmp_path, train=6, valid=3)
    return tmp_path / "coco"


def change(folder, edit):
    """Let `edit` change what the training annotations say."""
    file = folder / "annotations" / f"instances_{SPLIT}.json"
    content = json.loads(file.read_text())
    edit(content)
    file.write_text(json.dumps(content))


def test_boxes_and_categories_are_those_that_pycocotools_reads(folder, capsys):
    ours = read_annotations(SPLIT)
    assert capsys.readouterr().out == ""
    theirs = COCO(folder / "annotations" / f"instances_{SPLIT}.json")
    assert ours.categories == ("person", "bicycle", "stop sign", "toothbrush")
    assert len(ours.images) == len(theirs.imgs) == 6
    official_ids = sorted(CATEGORIES)
    for image, image_id in zip(ours.images, theirs.getImgIds(), strict=True):
        (expected,) = theirs.loadImgs([image_id])
        assert (image.file.name, image.width, image.height) == (
            expected["file_name"],
            expected["width"],
            expected["height"],
        )
        annotations = theirs.loadAnns(theirs.getAnnIds([image_id]))
        assert [official_ids[label] for label in image.labels] == [one["category_id"] for one in annotations]
        assert image.crowd.tolist() == [bool(one["iscrowd"]) for one in annotations]
        corners = [[x, y, x + w, y + h] for x, y, w, h in (one["bbox"] for one in annotations)]
        assert image.boxes.tolist() == corners


def test_training_reads_images_with_their_boxes_stretched_alike(folder):
    annotations = read_annotations(SPLIT)
    data = CocoTraining(annotations.images)
    pictures, _ = coco_split(6, seed=len(SPLIT))
    for number, one in enumerate(data.images):
        image, packed = data[number]
        assert image.shape == (3, SIZE, SIZE)
        assert image.dtype == torch.uint8
        assert packed.shape == (MOST_BOXES, 5)
        picture = torch.from_numpy(pictures[one.file.name]).permute(2, 0, 1).expand(3, -1, -1)
        again = F.resize(image, list(picture.shape[1:]))
        assert (again.float() - picture.float()).abs().mean() < 8  # JPEG and two resizings
        (held,) = unpack_boxes(packed[None])
        scale = torch.tensor([SIZE / one.width, SIZE / one.height]).repeat(2)
        torch.testing.assert_close(held["boxes"], torch.from_numpy(one.boxes[~one.crowd]) * scale)
        assert held["labels"].tolist() == one.labels[~one.crowd].tolist()


def test_training_leaves_out_images_without_a_box_and_boxes_around_crowds(folder):
    annotations = read_annotations(SPLIT)
    data = CocoTraining(annotations.images)
    assert [one.file.name for one in data.images] == [f"{100 + n:012d}.jpg" for n in range(1, 6)]
    third = data.images[1]
    assert third.crowd.sum() == 1
    _, packed = data[1]
    assert (packed[:, 4] >= 0).sum() == len(third.boxes) - 1


def test_evaluation_keeps_every_image_and_tells_crowds(folder):
    images = read_annotations(SPLIT).images
    batches = list(image_batches(images, at_once=4))
    assert [len(one) for one in batches] == [4, 2]
    assert torch.equal(batches[1][0], decoded(images[4]))
    wanted = [wanted_boxes(one) for one in images]
    assert len(wanted[0]["boxes"]) == 0
    assert wanted[0]["boxes"].shape == (0, 4)
    assert wanted[2]["iscrowd"].tolist() == [0, 1, 0]


def test_a_grey_image_comes_in_three_equal_channels(folder):
    image = decoded(read_annotations(SPLIT).images[1])
    assert torch.equal(image[0], image[1])
    assert torch.equal(image[0], image[2])


def test_worker_processes_read_the_same(folder):
    data = CocoTraining(read_annotations(SPLIT).images)
    groups = [np.array([3, 0]), np.array([4, 1])]
    for here, there in zip(
        DatasetSource(data).read(groups), DatasetSource(data, workers=1).read(groups), strict=True
    ):
        assert torch.equal(here[0], there[0])
        assert torch.equal(here[1], there[1])


FAULTS = {
    "unknown category": (lambda one: one.update(category_id=4), "has category 4, which is not listed"),
    "no box": (lambda one: one.update(bbox=[1, 2, 3]), "has a bbox that is not four numbers"),
    "no area": (lambda one: one.update(bbox=[5, 5, 9, 0]), "has a box without area"),
    "outside": (lambda one: one.update(bbox=[5, 5, 400, 9]), "has a box outside its image of"),
    "unknown image": (lambda one: one.update(image_id=7), "is of image 7, which is not listed"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_wrong_annotation_is_named_or_left_out_and_counted(folder, kind):
    edit, words = FAULTS[kind]
    change(folder, lambda content: edit(content["annotations"][1]))
    with pytest.raises(UserError, match=words) as caught:
        read_annotations(SPLIT)
    assert "instances_train2017.json" in str(caught.value)
    assert "annotation 1001" in str(caught.value)
    skipped = read_annotations(SPLIT, skip=True)
    assert skipped.skipped == {kind: 1}
    assert [len(one.boxes) for one in skipped.images] == [0, 1, 3, 1, 2, 3]


@pytest.mark.parametrize("bbox", [[float("nan"), 1, 5, 5], ["left", 1, 5, 5], None, [-0.5, 3, 0.5, 9]])
def test_a_box_that_is_no_box_within_its_image_is_refused(folder, bbox):
    change(folder, lambda content: content["annotations"][1].update(bbox=bbox))
    with pytest.raises(UserError, match="annotation 1001"):
        read_annotations(SPLIT)


def test_a_box_that_sticks_out_by_its_rounding_is_cut(folder):
    change(folder, lambda content: content["annotations"][1].update(bbox=[-0.4, 3, 10, 5]))
    np.testing.assert_allclose(read_annotations(SPLIT).images[1].boxes[1], [0, 3, 9.6, 8])


def test_a_missing_image_file_is_named_or_left_out_and_counted(folder):
    (folder / SPLIT / "000000000103.jpg").unlink()
    with pytest.raises(UserError, match=r"image 103 is .*000000000103\.jpg, which is missing"):
        read_annotations(SPLIT)
    skipped = read_annotations(SPLIT, skip=True)
    assert skipped.skipped == {"missing image file": 1}
    assert len(skipped.images) == 5


def test_a_cut_image_is_named_when_read_or_left_out_and_counted(folder):
    file = folder / SPLIT / "000000000103.jpg"
    file.write_bytes(file.read_bytes()[:-200])
    image = next(one for one in read_annotations(SPLIT).images if one.file == file)
    with pytest.raises(UserError, match=r"000000000103\.jpg cannot be decoded"):
        decoded(image)
    skipped = read_annotations(SPLIT, skip=True)
    assert skipped.skipped == {"cut image file": 1}
    assert file not in {one.file for one in skipped.images}


def test_an_image_of_another_size_than_annotated_is_refused_when_read(folder):
    change(folder, lambda content: content["images"][1].update(width=500))
    with pytest.raises(UserError, match="but its annotation says 500 x"):
        decoded(read_annotations(SPLIT).images[1])


def test_missing_annotations_say_where_they_were_looked_for(folder):
    file = folder / "annotations" / "instances_val2017.json"
    file.unlink()
    with pytest.raises(UserError, match=r"coco is not there: .*instances_val2017\.json"):
        read_annotations("val2017")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"images": [', "JSONDecodeError"),
        ("[1, 2]", "TypeError"),
        ('{"images": [], "annotations": []}', "KeyError: 'categories'"),
        ('{"images": {}, "annotations": [], "categories": []}', "its parts are no lists"),
        ('{"images": [{"id": 1}], "annotations": [], "categories": []}', r"images\[0\] has no file_name"),
    ],
)
def test_a_file_of_another_format_is_refused(folder, content, words):
    (folder / "annotations" / "instances_train2017.json").write_text(content)
    with pytest.raises(UserError, match=rf"instances_train2017\.json is no COCO file of instances .*{words}"):
        read_annotations(SPLIT)


def test_more_boxes_than_there_is_room_for_are_refused(folder):
    def crowd_it(content):
        one = content["annotations"][0]
        content["annotations"] += [one | {"id": 9000 + i} for i in range(MOST_BOXES)]

    change(folder, crowd_it)
    with pytest.raises(UserError, match=rf"000000000101\.jpg has {MOST_BOXES + 2} boxes"):
        CocoTraining(read_annotations(SPLIT).images)


def test_annotations_without_any_box_are_no_training_data(tmp_path):
    pictures, instances = coco_split(2, seed=0)
    write_split(tmp_path, SPLIT, pictures, instances | {"annotations": []})
    with pytest.raises(UserError, match="None of COCO's training images is whole and has a box; give some"):
        CocoTraining(read_annotations(SPLIT, tmp_path).images)
