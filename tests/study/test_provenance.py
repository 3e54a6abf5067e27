"""Provenance tags."""

import re

import torch

from study.provenance import checksum, provenance


def test_tags_tell_code_packages_machine_and_data():
    tags = provenance((torch.arange(3),))
    assert re.fullmatch(r"[0-9a-f]{40}|unknown", tags["echostudy.git_commit"])
    assert tags["echostudy.git_dirty"] in {"true", "false", "unknown"}
    assert tags["echostudy.version.torch"] == torch.__version__.partition("+")[0]
    assert int(tags["echostudy.hardware.cores"]) >= 1
    assert re.fullmatch(r"[0-9a-f]{64}", tags["echostudy.data_checksum"])
    assert all(key.startswith("echostudy.") and value for key, value in tags.items())


def test_the_checksum_sees_every_byte_the_shape_and_the_type():
    base = torch.arange(6, dtype=torch.int64)
    changed = base.clone()
    changed[5] = 0
    sums = {checksum((data,)) for data in (base, changed, base.reshape(2, 3), base.to(torch.float64))}
    assert len(sums) == 4
    assert checksum((base,)) == checksum((base.clone(),))
    assert checksum((base, changed)) != checksum((changed, base))
