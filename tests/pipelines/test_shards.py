from __future__ import annotations

import threading
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from data_formats.shards import ALL, SIZES, decode, ids_by_ordinal, pipeline, shard_bytes, tar_bytes
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import INSERTION_POINTS, EchoSpec, Pipeline, RandomShift, SourceError, StreamSource, TarSource
from pipelines.shards import shuffled
from pipelines.tars import examples_in
from pipelines.testing import assert_resumes_exactly


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("shards")
    paths = [folder / f"train-{shard}.tar" for shard in range(len(SIZES))]
    for shard, path in enumerate(paths):
        path.write_bytes(shard_bytes(shard, SIZES[shard]))
    return paths


@pytest.mark.parametrize("shuffle_buffer", [0, 1, 8, 100])
@pytest.mark.parametrize("factor", [1, 2.5])
def test_every_pass_gives_every_example_once(shards: list[Path], shuffle_buffer: int, factor: float) -> None:
    source = TarSource(shards, decode, shuffle_buffer=shuffle_buffer)
    assert isinstance(source, StreamSource)
    ids = ids_by_ordinal(pipeline(source, echo=EchoSpec(factor, "before_augmentation", 20)), 75)
    passes = [ids[start : start + 25] for start in (0, 25, 50)]
    assert [sorted(one) for one in passes] == [ALL] * 3
    assert len({tuple(one) for one in passes}) == 3


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_inputs_and_targets_are_those_of_the_example_ids(shards: list[Path], insertion_point: str) -> None:
    source = TarSource(shards, decode, shuffle_buffer=5)
    for batch in islice(pipeline(source, echo=EchoSpec(2.5, insertion_point, 20)), 40):
        shard, place = np.divmod(batch.example_ids, 2**32)
        assert np.array_equal(batch.inputs[:, 0, 0].numpy(), 20 * shard + place)
        assert np.array_equal(batch.targets.numpy(), place)


def test_without_a_shuffle_buffer_shards_are_read_from_the_front(shards: list[Path]) -> None:
    ids = ids_by_ordinal(pipeline(TarSource(shards, decode)), 25)
    order = list(dict.fromkeys(number >> 32 for number in ids))
    assert ids == [shard * 2**32 + place for shard in order for place in range(SIZES[shard])]


def test_the_fresh_stream_is_the_same_whatever_the_echo(shards: list[Path]) -> None:
    source = TarSource(shards, decode, shuffle_buffer=6)
    plain = ids_by_ordinal(pipeline(source), 60)
    for insertion_point in INSERTION_POINTS:
        echo = EchoSpec(3, insertion_point, 25)
        assert ids_by_ordinal(pipeline(source, echo=echo, batch_size=5), 60) == plain
    assert ids_by_ordinal(pipeline(source, seed=4), 60) != plain


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(0, 30), st.integers(0, 99))
def test_a_shuffle_buffer_gives_all_items_once_and_none_before_it_is_read(
    items: int, size: int, seed: int
) -> None:
    order = list(shuffled(range(items), size, np.random.default_rng(seed)))
    assert sorted(order) == list(range(items))
    assert all(item <= place + max(size - 1, 0) for place, item in enumerate(order))


def test_a_shuffle_buffer_has_the_geometric_delays_of_tf_data() -> None:
    size, items = 20, 20_000
    order = list(shuffled(range(items), size, np.random.default_rng(0)))
    delay = np.argsort(order)[size:-1000] - (np.arange(size, items - 1000) - size)
    assert delay.min() == 1
    assert abs(delay.mean() - size) < 0.5
    assert abs((delay > size).mean() - (1 - 1 / size) ** size) < 0.01


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_it_resumes_exactly_in_every_pass(shards: list[Path], insertion_point: str, on_error: str) -> None:
    def make() -> Pipeline:
        source = TarSource(shards, decode, shuffle_buffer=6, on_error=on_error)
        return pipeline(source, echo=EchoSpec(1.5, insertion_point, 13), augment=RandomShift(1))

    assert_resumes_exactly(make, batches=20)


def test_without_echo_it_resumes_exactly_too(shards: list[Path]) -> None:
    assert_resumes_exactly(lambda: pipeline(TarSource(shards, decode, shuffle_buffer=6)), batches=14)
    assert_resumes_exactly(lambda: pipeline(TarSource(shards, decode), batch_size=5).prefetch(3), batches=12)


def test_resuming_decodes_only_what_is_needed_and_a_pass_that_is_over_is_not_read(shards: list[Path]) -> None:
    def counting(files: dict[str, bytes]) -> tuple[Any, Any]:
        decoded.append(files)
        return decode(files)

    decoded: list[Any] = []
    saved, resumed = (pipeline(TarSource(shards, counting), batch_size=5) for _ in range(2))
    list(islice(saved, 8))
    decoded.clear()
    resumed.load_state_dict(saved.state_dict())
    next(resumed)
    assert len(decoded) == 5
    list(islice(saved, 2))
    assert saved.state_dict()["pass_begin"] == 50
    assert saved.state_dict()["pass_number"] == 2


def test_the_state_is_a_few_integers(shards: list[Path]) -> None:
    stream = pipeline(TarSource(shards, decode, shuffle_buffer=1000))
    next(stream)
    own = {name: stream.state_dict()[name] for name in ("pass_begin", "pass_number", "skipped")}
    assert own == {"pass_begin": 0, "pass_number": 0, "skipped": 0}


@pytest.mark.parametrize("name", ["pass_begin", "pass_number", "skipped"])
@pytest.mark.parametrize("value", [-1, None, 1.0])
def test_a_damaged_state_is_refused(shards: list[Path], name: str, value: Any) -> None:
    stream = pipeline(TarSource(shards, decode))
    with pytest.raises(ValueError, match="damaged; load another one"):
        stream.load_state_dict(stream.state_dict() | {name: value})


