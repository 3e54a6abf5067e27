"""Photos in folders and tar shards, and ImageNet in both layouts: one stream, clear words for damage."""

import shutil
from itertools import islice

import numpy as np
import pytest
import torch
from data_formats.images import (
    PHOTO_CLASSES,
    jpeg,
    labelled_jpegs,
    photos,
    write_imagenet_folders,
    write_imagenet_shards,
    write_tar,
)

from pipelines import EchoSpec, MapSource, Pipeline, SourceError, StreamSource
from pipelines.testing import assert_resumes_exactly
from study.data import imagenet
from study.data.photo_folders import PhotoFolders
from study.data.photo_shards import PhotoShards
from study.data.pictures import decoded
from study.errors import UserError

SIZE = 32


@pytest.fixture
def data(tmp_path, monkeypatch):
    """An empty data root."""
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def folders(data):
    """ImageNet's folders of photos."""
    write_imagenet_folders(data)
    return data / "imagenet"


@pytest.fixture
def shards(data):
    """ImageNet's tar shards."""
    write_imagenet_shards(data)
    return data / "imagenet" / "shards"


def in_folders(folders, part="train", **settings):
    return PhotoFolders(folders / part, list(PHOTO_CLASSES), size=SIZE, **settings)


def in_shards(shards, part="train", **settings):
    return PhotoShards(sorted(shards.glob(f"*{part}*")), classes=1000, size=SIZE, **settings)


def all_of(source):
    """Photos and labels of a source, in its order, each one tensor."""
    return tuple(torch.cat(parts) for parts in zip(*source.in_order(4), strict=True))


def as_set(inputs, targets):
    return {(photo.numpy().tobytes(), int(label)) for photo, label in zip(inputs, targets, strict=True)}


def written(count, seed):
    """What the samples hold, decoded."""
    return {
        (decoded(content, SIZE).numpy().tobytes(), label) for content, label in labelled_jpegs(count, seed)
    }


def batches(source, number=7, **settings):
    with Pipeline(source, batch_size=4, seed=3, **settings) as pipeline:
        return [(one.inputs, one.targets, one.example_ids) for one in islice(pipeline, number)]


def assert_same(one, other):
    for ours, theirs in zip(one, other, strict=True):
        for a, b in zip(ours, theirs, strict=True):
            assert np.array_equal(a, b)


def test_folders_and_shards_are_sources(folders, shards):
    assert isinstance(in_folders(folders), MapSource)
    assert isinstance(in_shards(shards), StreamSource)


def test_folders_give_every_photo_with_the_number_of_its_class(folders):
    source = in_folders(folders)
    assert source.examples == 12
    inputs, targets = all_of(source)
    assert inputs.shape == (12, 3, SIZE, SIZE)
    assert inputs.dtype == torch.uint8
    assert targets.dtype == torch.int64
    assert as_set(inputs, targets) == written(12, 1)


def test_shards_give_every_photo_with_its_label(shards):
    assert as_set(*all_of(in_shards(shards))) == written(12, 1)
    assert as_set(*all_of(in_shards(shards, "val"))) == written(6, 2)


def test_a_class_without_validation_photos_does_not_shift_the_numbers_of_others(folders):
    shutil.rmtree(folders / "val" / PHOTO_CLASSES[0])
    _, targets = all_of(in_folders(folders, "val"))
    assert set(targets.tolist()) == {1, 2}


@pytest.mark.parametrize("threads", [2, 3])
def test_the_stream_is_the_same_for_every_number_of_threads(folders, shards, threads):
    assert_same(batches(in_folders(folders)), batches(in_folders(folders, threads=threads)))
    for buffer in (0, 5):
        one, several = (in_shards(shards, threads=n, shuffle_buffer=buffer) for n in (1, threads))
        assert_same(batches(one), batches(several))


@pytest.mark.parametrize("insertion_point", ["before_augmentation", "after_batching"])
def test_a_pipeline_of_photos_resumes_exactly(folders, shards, insertion_point):
    echo = EchoSpec(2, insertion_point, 6)
    for source in (in_folders(folders, threads=2), in_shards(shards, threads=2, shuffle_buffer=5)):
        assert_resumes_exactly(lambda source=source: Pipeline(source, batch_size=4, echo=echo), 5)


def test_two_ranks_share_the_shards(shards):
    source = in_shards(shards)
    shares = [{name for name, _ in source.read_pass(0, seed=1, rank=rank, world_size=2)} for rank in range(2)]
    assert len(shares[0] | shares[1]) == 12
    assert not shares[0] & shares[1]


