"""CIFAR-10's official files: read whole, split fairly, never run, and clear about what is broken."""

import os
import pickle
import warnings

import numpy as np
import pytest
from data_formats.images import Name, cifar10_file, python_two_pickle, write_cifar10
from hypothesis import given
from hypothesis import strategies as st

from study.data import cifar10
from study.errors import UserError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A sample in the official format, and that is where data lie."""
    write_cifar10(tmp_path)
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    return cifar10.folder()


def rewrite(file, **changes):
    """Change entries of an official file."""
    file.write_bytes(python_two_pickle({**cifar10_file(40, 1), **changes}))


def test_the_sample_is_in_the_format_that_numpy_and_pickle_read(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, about arrays from Python 2
        entries = pickle.loads((folder / "data_batch_1").read_bytes(), encoding="latin1")
    written = cifar10_file(40, 1)
    assert np.array_equal(entries["data"], written["data"])
    assert entries["labels"] == written["labels"]
    assert entries["filenames"] == written["filenames"]


def test_images_and_labels_are_those_that_were_written(folder):
    test = cifar10.read_test()
    written = cifar10_file(20, 6)
    assert test.images.dtype == np.uint8
    assert np.array_equal(test.images, written["data"].reshape(20, 3, 32, 32))
    assert test.labels.tolist() == written["labels"]


def test_red_comes_first_and_rows_before_columns(folder):
    pixels = np.zeros((1, 3, 32, 32), np.uint8)
    pixels[0, 0, 3, 5] = 200
    rewrite(folder / "test_batch", data=pixels.reshape(1, -1), labels=[7])
    (image,), (label,) = cifar10.read_test()
    assert np.argwhere(image).tolist() == [[0, 3, 5]]
    assert label == 7


def test_pixels_in_column_order_are_read_alike(folder):
    expected = cifar10.read_test().images
    rewrite(
        folder / "test_batch",
        **cifar10_file(20, 6) | {"data": np.asfortranarray(cifar10_file(20, 6)["data"])},
    )
    assert np.array_equal(cifar10.read_test().images, expected)


def test_the_split_is_nine_to_one_with_as_many_of_each_class_and_shares_no_image(folder):
    train, valid, skipped = cifar10.read_split()
    assert (len(train.labels), len(valid.labels), skipped) == (180, 20, 0)
    assert np.bincount(train.labels).tolist() == [18] * 10
    assert np.bincount(valid.labels).tolist() == [2] * 10
    written = {bytes(row) for number in range(1, 6) for row in cifar10_file(40, number)["data"]}
    both = [image.tobytes() for image in (*train.images, *valid.images)]
    assert set(both) == written
    assert len(set(both)) == len(both)


def test_the_split_is_the_same_each_time(folder):
    once, again = cifar10.read_split(), cifar10.read_split()
    assert np.array_equal(once.train.images, again.train.images)
    assert np.array_equal(once.valid.labels, again.valid.labels)


def test_50000_images_are_split_into_45000_and_5000_with_500_of_each_class():
    labels = np.repeat(np.arange(10), 5000)
    train, valid = cifar10.split(labels)
    assert np.bincount(labels[train]).tolist() == [4500] * 10
    assert np.bincount(labels[valid]).tolist() == [500] * 10


def test_a_missing_file_is_named_with_the_command_that_helps(folder):
    (folder / "data_batch_4").unlink()
    with pytest.raises(UserError, match=r"data_batch_4 .*echostudy data fetch cifar10"):
        cifar10.read_split()


def test_code_in_a_pickle_is_refused_and_not_run(folder):
    class Malicious:
        def __reduce__(self):
            return os.mkdir, (str(folder / "run"),)

    (folder / "data_batch_2").write_bytes(pickle.dumps(Malicious(), protocol=2))
    with pytest.raises(UserError, match=r"data_batch_2 .*mkdir, which has not been run"):
        cifar10.read_split()
    assert not (folder / "run").exists()


@pytest.mark.parametrize(
    ("module", "name"), [("builtins", "eval"), ("numpy", "save"), ("numpy.core.multiarray", "fromfile")]
)
def test_not_even_numpys_own_functions_are_imported(folder, module, name):
    rewrite(folder / "data_batch_1", extra=Name(module, name))
    with pytest.raises(UserError, match=f"asks for {module}.{name}"):
        cifar10.read_split()


SMALL = python_two_pickle(cifar10_file(2, 1))


@given(cut=st.integers(0, len(SMALL) - 1))
def test_a_file_cut_anywhere_is_said_to_be_damaged(tmp_path_factory, cut):
    file = tmp_path_factory.mktemp("cut") / "data_batch_1"
    file.write_bytes(SMALL[:cut])
    with pytest.raises(UserError, match=r"data_batch_1 is damaged .*fetch it anew"):
        cifar10.read_file(file)


@given(place=st.integers(0, 400), value=st.integers(0, 255))
def test_a_changed_byte_gives_a_plain_sentence_or_an_array_of_the_right_shape(tmp_path_factory, place, value):
    content = bytearray(SMALL)
    content[place if place < 200 else -place] = value
    file = tmp_path_factory.mktemp("changed") / "data_batch_1"
    file.write_bytes(bytes(content))
    complaint = ""
    try:
        images, labels, _ = cifar10.read_file(file, skip=True)
    except UserError as error:
        complaint = str(error)
    sound = not complaint and images.shape == (len(labels), 3, 32, 32) and set(labels) <= set(range(10))
    assert sound or "data_batch_1 is damaged" in complaint


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"labels": [1, 2, 3]}, r"for 3 labels the pixels are \(40, 3072\), not \(3, 3072\)"),
        ({"data": np.zeros((40, 3072), np.float32)}, "an array of b'f4', not of bytes"),
        ({"data": b"pixels"}, "'data' is no array"),
        ({"labels": None}, "'labels' no list"),
    ],
)
def test_content_that_does_not_fit_is_named(folder, changes, complaint):
    rewrite(folder / "data_batch_3", **changes)
    with pytest.raises(UserError, match=f"data_batch_3 is damaged .*{complaint}"):
        cifar10.read_split()


@pytest.mark.parametrize("label", [10, -1, "cat", 1.5, None, True])
def test_a_wrong_label_is_named_with_its_file_and_record(folder, label):
    labels = cifar10_file(40, 1)["labels"]
    rewrite(folder / "data_batch_1", labels=[*labels[:17], label, *labels[18:]])
    with pytest.raises(UserError, match=r"record 17 of .*data_batch_1 has the label .*on_error: skip"):
        cifar10.read_split()


def test_records_with_wrong_labels_are_left_out_and_counted_where_that_is_asked_for(folder):
    content = cifar10_file(40, 1)
    labels = content["labels"]
    rewrite(folder / "data_batch_1", labels=[99, *labels[1:17], -3, *labels[18:]])
    train, valid, skipped = cifar10.read_split(skip=True)
    assert skipped == 2
    assert len(train.labels) + len(valid.labels) == 198
    kept = {image.tobytes() for image in (*train.images, *valid.images)}
    assert not {bytes(content["data"][record]) for record in (0, 17)} & kept
