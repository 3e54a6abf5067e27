"""Vocabularies: what they promise of any text, and how they are kept."""

import multiprocessing

import numpy as np
import pytest
from data_formats.text import sentences
from hypothesis import given
from hypothesis import strategies as st

from study.data.text_vocabulary import kept_tokens, kept_vocabulary, train_vocabulary
from study.errors import UserError

TEXTS = sentences(200, seed=0)


@pytest.fixture(scope="module")
def vocabulary():
    return train_vocabulary(TEXTS, 400)


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ECHOSTUDY_DATA", str(tmp_path))
    return tmp_path


@given(text=st.text())
def test_any_text_comes_back_from_its_tokens(vocabulary, text):
    tokens = vocabulary.encode(text)
    assert vocabulary.decode(tokens.tolist()) == text
    assert ((tokens > vocabulary.end) & (tokens < vocabulary.size)).all()


def test_a_vocabulary_has_the_size_asked_for_if_the_texts_give_so_many_pieces(vocabulary):
    assert vocabulary.size == 400
    assert 257 < train_vocabulary(["ab ab ab"], 30_000).size < 300


def test_without_room_for_pieces_there_are_the_bytes_and_the_end():
    bare = train_vocabulary(TEXTS, 257)
    assert bare.size == 257
    assert len(bare.encode("größer")) == len("größer".encode())
    with pytest.raises(ValueError, match="size is 256; give at least 257"):
        train_vocabulary(TEXTS, 256)


def test_pieces_of_frequent_words_are_long(vocabulary):
    assert len(vocabulary.encode(" ".join(TEXTS))) < sum(map(len, TEXTS)) / 3


def test_the_end_is_a_token_that_no_text_has(vocabulary):
    assert vocabulary.end not in vocabulary.encode("".join(TEXTS))


def trained_digest(texts) -> str:
    return train_vocabulary(texts, 400).digest


def test_the_same_texts_give_the_same_vocabulary_in_every_process(vocabulary):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(trained_digest, [TEXTS, TEXTS]) == [vocabulary.digest] * 2
    assert trained_digest(TEXTS[:100]) != vocabulary.digest


def test_a_vocabulary_is_trained_once_and_then_read(root, vocabulary, monkeypatch):
    first = kept_vocabulary(TEXTS, 400)
    monkeypatch.setattr("study.data.text_vocabulary.train_vocabulary", None)
    second = kept_vocabulary(TEXTS, 400)
    assert first.digest == second.digest == vocabulary.digest
    assert len(list((root / "vocabularies").iterdir())) == 1


def test_other_texts_and_other_sizes_have_vocabularies_of_their_own(root):
    digests = {kept_vocabulary(texts, size).digest for texts in (TEXTS, TEXTS[1:]) for size in (300, 400)}
    assert len(digests) == 4
    # the key is the texts, and not what they are when put together
    kept_vocabulary(["".join(TEXTS)], 300)
    assert len(list((root / "vocabularies").iterdir())) == 5


def test_a_damaged_file_is_made_anew(root, vocabulary):
    kept_vocabulary(TEXTS, 400)
    (file,) = (root / "vocabularies").iterdir()
    content = file.read_text()
    for damage in (content[:1000], "", "{}"):
        file.write_text(damage)
        assert kept_vocabulary(TEXTS, 400).digest == vocabulary.digest
        assert file.read_text() == content


def test_tokens_are_computed_once_and_are_those_of_each_text(root, vocabulary, monkeypatch):
    texts = [TEXTS[0], "", TEXTS[1]]
    first = kept_tokens(texts, vocabulary)
    monkeypatch.setattr(type(vocabulary), "encode", None)
    second = kept_tokens(texts, vocabulary)
    monkeypatch.undo()
    for tokens in (first, second):
        assert [vocabulary.decode(part.tolist()) for part in tokens] == texts
        assert all(part.dtype == np.int32 for part in tokens)
    (file,) = (root / "vocabularies").iterdir()
    file.write_bytes(file.read_bytes()[:50])
    assert all(map(np.array_equal, kept_tokens(texts, vocabulary), first))


def kept_digest(_) -> str:
    return kept_vocabulary(TEXTS, 400).digest


def test_processes_that_ask_at_the_same_time_find_the_same_vocabulary(root, vocabulary):
    with multiprocessing.get_context("fork").Pool(4) as pool:
        assert set(pool.map(kept_digest, range(8), chunksize=1)) == {vocabulary.digest}
    assert [file.suffix for file in (root / "vocabularies").iterdir()] == [".json"]


def test_a_data_root_that_cannot_be_written_is_named(root):
    (root / "vocabularies").write_text("a file in the folder's place")
    with pytest.raises(UserError, match=r"Cannot write .*vocabularies.* or name another data root"):
        kept_vocabulary(TEXTS, 400)