def test_a_truncated_photo_is_named(folders):
    photo = sorted((folders / "train" / PHOTO_CLASSES[1]).iterdir())[1]
    photo.write_bytes(photo.read_bytes()[:2000])
    with pytest.raises(SourceError, match=rf"{photo.name} cannot be decoded .*truncated.*on_error: skip"):
        batches(in_folders(folders))


def test_damaged_photos_are_left_out_and_counted_where_that_is_asked_for(folders):
    truncated, empty = sorted((folders / "train" / PHOTO_CLASSES[1]).iterdir())[:2]
    truncated.write_bytes(truncated.read_bytes()[:2000])
    empty.write_bytes(b"")
    source = in_folders(folders, skip=True, threads=2)
    assert (source.examples, source.skipped) == (10, 2)
    assert as_set(*all_of(source)) < written(12, 1)


def test_an_empty_class_is_named(folders):
    (folders / "train" / "n99999999").mkdir()
    with pytest.raises(UserError, match=r"n99999999 has no photos .*put them there, or remove it"):
        imagenet.training_photos()


def test_a_class_that_training_does_not_have_is_named_rather_than_numbered(folders):
    (folders / "val" / PHOTO_CLASSES[1]).rename(folders / "val" / "n01443538")
    with pytest.raises(UserError, match=r"n01443538 are of no class for training"):
        imagenet.validation_photos()


def test_a_folder_without_classes_is_named(folders):
    shutil.rmtree(folders / "train")
    (folders / "train").mkdir()
    with pytest.raises(UserError, match=r"train has no folders; put one for each class there"):
        imagenet.training_photos()


def test_more_classes_than_imagenet_has_are_refused(folders):
    for number in range(1000):
        (folders / "train" / f"x{number}").mkdir()
    with pytest.raises(UserError, match=r"1003 folders, but there are 1000 classes"):
        imagenet.training_photos()


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"jpg": b"no photo", "cls": b"1"}, "cannot identify image file"),
        ({"jpg": jpeg(photos()[0])[:3000], "cls": b"1"}, "truncated"),
        ({"jpg": jpeg(photos()[0]), "cls": b"1000"}, "label is 1000, none of 0 to 999"),
        ({"jpg": jpeg(photos()[0]), "cls": b"cat"}, "'cat'"),
        ({"jpg": jpeg(photos()[0])}, r"has \['jpg'\], but needs a .jpg and a .cls"),
    ],
)
def test_a_broken_example_of_a_shard_is_named_or_left_out_and_counted(shards, files, complaint):
    good = {"jpg": jpeg(photos()[1]), "cls": b"7"}
    write_tar(shards / "broken-train.tar", [("000000", good), ("000001", files), ("000002", good)])
    with pytest.raises(SourceError, match=rf"broken-train.tar: example '000001', number 1 .*{complaint}"):
        all_of(in_shards(shards, "broken-train"))
    source = in_shards(shards, "broken-train", skip=True)
    assert all_of(source)[1].tolist() == [7, 7]
    assert source.skipped == 1
    with Pipeline(source, batch_size=2) as pipeline:
        next(pipeline)
        assert pipeline.ledger.skipped == 1


def test_a_shard_cut_in_the_middle_is_named_with_the_byte_after_all_that_came_before(shards):
    shard = shards / "imagenet-train-000000.tar"
    content = shard.read_bytes()
    shard.write_bytes(content[: len(content) * 3 // 5])
    skipping = in_shards(shards, "train-000000", skip=True)
    sound = len(all_of(skipping)[1])
    assert 0 < sound < 6
    assert skipping.skipped == 1
    reading = in_shards(shards, "train-000000").in_order(1)
    assert len(list(islice(reading, sound))) == sound
    with pytest.raises(
        SourceError, match=rf"train-000000.tar is damaged at byte \d+, after {sound} examples"
    ):
        next(reading)


def test_shards_are_read_where_there_are_some_and_folders_else(data):
    write_imagenet_folders(data)
    assert isinstance(imagenet.training_photos(), PhotoFolders)
    write_imagenet_shards(data)
    train, valid = imagenet.training_photos(threads=2), imagenet.validation_photos()
    assert isinstance(train, PhotoShards)
    assert {label for _, labels in valid.in_order(4) for label in labels.tolist()} == {0, 1, 2}
    assert next(valid.in_order(4))[0].shape == (4, 3, 256, 256)


def test_a_folder_of_shards_without_those_for_validation_is_named(shards):
    for shard in shards.glob("*val*"):
        shard.unlink()
    with pytest.raises(UserError, match=r"has no shards \*val\*.tar; put them there"):
        imagenet.validation_photos()


def test_missing_data_are_named_with_the_command_that_helps(data):
    with pytest.raises(UserError, match=r"imagenet is not there: .*train was looked for; put train/<class>"):
        imagenet.training_photos()
