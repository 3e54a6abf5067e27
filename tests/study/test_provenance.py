"""Provenance tags."""

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import torch

from pipelines import MemorySource
from study.provenance import PACKAGES, checksum, provenance

SHAPE_NO_RESULT = {
    "PyYAML",
    "SQLAlchemy",
    "aiohttp",
    "fsspec",
    "mlflow-skinny",
    "mlflow-tracing",
    "psutil",
    "pyarrow",
    "pydantic",
    "pydantic_core",
    "requests",
}
"""What reads study files, carries bytes and keeps results."""


def test_tags_tell_code_packages_machine_and_data():
    tags = provenance((torch.arange(3), torch.arange(3)))
    assert re.fullmatch(r"[0-9a-f]{40}|unknown", tags["echostudy.git_commit"])
    assert tags["echostudy.git_dirty"] in {"true", "false", "unknown"}
    assert tags["echostudy.version.torch"] == torch.__version__.partition("+")[0]
    assert int(tags["echostudy.hardware.cores"]) >= 1
    assert re.fullmatch(r"[0-9a-f]{64}", tags["echostudy.data_checksum"])
    assert all(key.startswith("echostudy.") and value for key, value in tags.items())


def test_every_package_that_may_decide_a_result_is_among_the_tags():
    homes, repository = packages_distributions(), Path(__file__).parents[2]
    imported = {
        home
        for folder in ("pipelines", "models", "study")
        for file in (repository / folder).rglob("*.py")
        for top in _imported(file)
        for home in homes.get(top, [top])
    }
    assert imported - SHAPE_NO_RESULT == set(PACKAGES)


def _imported(file):
    for node in ast.walk(ast.parse(file.read_text())):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        modules += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
        yield from {module.partition(".")[0] for module in modules} - sys.stdlib_module_names


def test_the_checksum_sees_every_byte_the_shape_and_the_type():
    base = torch.arange(6, dtype=torch.int64)
    changed = base.clone()
    changed[5] = 0
    sums = {checksum((data,)) for data in (base, changed, base.reshape(2, 3), base.to(torch.float64))}
    assert len(sums) == 4
    assert checksum((base,)) == checksum((base.clone(),))
    assert checksum((base, changed)) != checksum((changed, base))


class Stream:
    identity = "two shards"
    skips_damage = False

    def read_pass(self, number, seed, rank, world_size):
        raise AssertionError("a stream is not read for its checksum")


def test_a_source_is_known_by_a_sample_of_its_examples_and_a_stream_by_its_identity():
    inputs, targets = torch.arange(1000).reshape(500, 2), torch.arange(500)
    tags = provenance(MemorySource(inputs, targets))
    assert tags["echostudy.data_checksum_covers"] == "16 examples of 500, evenly spaced"
    assert re.fullmatch(r"[0-9a-f]{64}", tags["echostudy.data_checksum"])
    changed = targets.clone()
    changed[-1] = 0
    for other in (MemorySource(inputs, changed), MemorySource(inputs[:400], targets[:400])):
        assert provenance(other)["echostudy.data_checksum"] != tags["echostudy.data_checksum"]
    stream = provenance(Stream())
    assert stream["echostudy.data_checksum_covers"] == "the identity of the stream"
