"""ImageNet (ILSVRC 2012): 1,281,167 photos for training and 50,000 for validation, of 1,000 classes.

Data: Russakovsky et al., arXiv 1409.0575. They lie under the data root in one of two layouts:

- `imagenet/train/<class>/*.JPEG` and `imagenet/val/<class>/*.JPEG`. A class's number is its folder's place in
  alphabetical order, on which all published models agree.
- `imagenet/shards/*train*.tar` and `imagenet/shards/*val*.tar`, tar shards named as for the WebDataset
  library: a `.jpg` and a `.cls`, the class's number as text, for each photo. Where they are, they are read.
"""

from __future__ import annotations

from study.data.photo_folders import PhotoFolders, class_names
from study.data.photo_shards import PhotoShards
from study.data.root import data_folder, require
from study.errors import UserError

NAME = "imagenet"
CLASSES = 1000

SIZE = 256
"""Height and width that photos are decoded to, in pixels."""

SHUFFLE_BUFFER = 4096
"""Photos for training that are shuffled as they come out of shards: half a gigabyte, not yet decoded."""


def training_photos(*, threads: int = 1, skip: bool = False) -> PhotoFolders | PhotoShards:
    """The source of the photos for training; arguments and errors as `PhotoFolders` and `PhotoShards`."""
    return _photos("train", threads, skip, SHUFFLE_BUFFER)


def validation_photos(*, threads: int = 1, skip: bool = False) -> PhotoFolders | PhotoShards:
    """The source of the photos for validation, likewise; use its `in_order`."""
    return _photos("val", threads, skip, 0)


def _photos(part: str, threads: int, skip: bool, shuffle_buffer: int) -> PhotoFolders | PhotoShards:
    folder = data_folder(NAME)
    if (folder / "shards").is_dir():
        shards = sorted((folder / "shards").glob(f"*{part}*.tar"))
        if not shards:
            raise UserError(f"ImageNet: {folder / 'shards'} has no shards *{part}*.tar; put them there.")
        return PhotoShards(
            shards, classes=CLASSES, size=SIZE, threads=threads, shuffle_buffer=shuffle_buffer, skip=skip
        )
    classes = class_names(require(folder / "train", NAME))
    if len(classes) > CLASSES:
        raise UserError(
            f"ImageNet: {folder / 'train'} has {len(classes)} folders, but there are {CLASSES} classes; "
            "remove what is no class."
        )
    return PhotoFolders(require(folder / part, NAME), classes, size=SIZE, threads=threads, skip=skip)
