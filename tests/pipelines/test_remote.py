"""Servers that fail in every way: the stream comes whole and once, or an error says where it ended."""

from __future__ import annotations

import io
import logging
import multiprocessing
import os
import re
import threading
from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import torch
from data_formats.shards import SIZES, decode, pipeline, shard_bytes
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader, IterableDataset

from benchmarks.slow_server import CHUNK, Fault, SlowServer
from pipelines import Pipeline, SourceError, TarSource
from pipelines.remote import Patience, open_shard
from pipelines.tars import DamagedShardError, examples_in

QUICK: dict[str, Any] = {"retries": 2, "timeout_s": 20.0, "pause_s": 0.0}
IMPATIENT = Patience(**QUICK)
STALL_S = 0.15
LONG = np.random.default_rng(0).bytes(40 * CHUNK + 5)
BREAKS = [Fault("reset", 3000), Fault("cut", 3000), Fault("stall", 3000), Fault("status", status=503)]
EVER = [*BREAKS, Fault("reset"), Fault("status", status=429)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shards")
    for shard, size in enumerate(SIZES):
        (folder / f"train-{shard}.tar").write_bytes(shard_bytes(shard, size))
    (folder / "long.bin").write_bytes(LONG)
    return folder


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    left = [thread.name for thread in set(threading.enumerate()) - before]
    assert [name for name in left if name != "fsspecIO"] == []  # fsspec's, one a process


def names() -> list[str]:
    return [f"train-{shard}.tar" for shard in range(len(SIZES))]


def assert_same_stream(address: str, folder: Path, **given: Any) -> None:
    local = pipeline(TarSource([folder / name for name in names()], decode, shuffle_buffer=4))
    source = TarSource([f"{address}/{name}" for name in names()], decode, shuffle_buffer=4, **(QUICK | given))
    for same, batch in zip(islice(local, 10), pipeline(source), strict=False):
        assert torch.equal(batch.inputs, same.inputs)
        assert torch.equal(batch.targets, same.targets)
        assert np.array_equal(batch.example_ids, same.example_ids)


@pytest.mark.parametrize("fault", EVER, ids=lambda fault: f"{fault.kind}-{fault.at}")
@pytest.mark.parametrize("ranges", [True, False])
def test_a_stream_that_breaks_off_twice_goes_on_where_it_broke_off(
    folder: Path, fault: Fault, ranges: bool
) -> None:
    faults = {name: [None, fault, fault] for name in names()}
    with SlowServer(folder, faults=faults, ranges=ranges) as address:
        given = {"timeout_s": STALL_S, "retries": 9} if fault.kind == "stall" else {}
        assert_same_stream(address, folder, **given)


@pytest.mark.parametrize("fault", EVER, ids=lambda fault: f"{fault.kind}-{fault.at}")
def test_where_it_always_breaks_off_an_error_names_shard_byte_reason_and_tries(
    folder: Path, fault: Fault
) -> None:
    server = SlowServer(folder, faults={"train-0.tar": repeat(fault)})
    with server as address:
        given = QUICK | {"timeout_s": STALL_S if fault.kind == "stall" else 20}
        stream = pipeline(TarSource(f"{address}/train-0.tar", decode, on_error="skip", **given), batch_size=4)
        with pytest.raises(
            SourceError,
            match=rf"Shard {address}/train-0\.tar cannot be read beyond byte \d+: tried 3 times in a row, at "
            r"last (ConnectionError|TimeoutError): .+; check the server",
        ):
            list(islice(stream, 5))
        assert stream.ledger.skipped == 0
    assert len(server.asked) <= 2 * 3  # until a byte has come, and from there on


def test_the_reasons_are_told(folder: Path) -> None:
    told = {
        Fault("stall", 3000): "beyond byte 3000: .* TimeoutError: nothing came for 0.15 s",
        Fault("status", status=503): "beyond byte 0: .* the server answered 503 Service Unavailable",
        Fault("cut", 3000): r"beyond byte \d+: .*Not enough data to satisfy content length",
        Fault("reset", 3000): r"beyond byte \d+: .* reset",
    }
    for fault, words in told.items():
        with (
            SlowServer(folder, faults={"train-0.tar": repeat(fault)}) as address,
            pytest.raises(SourceError, match=words),
        ):
            list(examples_in(f"{address}/train-0.tar", Patience(2, STALL_S, 0)))


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["reset", "cut"]), st.integers(0, len(LONG))), max_size=8),
    st.booleans(),
)
def test_every_byte_comes_once_wherever_and_however_often_it_breaks_off(
    folder: Path, breaks: list[tuple[Any, int]], ranges: bool
) -> None:
    faults = {"long.bin": [Fault(kind, at) for kind, at in breaks]}
    with (
        SlowServer(folder, faults=faults, ranges=ranges) as address,
        open_shard(f"{address}/long.bin", Patience(retries=8, pause_s=0)) as file,
    ):
        assert file.read() == LONG


