"""Small samples of detection data in the official formats, written under a data root."""

import json
from pathlib import Path

import numpy as np
import torch
from data_formats.fashion import write_fashion_mnist
from data_formats.images import photos
from PIL import Image

from models import ssd_small

CATEGORIES = {90: "toothbrush", 1: "person", 13: "stop sign", 2: "bicycle"}
"""Some of COCO's, with their official ids: with gaps, and here not in order."""


def write_coco(root: Path, train: int = 12, valid: int = 4) -> None:
    """Both splits, small, in the folder `coco`; each as `coco_split` makes it."""
    for split, images in (("train2017", train), ("val2017", valid)):
        write_split(root / "coco", split, *coco_split(images, seed=len(split)))


def write_split(folder: Path, split: str, pictures: dict[str, np.ndarray], instances: dict) -> None:
    """A split's JPEGs, uint8 [height, width, channels], and its `instances_*.json`."""
    (folder / split).mkdir(parents=True, exist_ok=True)
    for name, pixels in pictures.items():
        Image.fromarray(pixels.squeeze()).save(folder / split / name, quality=90)
    annotations = folder / "annotations" / f"instances_{split}.json"
    annotations.parent.mkdir(exist_ok=True)
    annotations.write_text(json.dumps(instances), encoding="utf-8")


def coco_split(images: int, seed: int) -> tuple[dict[str, np.ndarray], dict]:
    """Pictures by file name, and what an `instances_*.json` says of them.

    A picture shows a piece of a real photo, dimmed, with up to three bright pieces of the other photo as its
    objects. The first has no object, the second is grey, and a box of the third is around a crowd.
    """
    random = np.random.default_rng(seed)
    instances: dict = {
        "info": {},
        "images": [],
        "annotations": [],
        "categories": [{"id": key, "name": name} for key, name in CATEGORIES.items()],
    }
    pictures = {}
    for number in range(images):
        height, width = random.integers(80, 120, 2).tolist()
        picture = _piece(number % 2, height, width, random) // 4
        name = f"{100 + number:012d}.jpg"
        instances["images"].append({"id": 100 + number, "file_name": name, "width": width, "height": height})
        for place in range(0 if number == 0 else 1 + number % 3):
            high, wide = random.integers(20, 35, 2).tolist()
            top = int(random.integers(0, height - high))
            left = int(random.integers(0, width - wide))
            picture[top : top + high, left : left + wide] = _piece(1 - number % 2, high, wide, random)
            instances["annotations"].append(
                {
                    "id": 1000 * number + place,
                    "image_id": 100 + number,
                    "category_id": list(CATEGORIES)[place],
                    "bbox": [left, top, wide, high],
                    "area": wide * high,
                    "iscrowd": int(number == 2 and place == 1),
                }
            )
        pictures[name] = picture[..., :1] if number == 1 else picture
    return pictures, instances


def _piece(photo: int, height: int, width: int, random: np.random.Generator) -> np.ndarray:
    pixels = photos()[photo]
    top, left = random.integers(0, (pixels.shape[0] - height, pixels.shape[1] - width))
    return pixels[top : top + height, left : left + width].copy()


def narrow_ssd(num_classes: int) -> torch.nn.Module:
    """A detector that takes SSD 300's images and classes and trains in seconds on a CPU."""
    return ssd_small(num_classes=num_classes, image_size=96, channels=3)


SAMPLES = {"scenes_ssd": write_fashion_mnist, "coco_ssd": write_coco}
"""What each workload of this family reads."""

POINTS = {name: {"learning_rate": 0.003, "momentum": 0.9} for name in SAMPLES}

STAND_INS = {"coco_ssd": {"study.workloads.coco.ssd300": narrow_ssd}}
"""What takes the place of a model that is too large to train in a test."""
