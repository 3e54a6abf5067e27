"""Readers of text: what comes out of each format, and what is said of files that are broken."""

import gzip
import json

import pytest
from data_formats.text import sentences as some_sentences
from data_formats.text import write_json_shard, write_lines
from hypothesis import given, settings
from hypothesis import strategies as st

from pipelines import SourceError
from study.data.text import TextError, documents, json_documents, readable, sentences
from study.errors import UserError

LINES = some_sentences(5, seed=0)


@pytest.fixture
def spoilt(tmp_path):
    """Five lines of which the third is in Latin-1, `é` being the byte 0xe9."""
    file = tmp_path / "news.en-00007-of-00100"
    lines = [line.encode() for line in LINES]
    lines[2] = "Un café, monsieur .".encode("latin-1")
    file.write_bytes(b"\n".join(lines) + b"\n")
    return file


def test_a_document_is_a_file_whole_in_the_order_of_the_paths(tmp_path):
    write_lines(tmp_path / "b.txt", ["second", "", "Zweite Zeile: größer"])
    write_lines(tmp_path / "c" / "deeper.txt", ["third"])
    write_lines(tmp_path / "a.txt", ["first"])
    write_lines(tmp_path / "notes.md", ["no document"])
    assert list(documents(tmp_path)) == ["first\n", "second\n\nZweite Zeile: größer\n", "third\n"]


def test_a_byte_order_mark_is_no_part_of_a_document(tmp_path):
    (tmp_path / "windows.txt").write_bytes(b"\xef\xbb\xbfHello")
    assert list(documents(tmp_path)) == ["Hello"]


@given(content=st.text(max_size=60))
def test_any_text_is_read_as_it_was_written(tmp_path_factory, content):
    folder = tmp_path_factory.mktemp("documents")
    (folder / "one.txt").write_bytes(content.encode())
    assert list(documents(folder)) == [content.removeprefix("\ufeff")]


def test_a_folder_without_documents_is_an_error(tmp_path):
    with pytest.raises(UserError, match=r"holds no \.txt files; put at least two"):
        list(documents(tmp_path))


def test_a_document_in_another_encoding_is_named_with_its_line(tmp_path):
    write_lines(tmp_path / "a.txt", ["sound"])
    (tmp_path / "b.txt").write_bytes("one\ntwo\nder größte\n".encode("latin-1"))
    first, second = documents(tmp_path)
    assert first == "sound\n"
    assert isinstance(second, TextError)
    assert str(second) == (
        f"{tmp_path / 'b.txt'} line 3 is not UTF-8 text (byte 0xf6); convert the file to UTF-8, or leave out "
        "what is damaged with options.on_error: skip."
    )


def test_a_sentence_is_a_line_that_holds_something(tmp_path):
    write_lines(tmp_path / "shard", [LINES[0], "", f"  {LINES[1]} ", " \t"])
    assert list(sentences(tmp_path / "shard")) == LINES[:2]


def test_only_line_feeds_end_a_sentence(tmp_path):
    write_lines(tmp_path / "shard", ["one\u2028still one", "two\x0cstill two"])
    assert list(sentences(tmp_path / "shard")) == ["one\u2028still one", "two\x0cstill two"]


def test_a_sentence_in_another_encoding_is_named_and_the_others_are_read(spoilt):
    records = list(sentences(spoilt))
    assert [record for record in records if isinstance(record, str)] == [*LINES[:2], *LINES[3:]]
    assert isinstance(records[2], TextError)
    assert str(records[2]).startswith(f"{spoilt} line 3 is not UTF-8 text (byte 0xe9); convert")


def test_what_is_damaged_is_an_error_for_users_and_for_pipelines(spoilt):
    with pytest.raises(UserError, match="line 3"):
        list(readable(sentences(spoilt), "raise"))
    with pytest.raises(SourceError, match="line 3"):
        list(readable(sentences(spoilt), "raise"))


def test_what_is_damaged_is_left_out_on_request(spoilt):
    assert list(readable(sentences(spoilt), "skip")) == [*LINES[:2], *LINES[3:]]


def test_a_json_document_is_the_text_of_a_line(tmp_path):
    pages = ["one\ntwo", "", "größer"]
    write_json_shard(tmp_path / "c4.json.gz", pages)
    assert list(json_documents(tmp_path / "c4.json.gz")) == pages


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (b'{"text": "cut', "line 2 is no JSON (Unterminated string starting at at column 10)"),
        (b'{"url": "x"}', 'line 2 has no "text" in its JSON'),
        (b'{"text": 3}', 'line 2 has no "text" in its JSON'),
        (b"[1]", 'line 2 has no "text" in its JSON'),
        (b'{"text": "caf\xe9"}', "line 2 is not UTF-8 text (byte 0xe9)"),
        (b'{"text": "half \\ud800"}', "line 2 holds one half of a surrogate pair"),
        (b"[" * 100_000, "line 2 is JSON nested too deeply"),
    ],
)
def test_a_line_that_is_no_such_document_is_named_and_the_others_are_read(tmp_path, line, complaint):
    file = tmp_path / "c4.json.gz"
    sound = json.dumps({"text": "sound"}).encode()
    file.write_bytes(gzip.compress(b"\n".join([sound, line, b"", sound])))
    first, second, third = json_documents(file)
    assert first == third == "sound"
    assert isinstance(second, TextError)
    assert f"{file} {complaint}" in str(second)
    assert str(second).endswith(
        "; mend the line, or leave out what is damaged with options.on_error: skip."
    ) or ("convert the file to UTF-8" in str(second))


@pytest.fixture(scope="module")
def whole_shard(tmp_path_factory):
    """A packed shard of three hundred pages, and the pages."""
    pages = some_sentences(300, seed=1)
    file = tmp_path_factory.mktemp("shards") / "whole.json.gz"
    write_json_shard(file, pages)
    return file, pages


@settings(max_examples=50)
@given(share=st.floats(0.3, 0.99))
def test_a_gzip_file_cut_anywhere_gives_whole_lines_and_then_says_where_it_ends(whole_shard, share):
    file, pages = whole_shard
    whole, cut = file.read_bytes(), file.with_name("cut.json.gz")
    cut.write_bytes(whole[: int(share * len(whole))])
    *texts, last = json_documents(cut)
    assert texts == pages[: len(texts)]
    assert len(texts) < len(pages)
    assert isinstance(last, TextError)
    assert f"{cut} line {len(texts) + 1} cannot be unpacked (" in str(last)
    assert "fetch the file anew, or leave out what is damaged" in str(last)


def test_a_gzip_file_with_a_wrong_byte_is_named(tmp_path):
    write_json_shard(tmp_path / "c4.json.gz", LINES)
    content = bytearray((tmp_path / "c4.json.gz").read_bytes())
    content[-6] ^= 1  # in the checksum
    (tmp_path / "c4.json.gz").write_bytes(content)
    *texts, last = json_documents(tmp_path / "c4.json.gz")
    assert texts == LINES
    assert "line 6 cannot be unpacked (CRC check failed" in str(last)


def test_what_is_no_gzip_file_is_named(tmp_path):
    write_lines(tmp_path / "c4.json.gz", ['{"text": "not packed"}'])
    (only,) = json_documents(tmp_path / "c4.json.gz")
    assert "line 1 cannot be unpacked (Not a gzipped file" in str(only)


@pytest.mark.parametrize("reader", [sentences, json_documents])
def test_a_file_that_is_not_there_is_an_error_in_any_case(tmp_path, reader):
    with pytest.raises(TextError, match=r"gone cannot be read \(No such file or directory\); check"):
        list(readable(reader(tmp_path / "gone"), "skip"))
