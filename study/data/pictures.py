"""Photos of any size as tensors of one size."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image
from torch import Tensor
from torchvision.transforms.v2 import functional as F

_JPEG_BEGIN, _JPEG_END = b"\xff\xd8\xff", b"\xff\xd9"
_TAIL_BYTES = 4096


def decoded(content: bytes, size: int) -> Tensor:
    """A picture file's content as [3, size, size] uint8: red, green and blue.

    Resized, bilinear with antialiasing, until its shorter side has `size` pixels, and cut to the square in
    its middle. Grey pictures and those for printing (CMYK) are converted by Pillow.

    Raises:
        Exception: it is no picture or a damaged one; Pillow's decoders have many ways to say so.
    """
    with Image.open(io.BytesIO(content)) as picture:
        square: Tensor = F.pil_to_tensor(
            F.center_crop(F.resize(picture.convert("RGB"), [size], antialias=True), [size, size])
        )
    return square


def is_whole(path: Path) -> bool:
    """True if the picture can be decoded, as far as can be told quickly.

    A JPEG file that begins and ends as such is taken to be whole: an end marker cannot occur inside the coded
    pixels. Any other is decoded to see.
    """
    with path.open("rb") as file:
        begin = file.read(len(_JPEG_BEGIN))
        file.seek(max(0, path.stat().st_size - _TAIL_BYTES))
        if begin == _JPEG_BEGIN and _JPEG_END in file.read():
            return True
    try:
        decoded(path.read_bytes(), 1)
    except Exception:
        return False
    return True
