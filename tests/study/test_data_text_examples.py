"""From texts to training examples: every token predicted once, none lost, none in two examples' targets."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from data_formats.text import sentences, write_json_shard, write_lines
from hypothesis import given
from hypothesis import strategies as st

from pipelines import Pipeline, SourceError
from pipelines.testing import assert_resumes_exactly
from study.data.text_examples import (
    NO_TARGET,
    OneSentence,
    PackedWindows,
    TextShards,
    example,
    packed,
    whole_windows,
    windows,
)
from study.data.text_vocabulary import train_vocabulary

texts_of_tokens = st.lists(st.lists(st.integers(1, 99), max_size=12).map(lambda t: np.array(t, np.int32)))


@pytest.fixture(scope="module")
def vocabulary():
    return train_vocabulary(sentences(100, seed=0), 300)


def in_a_row(texts) -> list[int]:
    return [0, *(token for text in texts for token in [*text.tolist(), 0])]


@given(texts=texts_of_tokens, length=st.integers(1, 9))
def test_windows_predict_every_token_but_the_first_exactly_once(texts, length):
    predicted = []
    for window in windows(texts, length, end=0):
        inputs, targets = example(window, length)
        assert inputs.shape == targets.shape == (length,)
        known = targets != NO_TARGET
        assert known[0]
        assert torch.equal(known, known.cummin(0).values)  # padding lies behind
        assert torch.equal(inputs[1:][known[1:]], targets[:-1][known[1:]])
        predicted += targets[known].tolist()
    assert predicted == in_a_row(texts)[1:]


@given(texts=texts_of_tokens, length=st.integers(1, 9))
def test_what_is_packed_in_memory_are_the_whole_windows_of_the_stream(texts, length):
    inputs, targets = packed(texts, length, end=0)
    whole = [window for window in windows(texts, length, end=0) if len(window) == length + 1]
    assert inputs.shape == targets.shape == (len(whole), length)
    assert inputs.dtype == targets.dtype == torch.int64
    for window, ours, next_ones in zip(whole, inputs, targets, strict=True):
        assert ours.tolist() == window[:-1].tolist()
        assert next_ones.tolist() == window[1:].tolist()


def test_too_few_tokens_make_no_window():
    assert whole_windows(np.array([0, 1, 2], np.int32), 3).shape == (0, 4)
    assert whole_windows(np.array([0, 1, 2, 3], np.int32), 3).tolist() == [[0, 1, 2, 3]]


def test_an_example_is_padded_behind():
    inputs, targets = example(np.array([0, 5, 6, 0], np.int32), 5)
    assert inputs.tolist() == [0, 5, 6, 0, 0]
    assert targets.tolist() == [5, 6, 0, NO_TARGET, NO_TARGET]


def test_a_sentence_is_an_example_with_its_end_or_cut(tmp_path, vocabulary):
    write_lines(tmp_path / "shard", ["ab", "x" * 50])
    short, long = (give() for give in OneSentence(vocabulary, 8)(tmp_path / "shard"))
    ab = vocabulary.encode("ab").tolist()
    assert short[0].tolist() == [0, *ab] + [0] * (7 - len(ab))
    assert short[1].tolist() == [*ab, 0] + [NO_TARGET] * (7 - len(ab))
    x = vocabulary.encode("x" * 50).tolist()
    assert long[0].tolist() == [0, *x[:7]]
    assert long[1].tolist() == x[:8]


def test_documents_are_packed_into_windows_in_their_order(tmp_path, vocabulary):
    pages = [" ".join(sentences(3, seed)) for seed in range(4)]
    write_json_shard(tmp_path / "c4.json.gz", pages)
    given_out = [give() for give in PackedWindows(vocabulary, 16)(tmp_path / "c4.json.gz")]
    tokens = [token for _, targets in given_out for token in targets[targets != NO_TARGET].tolist()]
    assert tokens == in_a_row(map(vocabulary.encode, pages))[1:]


@pytest.fixture(scope="module")
def shards(tmp_path_factory, vocabulary):
    """For each way of cutting, four sound shards, and the same with damage in the third."""
    folder = tmp_path_factory.mktemp("text")
    sound_lines, sound_pages, spoilt_lines, spoilt_pages = [], [], [], []
    for shard in range(4):
        lines = sentences(9, shard)
        write_lines(folder / f"news.en-{shard}", lines)
        write_json_shard(folder / f"c4-{shard}.json.gz", lines)
        sound_lines.append(folder / f"news.en-{shard}")
        sound_pages.append(folder / f"c4-{shard}.json.gz")
    spoilt_lines += sound_lines
    spoilt_lines[2] = folder / "news.en-spoilt"
    content = sound_lines[2].read_bytes().split(b"\n")
    content[4] = b"caf\xe9"
    spoilt_lines[2].write_bytes(b"\n".join(content))
    spoilt_pages += sound_pages
    spoilt_pages[2] = folder / "c4-spoilt.json.gz"
    spoilt_pages[2].write_bytes(sound_pages[2].read_bytes()[:-20])
    return SimpleNamespace(
        sound={"sentences": sound_lines, "windows": sound_pages},
        spoilt={"sentences": spoilt_lines, "windows": spoilt_pages},
        cut={"sentences": OneSentence(vocabulary, 12), "windows": PackedWindows(vocabulary, 12)},
    )


@pytest.mark.parametrize("way", ["sentences", "windows"])
def test_a_pass_gives_every_example_once_in_an_order_drawn_anew(shards, way):
    source = TextShards(shards.sound[way], shards.cut[way], shuffle_buffer=5)
    expected = sorted(give()[1].tolist() for file in shards.sound[way] for give in shards.cut[way](file))
    orders = []
    for number in range(2):
        ids, targets = zip(
            *((name, give()[1].tolist()) for name, give in source.read_pass(number, 0, 0, 1)), strict=True
        )
        assert len(set(ids)) == len(ids)
        assert sorted(targets) == expected
        orders.append(ids)
    assert orders[0] != orders[1]


@pytest.mark.parametrize("way", ["sentences", "windows"])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_a_stream_of_text_resumes_exactly(shards, way, on_error):
    files = (shards.spoilt if on_error == "skip" else shards.sound)[way]

    def make() -> Pipeline:
        source = TextShards(files, shards.cut[way], shuffle_buffer=4, on_error=on_error)
        return Pipeline(source, batch_size=5, seed=3)

    assert_resumes_exactly(make, batches=18)


@pytest.mark.parametrize(
    ("way", "complaint"),
    [
        ("sentences", r"news\.en-spoilt line 5 is not UTF-8"),
        ("windows", r"c4-spoilt\.json\.gz line .* unpacked"),
    ],
)
def test_damage_in_a_stream_is_an_error_that_names_file_and_line(shards, way, complaint):
    pipeline = Pipeline(TextShards(shards.spoilt[way], shards.cut[way]), batch_size=5)
    with pytest.raises(SourceError, match=complaint):
        list(itertools.islice(pipeline, 40))


@pytest.mark.parametrize("way", ["sentences", "windows"])
def test_damage_is_left_out_and_counted_on_request(shards, way):
    source = TextShards(shards.spoilt[way], shards.cut[way], on_error="skip")
    pipeline = Pipeline(source, batch_size=1)
    sound = sum(1 for _ in source.read_pass(0, 0, 0, 1)) - 1
    for _ in itertools.islice(pipeline, sound):
        pass
    assert pipeline.ledger.skipped == 1
    for _ in itertools.islice(pipeline, sound):
        pass
    assert pipeline.ledger.skipped == 2


def test_the_state_of_another_vocabulary_or_length_is_refused(shards, vocabulary):
    files = shards.sound["sentences"]
    state = Pipeline(TextShards(files, OneSentence(vocabulary, 12)), batch_size=5).state_dict()
    same = train_vocabulary(sentences(100, seed=0), 300)
    Pipeline(TextShards(files, OneSentence(same, 12)), batch_size=5).load_state_dict(state)
    other = train_vocabulary(sentences(100, seed=0), 301)
    for cut in (OneSentence(vocabulary, 13), OneSentence(other, 12), PackedWindows(vocabulary, 12)):
        with pytest.raises(ValueError, match="belongs to a pipeline with examples"):
            Pipeline(TextShards(files, cut), batch_size=5).load_state_dict(state)
