"""Readers of text: plain `.txt` documents, shards of sentences (LM1B), shards of JSON documents (C4).

What is read is UTF-8. A record that cannot be read comes out as an error among the texts, so that whoever
reads decides whether it ends the reading or is left out and counted.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

from pipelines import SourceError
from study.errors import UserError


class TextError(UserError, SourceError):
    """A text that cannot be read: one sentence that names file and line, and says what to do."""


Record: TypeAlias = str | TextError
"""A text, or why there is none."""


def documents(folder: Path) -> Iterator[Record]:
    """The `.txt` files in a folder and the folders in it, in the order of their paths; a record each.

    Raises:
        UserError: there is no such file.
    """
    files = sorted(folder.rglob("*.txt"))
    if not files:
        raise UserError(
            f"The folder {folder} holds no .txt files; put at least two documents there, one a file."
        )
    for file in files:
        content = _content(file)
        try:
            yield content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            yield _not_utf8(file, content.count(b"\n", 0, error.start) + 1, error)


def sentences(file: Path) -> Iterator[Record]:
    """The lines of a text file that hold anything, stripped; a record each. `.gz` is unpacked.

    Raises:
        TextError: the file cannot be read at all.
    """
    return (record for _, record in _lines(file))


def json_documents(file: Path) -> Iterator[Record]:
    """The "text" of every line of a JSON-lines file, as in C4; a record each. `.gz` is unpacked.

    Raises:
        TextError: the file cannot be read at all.
    """
    for number, line in _lines(file):
        yield line if isinstance(line, TextError) else _text_in(line, file, number)


def readable(records: Iterable[Record], on_error: str) -> Iterator[str]:
    """The texts among the records; raises the first that is none, unless `on_error` is "skip"."""
    for record in records:
        if not isinstance(record, TextError):
            yield record
        elif on_error != "skip":
            raise record


def _text_in(line: str, file: Path, number: int) -> Record:
    try:
        document = json.loads(line)
    except json.JSONDecodeError as error:
        return _broken(file, number, f"is no JSON ({error.msg} at column {error.colno})")
    except RecursionError:
        return _broken(file, number, "is JSON nested too deeply")
    text = document.get("text") if isinstance(document, dict) else None
    if not isinstance(text, str):
        return _broken(file, number, 'has no "text" in its JSON')
    if not _is_encodable(text):
        return _broken(file, number, "holds one half of a surrogate pair, which is no character")
    return text


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _lines(file: Path) -> Iterator[tuple[int, Record]]:
    """The lines of a file that hold anything, stripped, with their numbers from 1; its damage comes last."""
    number = 0
    try:
        with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    text = line.decode().strip()
                except UnicodeDecodeError as error:
                    yield number, _not_utf8(file, number, error)
                else:
                    if text:
                        yield number, text
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        number += 1
        yield number, _broken(file, number, f"cannot be unpacked ({error})", "fetch the file anew")
    except OSError as error:
        raise _unreadable(file, error) from error


def _content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: OSError) -> TextError:
    return TextError(f"{file} cannot be read ({error.strerror or error}); check that it is there.")


def _not_utf8(file: Path, line: int, error: UnicodeDecodeError) -> TextError:
    byte = error.object[error.start]
    return _broken(file, line, f"is not UTF-8 text (byte 0x{byte:02x})", "convert the file to UTF-8")


def _broken(file: Path, line: int, what: str, remedy: str = "mend the line") -> TextError:
    return TextError(
        f"{file} line {line} {what}; {remedy}, or leave out what is damaged with options.on_error: skip."
    )
