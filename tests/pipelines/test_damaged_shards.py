"""Shards cut, spoilt or joined: named with their place, or left out and counted; never a silent loss."""

from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from data_formats.shards import ALL, SIZES, decode, ids_by_ordinal, pipeline, shard_bytes, tar_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import EchoSpec, Pipeline, SourceError, TarSource
from pipelines.tars import DamagedShardError, examples_in
from pipelines.testing import assert_resumes_exactly


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("shards")
    paths = [folder / f"train-{shard}.tar" for shard in range(len(SIZES))]
    for shard, path in enumerate(paths):
        path.write_bytes(shard_bytes(shard, SIZES[shard]))
    return paths


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Four shards: example 3 of the first is spoilt, the third ends in the middle of example 4."""
    folder = tmp_path_factory.mktemp("damaged")
    paths = [folder / f"train-{shard}.tar" for shard in range(len(SIZES))]
    for shard, path in enumerate(paths):
        content = shard_bytes(shard, SIZES[shard], spoilt=3 if shard == 0 else -1)
        path.write_bytes(content[: 4 * 2048 + 700] if shard == 2 else content)
    return paths


def test_a_source_that_ends_before_the_first_batch_is_named(shards: list[Path], tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"ended after 25 examples of pass 0, .* first batch of 26"):
        next(pipeline(TarSource(shards, decode), batch_size=26))
    (tmp_path / "empty.tar").write_bytes(tar_bytes([]))
    with pytest.raises(SourceError, match="ended after 0 examples"):
        next(pipeline(TarSource(tmp_path / "empty.tar", decode, on_error="skip")))


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_shard_cut_off_anywhere_is_named_and_gives_no_example_by_halves(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = shard_bytes(0, 5)
    end_of_files = 5 * 2 * 1024
    path = tmp_path_factory.getbasetemp() / "cut.tar"
    path.write_bytes(content[: data.draw(st.integers(0, end_of_files))])
    given: list[Any] = []
    with pytest.raises(
        DamagedShardError, match=r"cut.tar is damaged at byte \d+, after \d examples"
    ) as caught:
        given.extend(map(given.append, examples_in(str(path))))
    found = [one for one in given if one]
    assert found == list(islice(examples_of(content), len(found)))
    assert f"after {len(found)} examples" in str(caught.value)


def examples_of(content: bytes) -> Iterator[tuple[str, dict[str, bytes]]]:
    """An independent reading: all of tarfile's members at once."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        files: dict[str, dict[str, bytes]] = {}
        for member in archive.getmembers():
            name, _, extension = member.name.partition(".")
            files.setdefault(name, {})[extension] = archive.extractfile(member).read()  # type: ignore[union-attr]
    yield from files.items()


@pytest.mark.parametrize("block", [0, 2, 3, 8])
def test_a_shard_with_a_spoilt_header_is_named_though_tarfile_would_take_it_for_the_end(
    tmp_path: Path, block: int
) -> None:
    content = bytearray(shard_bytes(0, 5))
    content[1024 * block : 1024 * block + 200] = b"?" * 200
    (tmp_path / "spoilt.tar").write_bytes(content)
    with pytest.raises(DamagedShardError, match=rf"byte {block and 1024 * block + 512}, after"):
        list(examples_in(str(tmp_path / "spoilt.tar")))


