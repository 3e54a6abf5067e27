import gzip
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from torchvision.datasets import FashionMNIST
from torchvision.datasets.mnist import read_image_file, read_label_file

from study.data.fashion_mnist import CLASSES, read_fashion_mnist, read_idx
from study.errors import UserError

formats = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "data_formats" / "fashion.py")))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A small sample in the official format, as the data set of the data root."""
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    formats.write_fashion_mnist(tmp_path, train=30, test=20)
    return tmp_path / "fashion_mnist"


@pytest.mark.parametrize(("part", "number"), [("train", 30), ("t10k", 20)])
def test_both_parts_are_read_as_they_were_written(folder, part, number):
    images, labels = read_fashion_mnist(part)
    expected_images, expected_labels = formats.articles(number)
    np.testing.assert_array_equal(images, expected_images)
    np.testing.assert_array_equal(labels, expected_labels)
    assert images.dtype == labels.dtype == np.uint8


def test_it_reads_what_torchvision_reads(folder, tmp_path):
    for kind, reader in (("images-idx3", read_image_file), ("labels-idx1", read_label_file)):
        file = folder / f"train-{kind}-ubyte.gz"
        unpacked = tmp_path / kind
        unpacked.write_bytes(gzip.decompress(file.read_bytes()))
        ours = read_idx(file, axes=3 if "images" in kind else 1)
        np.testing.assert_array_equal(ours, reader(str(unpacked)).numpy())


def test_the_classes_are_torchvisions():
    assert list(CLASSES) == FashionMNIST.classes


def refusal(part="train"):
    with pytest.raises(UserError) as refused:
        read_fashion_mnist(part)
    return str(refused.value)


def test_a_missing_file_is_named_with_the_command_that_fetches_it(folder):
    (folder / "train-labels-idx1-ubyte.gz").unlink()
    sentence = refusal()
    assert "train-labels-idx1-ubyte.gz" in sentence
    assert "echostudy data fetch fashion_mnist" in sentence


def test_a_wrong_label_is_named_with_its_record(folder):
    labels = np.arange(30) % 10
    labels[17] = 12
    formats.write_idx(folder / "train-labels-idx1-ubyte.gz", labels)
    assert "train-labels-idx1-ubyte.gz has the label 12 at record 17" in refusal()


def test_labels_and_images_must_be_equally_many(folder):
    formats.write_idx(folder / "train-labels-idx1-ubyte.gz", np.zeros(29))
    assert "holds 29 labels for 30 images in train-images-idx3-ubyte.gz; move " in refusal()


def test_images_of_another_size_are_refused(folder):
    formats.write_idx(folder / "train-images-idx3-ubyte.gz", np.zeros((30, 32, 28)))
    assert "holds images of 32x28 pixels, not 28x28" in refusal()


def test_data_that_end_too_early_name_the_record_they_end_in(folder):
    file = folder / "train-images-idx3-ubyte.gz"
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes())[: 16 + 7 * 784 + 100]))
    assert "train-images-idx3-ubyte.gz ends within record 7 of 30" in refusal()


def test_data_that_go_on_too_long_are_refused(folder):
    file = folder / "t10k-images-idx3-ubyte.gz"
    file.write_bytes(gzip.compress(gzip.decompress(file.read_bytes()) + b"abc"))
    assert "holds 3 bytes more than its 20 records" in refusal("t10k")


@pytest.mark.parametrize("keep", [0.2, 0.7, 0.99])
def test_a_cut_gzip_file_is_named(folder, keep):
    file = folder / "train-images-idx3-ubyte.gz"
    whole = file.read_bytes()
    file.write_bytes(whole[: int(keep * len(whole))])
    assert "train-images-idx3-ubyte.gz cannot be unpacked" in refusal()


def test_a_damaged_gzip_file_is_named(folder):
    file = folder / "train-images-idx3-ubyte.gz"
    whole = bytearray(file.read_bytes())
    for at in range(1000, 1200):
        whole[at] ^= 0xFF
    file.write_bytes(whole)
    assert "train-images-idx3-ubyte.gz cannot be unpacked" in refusal()


@pytest.mark.parametrize("content", [b"", b"<html>404</html>"])
def test_a_file_that_is_no_gzip_file_is_named(folder, content):
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(content)
    assert "train-labels-idx1-ubyte.gz" in refusal()


@pytest.mark.parametrize(
    "content", [b"", b"abc", bytes([0, 0, 13, 1, 0, 0, 0, 1, 5]), bytes([0, 0, 8, 1, 0])]
)
def test_a_file_of_another_format_is_refused(folder, content):
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(content))
    assert "is no idx file of unsigned bytes with 1 axes" in refusal()