def test_a_state_whose_pass_begins_in_the_future_is_refused(shards: list[Path]) -> None:
    stream = pipeline(TarSource(shards, decode))
    with pytest.raises(ValueError, match="damaged; load another one"):
        stream.load_state_dict(stream.state_dict() | {"pass_begin": 1})


def test_the_state_of_other_shards_is_refused(shards: list[Path]) -> None:
    state = pipeline(TarSource(shards, decode)).state_dict()
    for other in (TarSource(shards[:3], decode), TarSource(shards, decode, shuffle_buffer=1)):
        with pytest.raises(ValueError, match="belongs to a pipeline with examples = '4 tar shards"):
            pipeline(other).load_state_dict(state)


def test_shards_may_move_between_saving_and_resuming(shards: list[Path], tmp_path: Path) -> None:
    saved = pipeline(TarSource(shards, decode))
    next(saved)
    moved = [tmp_path / path.name for path in shards]
    for path, place in zip(shards, moved, strict=True):
        place.write_bytes(path.read_bytes())
    resumed = pipeline(TarSource(moved, decode))
    resumed.load_state_dict(saved.state_dict())
    assert torch.equal(next(resumed).inputs, next(saved).inputs)


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
def test_together_the_ranks_read_every_example_exactly_once_a_pass(
    shards: list[Path], world_size: int
) -> None:
    source = TarSource(shards, decode, shuffle_buffer=4)
    for number in range(3):
        read = [source.read_pass(number, 3, rank, world_size) for rank in range(world_size)]
        assert Counter(name for share in read for name, _ in share) == Counter(ALL)


def test_a_rank_streams_its_share_and_resumes_exactly(shards: list[Path]) -> None:
    source = TarSource(shards, decode, shuffle_buffer=4)
    for rank in (0, 1):
        share = [name for number in range(3) for name, _ in source.read_pass(number, 3, rank, 2)]
        stream = pipeline(source, batch_size=4).shard(rank, 2)
        assert ids_by_ordinal(stream, len(share)) == share
    assert_resumes_exactly(lambda: pipeline(source, batch_size=4).shard(1, 2), batches=9)


def test_more_ranks_than_shards_are_refused(shards: list[Path]) -> None:
    with pytest.raises(SourceError, match="5 ranks cannot share 4 shards; give at least one shard a rank"):
        next(pipeline(TarSource(shards, decode)).shard(0, 5))


def test_files_of_one_example_share_the_path_up_to_the_first_dot(tmp_path: Path) -> None:
    files = [("a.b/1.x.y", b"1"), ("a.b/1.z", b"2"), ("c/1.z", b"3"), ("plain", b"4")]
    (tmp_path / "names.tar").write_bytes(tar_bytes(files))
    assert list(examples_in(str(tmp_path / "names.tar"))) == [
        ("a.b/1", {"x.y": b"1", "z": b"2"}),
        ("c/1", {"z": b"3"}),
        ("plain", {"": b"4"}),
    ]


def test_a_shard_that_is_not_there_is_an_error_in_any_case(shards: list[Path]) -> None:
    gone = shards[0].with_name("gone.tar")
    with pytest.raises(
        SourceError, match=r"gone\.tar cannot be read \(FileNotFoundError: .*check its address"
    ):
        next(pipeline(TarSource([gone], decode, on_error="skip")))


def test_an_address_nobody_knows_is_an_error() -> None:
    with pytest.raises(SourceError, match=r"carrier-pigeon://1.tar cannot be read"):
        next(pipeline(TarSource(["carrier-pigeon://1.tar"], decode)))


@pytest.mark.parametrize("shard", ["s3://bucket/1.tar", "gs://bucket/1.tar"])
def test_a_missing_package_is_named(shard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = {"s3": "s3fs", "gs": "gcsfs"}[shard[:2]]
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(SourceError, match=rf"{shard} needs a package that is missing.*{package}.*with pip"):
        next(pipeline(TarSource([shard], decode)))


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


def test_shards_behind_http_give_the_same_stream(shards: list[Path]) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(shards[0].parent)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        remote = pipeline(TarSource([f"{address}/{path.name}" for path in shards], decode, shuffle_buffer=4))
        local = pipeline(TarSource(shards, decode, shuffle_buffer=4))
        for batch, same in zip(islice(local, 10), remote, strict=False):
            assert torch.equal(batch.inputs, same.inputs)
            assert np.array_equal(batch.example_ids, same.example_ids)
        with pytest.raises(SourceError, match=r"gone\.tar cannot be read"):
            next(pipeline(TarSource([f"{address}/gone.tar"], decode)))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_no_shards_are_refused() -> None:
    with pytest.raises(ValueError, match="the list of shards is empty; give at least one"):
        TarSource([], decode)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"on_error": "ignore"}, r"on_error is 'ignore'; give 'raise' or 'skip'"),
        ({"shuffle_buffer": -1}, r"shuffle_buffer is -1; give a number of examples, or 0"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        TarSource(["1.tar"], decode, **settings)


def test_examples_of_a_shard_that_cannot_be_stacked_are_named(shards: list[Path]) -> None:
    def torn(files: dict[str, bytes]) -> Any:
        image, label = decode(files)
        return (image[:1] if label == 8 else image), label

    with pytest.raises(SourceError, match=r"example 8 of .*train-2\.tar: ndarray \(1, 3\)"):
        list(islice(pipeline(TarSource(shards, torn)), 9))
    with pytest.raises(SourceError, match=r"no pair \(example \d+ of .*\.tar: NoneType\)"):
        next(pipeline(TarSource(shards, lambda files: cast(Any, None))))
