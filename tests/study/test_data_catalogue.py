import re
from pathlib import Path

import pytest
from torchvision.datasets import CIFAR10, FashionMNIST

from study.data.catalogue import DATA_SETS, data_set
from study.data.origins import Web
from study.errors import UserError

MANIFESTS = {name: one.checksums() for name, one in DATA_SETS.items() if one.checksums()}


def web_files(name):
    return [file for origin in DATA_SETS[name].origins if isinstance(origin, Web) for file in origin.files]


def test_an_unknown_name_gets_the_nearest_one():
    with pytest.raises(UserError, match="no data set 'cifar100'; did you mean 'cifar10'"):
        data_set("cifar100")


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_data_set_says_what_it_is_and_how_to_get_it(name):
    one = data_set(name)
    assert one.name == name
    assert one.name.isidentifier()
    assert all((one.summary, one.licence, one.home, one.size_bytes > 0))
    assert one.by_hand or not one.parts, "or it cannot be put there without a connection"


@pytest.mark.parametrize("name", MANIFESTS)
def test_every_checksum_is_of_a_file_of_some_part_and_every_part_has_all_of_its_own(name):
    paths = [Path(path) for path in MANIFESTS[name]]
    for part in DATA_SETS[name].parts:
        assert sum(path.match(part.pattern) for path in paths) == part.files
    assert all(any(path.match(part.pattern) for part in DATA_SETS[name].parts) for path in paths)
    assert all(re.fullmatch("sha256:[0-9a-f]{64}|md5:[0-9a-f]{32}", one) for one in MANIFESTS[name].values())


def test_cifar10_is_torchvisions():
    files = [*CIFAR10.train_list, *CIFAR10.test_list, (CIFAR10.meta["filename"], CIFAR10.meta["md5"])]
    assert MANIFESTS["cifar10"] == {f"{CIFAR10.base_folder}/{name}": f"md5:{md5}" for name, md5 in files}
    (archive,) = web_files("cifar10")
    assert (archive.url, archive.checksum) == (CIFAR10.url, f"md5:{CIFAR10.tgz_md5}")


def test_fashion_mnist_has_torchvisions_files_and_its_mirrors():
    names = [name for name, _ in FashionMNIST.resources]
    assert sorted(MANIFESTS["fashion_mnist"]) == sorted(names)
    urls = [file.url for file in web_files("fashion_mnist")]
    assert {mirror + name for mirror in FashionMNIST.mirrors for name in names} <= set(urls)


@pytest.mark.parametrize("name", DATA_SETS)
def test_what_comes_from_the_web_is_checked_by_a_checksum_where_its_publisher_gives_one(name):
    unchecked = [
        file for file in web_files(name) if not file.checksum and file.name not in MANIFESTS.get(name, {})
    ]
    assert not unchecked or name == "common_crawl", "C4 publishes none"