FULL = shard_bytes(0, 20)


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize(
    ("content", "examples", "complaint"),
    [
        (FULL[:10240] + bytes(512) + FULL[10752:], 4, "data follow the end marker at byte 10240"),
        (FULL[:11264] + bytes(512) + FULL[11776:], 5, "data follow the end marker at byte 11264"),
        (
            FULL[:10240] + bytes(len(FULL) - 10240),
            4,
            "from byte 10240 on there are more zeros than end a tar",
        ),
        (FULL + shard_bytes(1, 3), 19, "data follow the end marker at byte 40960"),
        (FULL[:40960], 19, "it ends without an end marker"),
        (tar_bytes([]), 0, "it has no files"),
        (bytes(50_000), 0, "from byte 0 on there are more zeros than end a tar"),
    ],
)
def test_zeros_in_a_shard_do_not_pass_for_its_end(
    tmp_path: Path, content: bytes, examples: int, complaint: str, mode: str
) -> None:
    path = tmp_path / "holed.tar"
    path.write_bytes(gzip.compress(content) if mode == "w:gz" else content)
    with pytest.raises(DamagedShardError, match=rf"after {examples} examples \({complaint}\); fetch it anew"):
        list(examples_in(str(path)))
    (tmp_path / "sound.tar").write_bytes(shard_bytes(1, 6))
    source = TarSource([tmp_path / "sound.tar", path], decode, on_error="skip")
    stream = pipeline(source, batch_size=6)
    ids = ids_by_ordinal(stream, 6 + examples)
    assert sorted(ids) == [*range(6), *range(2**32, 2**32 + examples)]
    assert stream.ledger.skipped >= 1


@pytest.mark.parametrize("zeros", [0, 512, 1024, 10240, 20480])
def test_the_zeros_that_fill_up_a_last_record_are_no_damage(tmp_path: Path, zeros: int) -> None:
    (tmp_path / "padded.tar").write_bytes(FULL[: 40960 + 512] + bytes(zeros))
    assert len(list(examples_in(str(tmp_path / "padded.tar")))) == 20


def test_a_second_tar_behind_a_compressed_one_is_no_silence(tmp_path: Path) -> None:
    (tmp_path / "both.tar.gz").write_bytes(2 * shard_bytes(0, 5, mode="w:gz"))
    with pytest.raises(DamagedShardError, match="data follow its compressed part"):
        list(examples_in(str(tmp_path / "both.tar.gz")))


@pytest.mark.parametrize("mode", ["w:gz", "w:bz2", "w:xz"])
def test_compressed_shards_are_read_and_their_damage_named(tmp_path: Path, mode: str) -> None:
    content = shard_bytes(0, 5, mode=mode)
    path = tmp_path / "packed.tar"
    path.write_bytes(content)
    assert list(examples_in(str(path))) == list(examples_of(shard_bytes(0, 5)))
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(DamagedShardError, match=r"packed\.tar is damaged"):
        list(examples_in(str(path)))


def test_damage_is_an_error_unless_asked_to_be_skipped(damaged: list[Path]) -> None:
    with pytest.raises(SourceError, match=r"train-.\.tar.*on_error='skip'"):
        list(islice(pipeline(TarSource(damaged, decode)), 6))


def test_what_cannot_be_decoded_is_named_with_its_place(damaged: list[Path]) -> None:
    complaint = (
        r"train-0\.tar: example 'data/003', number 3 in it, cannot be decoded \(ValueError: cannot resha"
    )
    with pytest.raises(SourceError, match=complaint):
        next(pipeline(TarSource(damaged[:1], decode)))


@pytest.mark.parametrize("factor", [1, 2])
def test_skipped_damage_is_left_out_and_counted(damaged: list[Path], factor: float) -> None:
    source = TarSource(damaged, decode, shuffle_buffer=5, on_error="skip")
    sound = [name for name in ALL if name != 3 and not 2 * 2**32 + 4 <= name < 3 * 2**32]
    stream = pipeline(source, echo=EchoSpec(factor))
    ids = ids_by_ordinal(stream, 3 * len(sound))
    assert [sorted(ids[n * len(sound) : (n + 1) * len(sound)]) for n in range(3)] == [sound] * 3
    passes = stream.ledger.examples_read / len(sound)
    assert 2 * (passes - 1) <= stream.ledger.skipped <= 2 * (passes + 1)


@pytest.mark.parametrize("shuffle_buffer", [0, 5])
@pytest.mark.parametrize("ahead", [0, 2])
def test_with_damage_skipped_it_resumes_exactly(damaged: list[Path], shuffle_buffer: int, ahead: int) -> None:
    def make() -> Pipeline:
        source = TarSource(damaged, decode, shuffle_buffer=shuffle_buffer, on_error="skip")
        return pipeline(source, echo=EchoSpec(1.5, "before_augmentation", 8), batch_size=4).prefetch(ahead)

    assert_resumes_exactly(make, batches=22)
