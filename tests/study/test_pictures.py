"""Photos as tensors of one size, against torchvision's own steps, and what damage is noticed."""

import io

import numpy as np
import pytest
import torch
from data_formats.images import jpeg, photos
from PIL import Image
from torchvision.transforms import v2

from study.data.pictures import decoded, is_whole

PHOTO = photos()[0]


def square(pixels: np.ndarray) -> torch.Tensor:
    """torchvision's recipe for validation, on the pixels of a photo."""
    steps = v2.Compose([v2.Resize(64), v2.CenterCrop(64), v2.PILToTensor()])
    return steps(Image.fromarray(pixels))


@pytest.mark.parametrize("shape", [(427, 640), (300, 100), (64, 64), (30, 50)])
def test_a_photo_is_resized_and_cut_as_torchvision_does(shape):
    pixels = PHOTO[: shape[0], : shape[1]]
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")  # loses nothing
    photo = decoded(file.getvalue(), 64)
    assert photo.dtype == torch.uint8
    assert torch.equal(photo, square(pixels))


def test_a_colour_jpeg_looks_as_before():
    assert (decoded(jpeg(PHOTO), 64).float() - square(PHOTO).float()).abs().mean() < 1.5


def test_a_photo_for_printing_looks_as_before():
    assert (decoded(jpeg(PHOTO, "CMYK"), 64).float() - square(PHOTO).float()).abs().mean() < 1.5


def test_a_grey_photo_has_three_equal_channels_of_its_brightness():
    photo = decoded(jpeg(PHOTO, "L"), 64)
    assert torch.equal(photo[0], photo[1])
    assert torch.equal(photo[0], photo[2])
    brightness = (square(PHOTO).float() * torch.tensor([0.299, 0.587, 0.114])[:, None, None]).sum(0)
    assert (photo[0].float() - brightness).abs().mean() < 1.5


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.95, 0.999])
def test_a_truncated_jpeg_is_noticed(share, tmp_path):
    content = jpeg(PHOTO)[: int(len(jpeg(PHOTO)) * share)]
    with pytest.raises(OSError, match=r"truncated|cannot identify"):
        decoded(content, 64)
    (tmp_path / "photo.JPEG").write_bytes(content)
    assert not is_whole(tmp_path / "photo.JPEG")


def test_whole_pictures_are_told_from_what_is_none(tmp_path):
    file = tmp_path / "photo.JPEG"
    png = io.BytesIO()
    Image.fromarray(PHOTO).save(png, "PNG")
    for content, whole in (
        (jpeg(PHOTO), True),
        (jpeg(PHOTO) + bytes(1000), True),  # with something behind its end
        (jpeg(PHOTO) + bytes(10_000), True),
        (png.getvalue(), True),  # ImageNet has one of these under the name .JPEG
        (b"", False),
        (b"no picture at all", False),
        (png.getvalue()[:5000], False),
    ):
        file.write_bytes(content)
        assert is_whole(file) is whole