def test_retries_are_counted_anew_once_a_byte_has_come(folder: Path) -> None:
    begins = range(0, len(LONG), 8 * CHUNK)
    server = SlowServer(folder, faults={"long.bin": [Fault("stall", at) for at in begins[1:]]})
    patience = Patience(retries=1, timeout_s=STALL_S, pause_s=0)
    with server as address, open_shard(f"{address}/long.bin", patience) as file:
        assert file.read() == LONG
    assert server.asked == [("long.bin", at) for at in begins]


def test_a_server_that_is_down_is_waited_for_ever_longer(folder: Path) -> None:
    pauses = []
    server = SlowServer(folder)
    with server as address:
        down = server.down()

        def wait(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                down.__exit__(None, None, None)

        patience = Patience(retries=3, pause_s=0.5, sleep=wait)
        down.__enter__()
        assert list(examples_in(f"{address}/train-0.tar", patience)) == list(
            examples_in(str(folder / "train-0.tar"))
        )
    assert pauses == [0.5, 1, 2]
    with pytest.raises(SourceError, match=r"beyond byte 0: tried 4 times.*Cannot connect to host 127.0.0.1"):
        list(examples_in(f"{address}/train-0.tar", Patience(retries=3, sleep=pauses.append)))
    assert pauses[3:] == [1, 2, 4]
    assert Patience(pause_s=0.5).pause_before(2000) == 32


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_what_is_refused_for_good_is_not_tried_again(folder: Path, status: int) -> None:
    faults = {"train-0.tar": [Fault("status", status=status)]}  # a second try would succeed
    with SlowServer(folder, faults=faults) as address:
        words = "FileNotFoundError" if status == 404 else str(status)
        with pytest.raises(SourceError, match=rf"train-0\.tar cannot be read \(.*{words}.*check its address"):
            list(examples_in(f"{address}/train-0.tar", IMPATIENT))


def test_a_shard_that_vanishes_while_it_is_read_is_an_error_at_once(folder: Path) -> None:
    faults = {"long.bin": [Fault("cut", 9), Fault("status", status=404)]}
    with (
        SlowServer(folder, faults=faults) as address,
        open_shard(f"{address}/long.bin", IMPATIENT) as file,
        pytest.raises(FileNotFoundError),
    ):
        file.read()


def test_a_shard_that_is_short_on_the_server_is_damaged(folder: Path) -> None:
    (folder / "short.tar").write_bytes(shard_bytes(0, 7)[: 4 * 2048 + 700])
    server = SlowServer(folder)
    with server as address:
        with pytest.raises(DamagedShardError, match=r"short\.tar is damaged at byte \d+, after 4 examples"):
            list(examples_in(f"{address}/short.tar", IMPATIENT))
        source = TarSource([f"{address}/short.tar"], decode, on_error="skip", **QUICK)
        stream = pipeline(source, batch_size=4)
        next(stream)
        next(stream)
        assert stream.ledger.skipped >= 1
    assert set(server.asked) == {("short.tar", 0)}


@pytest.mark.parametrize("ranges", [True, False])
def test_a_shard_that_changes_while_it_is_read_is_not_spliced(tmp_path: Path, ranges: bool) -> None:
    (tmp_path / "1.bin").write_bytes(LONG)
    with (
        SlowServer(tmp_path, faults={"1.bin": [Fault("stall", CHUNK)]}, ranges=ranges) as address,
        open_shard(f"{address}/1.bin", Patience(2, STALL_S, 0)) as file,
    ):
        assert file.read(CHUNK) == LONG[:CHUNK]
        (tmp_path / "1.bin").write_bytes(LONG[::-1])
        with pytest.raises(SourceError, match=r"1\.bin has changed while it was read"):
            file.read()


def test_each_retry_is_logged(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with SlowServer(folder, faults={"train-0.tar": [Fault("cut", 3000)]}) as address:
        list(examples_in(f"{address}/train-0.tar", IMPATIENT))
    ((logger, level, text),) = caplog.record_tuples
    assert (logger, level) == ("pipelines.remote", logging.WARNING)
    assert re.match(rf"Shard {address}/train-0\.tar broke off at byte \d+ \(ConnectionError: ", text)
    assert text.endswith("); trying again in 0 s.")


def test_a_gzip_shard_goes_on_too(folder: Path) -> None:
    (folder / "packed.tar.gz").write_bytes(shard_bytes(0, 7, mode="w:gz"))
    with SlowServer(folder, faults={"packed.tar.gz": [Fault("cut", 100)]}) as address:
        examples = list(examples_in(f"{address}/packed.tar.gz", IMPATIENT))
    assert examples == list(examples_in(str(folder / "train-0.tar")))


class Flaky(fsspec.AbstractFileSystem):
    """A storage that is not HTTP, whose files break off after 3,000 bytes."""

    protocol = "flaky"

    def _open(self, path: str, mode: str = "rb", **settings: Any) -> Any:
        return FlakyFile(shard_bytes(0, 7))


class FlakyFile(io.BytesIO):
    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._left = 3000

    def read(self, most: int = -1) -> bytes:
        if self._left == 0:
            raise OSError("lost the connection")
        content = super().read(min(most, self._left))
        self._left -= len(content)
        return content


def test_other_storage_is_opened_again_where_it_broke_off() -> None:
    fsspec.register_implementation("flaky", Flaky, clobber=True)
    with open_shard("flaky://1.tar", IMPATIENT) as file:
        assert file.read() == shard_bytes(0, 7)


def test_a_thread_that_reads_ahead_passes_the_error_on_and_ends(folder: Path) -> None:
    with SlowServer(folder, faults={"train-0.tar": repeat(Fault("stall", 3000))}) as address:
        source = TarSource([f"{address}/train-0.tar"], decode, retries=1, timeout_s=STALL_S, pause_s=0)
        with (
            pipeline(source, batch_size=2).prefetch(2) as batches,
            pytest.raises(SourceError, match="beyond byte 3000"),
        ):
            list(islice(batches, 5))


class Stream(IterableDataset[Any]):
    """One pass of a source, for the workers of a `DataLoader`: each reads its share."""

    def __init__(self, source: TarSource) -> None:
        self._source = source

    def __iter__(self) -> Iterator[Any]:
        worker: Any = torch.utils.data.get_worker_info()
        for _, give in self._source.read_pass(0, 3, worker.id, worker.num_workers):
            yield give()


def labels(batches: Iterable[Any]) -> list[int]:
    return sorted(label for _, labels in batches for label in labels.tolist())


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_loader_read_and_retry_as_well(folder: Path, method: str) -> None:
    faults = {name: [Fault("cut", 3000), Fault("status")] for name in names()}
    with SlowServer(folder, faults=faults) as address:
        source = TarSource([f"{address}/{name}" for name in names()], decode, **QUICK)
        list(islice(examples_in(f"{address}/train-0.tar", IMPATIENT), 1))  # fsspec's thread runs already
        loader: Any = DataLoader(Stream(source), batch_size=2, num_workers=2, multiprocessing_context=method)
        assert labels(loader) == sorted(place for size in SIZES for place in range(size))


def test_a_fork_with_a_stream_open_goes_on_in_both(folder: Path) -> None:
    def read_anew(address: str) -> None:
        os._exit(list(examples_in(f"{address}/train-1.tar", IMPATIENT)) != expected)

    expected = list(examples_in(str(folder / "train-1.tar")))
    with SlowServer(folder) as address:
        examples = examples_in(f"{address}/train-0.tar", IMPATIENT)
        first = next(examples)
        child = multiprocessing.get_context("fork").Process(target=read_anew, args=(address,))
        child.start()
        child.join(60)
        assert child.exitcode == 0
        assert [first, *examples] == list(examples_in(str(folder / "train-0.tar")))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"retries": -1}, r"TarSource: retries is -1; give a number of tries after the first, or 0"),
        ({"timeout_s": 0}, r"TarSource: timeout_s is 0; give seconds, more than 0"),
        ({"pause_s": float("nan")}, r"TarSource: pause_s is nan; give seconds, or 0"),
    ],
)
def test_settings_out_of_range_are_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        TarSource(["1.tar"], decode, **given)


def test_a_pipeline_goes_on_after_an_error_once_the_server_is_back(folder: Path) -> None:
    def make(address: Any) -> Pipeline:
        return pipeline(TarSource([f"{address}/{name}" for name in names()], decode, **QUICK))

    server = SlowServer(folder)
    with server as address:
        stream = make(address)
        with server.down(), pytest.raises(SourceError, match="cannot be read beyond byte 0"):
            next(stream)
        for same, batch in zip(islice(make(folder), 9), stream, strict=False):
            assert torch.equal(batch.inputs, same.inputs)
