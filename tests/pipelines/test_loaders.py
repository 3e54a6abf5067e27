"""The wrappers around loaders of other libraries, as their users have them."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from itertools import islice
from pathlib import Path
from tarfile import TarFile, TarInfo
from typing import Any

import numpy as np
import pytest
import torch
import webdataset
from datasets import Dataset, IterableDataset
from torch.utils.data import DataLoader, TensorDataset
from torchdata.nodes import Batcher, IterableWrapper, Loader, Mapper, MapStyleWrapper
from torchdata.stateful_dataloader import StatefulDataLoader

from pipelines import echo_batches, echo_examples

# WebDataset leaves closing its shards to the garbage collector
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning"),
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in. <_io.FileIO:pytest.PytestUnraisableExceptionWarning"
    ),
]
EXAMPLES, BATCH = 12, 4
IMAGES, LABELS = torch.arange(EXAMPLES * 6.0).reshape(EXAMPLES, 2, 3), torch.arange(EXAMPLES)


def shards(folder: Path) -> list[str]:
    """Two tars of six examples."""
    paths = []
    for shard in range(2):
        paths.append(str(folder / f"{shard}.tar"))
        with TarFile(paths[-1], "w") as archive:
            for number in range(shard * 6, shard * 6 + 6):
                member, content = TarInfo(f"{number:03}.cls"), str(number).encode()
                member.size = len(content)
                archive.addfile(member, BytesIO(content))
    return paths


def web_dataset(folder: Path) -> Any:
    return (
        webdataset.WebDataset(shards(folder), shardshuffle=False, empty_check=False).decode().to_tuple("cls")
    )


def number_of(label: Any) -> int:
    return int(label[0])


def test_examples_of_a_webdataset_come_as_often_as_asked_and_in_the_order_of_a_list(tmp_path: Path) -> None:
    echoed = [number_of(example) for example in echo_examples(web_dataset(tmp_path), 2, buffer=5, seed=1)]
    assert Counter(echoed) == Counter(list(range(EXAMPLES)) * 2)
    assert echoed == list(echo_examples(range(EXAMPLES), 2, buffer=5, seed=1))


def test_echoed_examples_of_a_webdataset_go_through_its_loader_and_its_batching(tmp_path: Path) -> None:
    loader = webdataset.WebLoader(
        echo_examples(web_dataset(tmp_path).map(number_of), 3, buffer=8), batch_size=BATCH, num_workers=0
    )
    batches = list(loader)
    assert [len(batch) for batch in batches] == [BATCH] * 9
    assert Counter(torch.cat(batches).tolist()) == Counter(list(range(EXAMPLES)) * 3)


def test_batches_of_a_webdataset_are_echoed_whole(tmp_path: Path) -> None:
    batched = web_dataset(tmp_path).batched(BATCH)
    echoed = [tuple(map(int, labels)) for (labels,) in echo_batches(batched, 2, buffer_batches=2, seed=3)]
    assert Counter(echoed) == {(0, 1, 2, 3): 2, (4, 5, 6, 7): 2, (8, 9, 10, 11): 2}


def stream() -> Any:
    """A Hugging Face stream of dicts, shuffled by its own buffer."""
    return Dataset.from_dict({"label": list(range(EXAMPLES))}).to_iterable_dataset(num_shards=3)


def test_examples_of_a_hugging_face_stream_are_echoed_with_all_their_columns() -> None:
    shuffled = stream().shuffle(seed=0, buffer_size=4)
    echoed = list(echo_examples(shuffled, 2.5, buffer=4))
    assert Counter(example["label"] for example in echoed) == {
        example["label"]: (i + 1) * 5 // 2 - i * 5 // 2 for i, example in enumerate(shuffled)
    }


def test_a_hugging_face_stream_can_be_batched_after_its_examples_have_been_echoed() -> None:
    batches = list(DataLoader(echo_examples(stream(), 2, buffer=6), batch_size=BATCH))
    assert Counter(torch.cat([batch["label"] for batch in batches]).tolist()) == Counter(
        list(range(EXAMPLES)) * 2
    )


@pytest.mark.parametrize("place", [1, 7, 13, 23])
def test_a_hugging_face_stream_goes_on_where_it_was_saved(place: int) -> None:
    def make() -> Any:
        return echo_examples(stream().shuffle(seed=0, buffer_size=1), 2, buffer=3, seed=2)

    whole = make()
    assert isinstance(stream(), IterableDataset)
    running = iter(whole)
    for _ in islice(running, place):
        pass
    resumed = make()
    resumed.load_state_dict(pickle.loads(pickle.dumps(whole.state_dict())))
    assert list(resumed) == list(running)


def test_a_torchdata_node_is_echoed_and_its_wrapper_is_a_source_for_other_nodes() -> None:
    reading = Loader(MapStyleWrapper(list(range(EXAMPLES)), sampler=range(EXAMPLES)))
    nodes = Mapper(Batcher(IterableWrapper(echo_examples(reading, 2, buffer=5, seed=1)), BATCH), np.array)
    echoed = np.concatenate(list(Loader(nodes)))
    assert echoed.tolist() == list(echo_examples(range(EXAMPLES), 2, buffer=5, seed=1))


def test_batches_of_torchdata_nodes_are_echoed() -> None:
    reading = Loader(Batcher(MapStyleWrapper(list(range(EXAMPLES)), sampler=range(EXAMPLES)), BATCH))
    assert list(echo_batches(reading, 2)) == [
        part for start in (0, 4, 8) for part in [[*range(start, start + 4)]] * 2
    ]


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning")  # torchdata asks torch for it
@pytest.mark.parametrize("place", [1, 3, 4, 6])
def test_a_stateful_data_loader_of_torchdata_goes_on_where_it_was_saved(place: int) -> None:
    def make() -> Any:
        return echo_batches(
            StatefulDataLoader(LABELS, batch_size=3, shuffle=False), 2, buffer_batches=2, seed=4
        )

    whole = make()
    running = iter(whole)
    for _ in islice(running, place):
        pass
    state = pickle.dumps(whole.state_dict())
    resumed = make()
    resumed.load_state_dict(pickle.loads(state))
    assert [batch.tolist() for batch in resumed] == [batch.tolist() for batch in running]


def hugging_face() -> Any:
    return echo_examples(stream(), 2, buffer=3)


def nodes(buffer: int) -> Any:
    return echo_batches(Loader(IterableWrapper(range(EXAMPLES))), 2, buffer)


@pytest.mark.parametrize("make", [hugging_face, lambda: nodes(0), lambda: nodes(3)])
def test_a_wrapper_goes_on_exactly_while_its_buffer_drains_and_for_two_more_passes(make: Any) -> None:
    for place in range(2 * EXAMPLES + 1):
        whole, resumed = make(), make()
        running = iter(whole)
        for _ in islice(running, place):
            pass
        states = [pickle.dumps(whole.state_dict()) for _ in range(2)]
        assert pickle.loads(states[0]) == pickle.loads(states[1])
        resumed.load_state_dict(pickle.loads(states[0]))
        assert list(resumed) == list(running)
        assert [list(resumed), list(resumed)] == [list(whole), list(whole)]


def test_a_worker_without_a_share_gives_nothing() -> None:
    one_shard = Dataset.from_dict({"label": list(range(EXAMPLES))}).to_iterable_dataset(num_shards=1)
    batches = list(DataLoader(echo_examples(one_shard, 2, buffer=5), batch_size=BATCH, num_workers=2))
    seen = Counter(torch.cat([batch["label"] for batch in batches]).tolist())
    assert seen == dict.fromkeys(range(EXAMPLES), 2)


def test_a_bare_node_is_refused_with_advice() -> None:
    with pytest.raises(ValueError, match=r"a bare node .*; wrap it in torchdata.nodes.Loader"):
        echo_batches(Batcher(IterableWrapper(range(EXAMPLES)), BATCH), 2)


def nested(examples: Any) -> Any:
    """Lists in dicts in a tuple."""
    images, labels = (torch.stack(part) for part in zip(*examples, strict=True))
    return [{"views": [images, -images]}, [labels]]


@pytest.mark.parametrize(
    ("dataset", "collate", "label"),
    [
        (LABELS, None, lambda batch: batch),
        (TensorDataset(IMAGES, LABELS), None, lambda batch: batch[1]),
        ([{"image": i, "label": n} for i, n in zip(IMAGES, LABELS, strict=True)], None, lambda b: b["label"]),
        ([(i, (n, "name")) for i, n in zip(IMAGES, LABELS, strict=True)], None, lambda b: b[1][0]),
        (TensorDataset(IMAGES, LABELS), nested, lambda batch: batch[1][0]),
    ],
    ids=["tensors", "tuples", "dicts", "nested tuples", "nested lists"],
)
@pytest.mark.parametrize("workers", [0, 1])
def test_a_data_loader_is_echoed_whatever_its_batches_are(
    dataset: Any, collate: Any, label: Any, workers: int
) -> None:
    loader = DataLoader(dataset, batch_size=BATCH, collate_fn=collate, num_workers=workers)
    bare = list(loader)
    echoed: Iterable[Any] = echo_batches(loader, 2)
    for number, batch in enumerate(echoed):
        assert same(batch, bare[number // 2])
        assert torch.equal(label(batch), LABELS[number // 2 * BATCH :][:BATCH])
    assert number == 5


def same(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return torch.equal(one, other) if isinstance(one, torch.Tensor) else bool(one == other)
