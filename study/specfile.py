"""A study file as plain data, with the overrides of `--set`, and where each value was written.

Knows YAML and key paths, not what a study is: that is `study.specmodel`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from study.errors import UserError
from study.wording import printable, shown
from study.yamltext import KeyPath, Place, TextError, dotted, parse

MAX_BYTES = 1_000_000
"""A larger file is surely not a study file, and would be slow to read."""

_START_FROM = "start from a copy of study/specs/digits.yaml"


@dataclass(frozen=True)
class SpecFile:
    """The data of a study file and, for every key path in it, where it was written."""

    name: str
    data: dict[str, Any]
    places: dict[KeyPath, Place]

    def place(self, path: KeyPath) -> Place:
        """The place of a key path; of something that is missing, that of the group it is missing from."""
        return next(
            (self.places[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.places),
            self.places[()],
        )

    def error(self, place: Place, sentence: str) -> UserError:
        """The error that names the file, the place and what is wrong there."""
        return UserError(f"{self.name} {place.text}: {sentence}")


def read_spec_file(path: str | os.PathLike[str], overrides: Sequence[str] = ()) -> SpecFile:
    """Read a study file and merge overrides `key.path=value` (values are YAML) into it, the last one winning.

    Raises `UserError` with the file and line, or the override, that is at fault.
    """
    name = printable(os.fspath(path), widest=300)
    try:
        data, places = parse(_text(Path(path), name))
    except TextError as error:
        raise UserError(f"{name} line {error.line}: {error}.") from error
    if data is None:
        raise UserError(f"{name} is empty; {_START_FROM}.")
    if not isinstance(data, dict):
        where = places[()].text
        raise UserError(f"{name} {where}: a study file is keys and values, not {shown(data)}; {_START_FROM}.")
    file = SpecFile(name, data, places)
    for i, override in enumerate(overrides):
        _merge(file, override, Place(i - len(overrides), f"--set {printable(override)}"))
    return file


def _text(path: Path, name: str) -> str:
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise UserError(f"There is no study file {name}; check the path, or {_START_FROM}.") from error
    except IsADirectoryError as error:
        raise UserError(f"{name} is a folder, not a study file; name a .yaml file in it.") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{name} cannot be read ({reason}); check the path and its permissions.") from error
    if len(content) > MAX_BYTES:
        raise UserError(
            f"{name} is larger than {MAX_BYTES // 1000} kB, so it is no study file; check the path."
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{name} line {line}: a byte is not UTF-8 text; save the file as UTF-8, or check the path."
        ) from error


def _merge(file: SpecFile, override: str, place: Place) -> None:
    """Put one override into the file's data, and its place over everything it replaces."""
    key, equals, text = override.partition("=")
    path = tuple(part.strip() for part in key.split("."))
    if not equals or not all(path):
        raise file.error(
            place, "an override is written --set key.path=value; for example --set target.value=0.9."
        )
    try:
        value, places = parse(text, place=lambda line: place)
    except TextError as error:
        raise file.error(place, f"{error}.") from error
    group = file.data
    for depth, part in enumerate(path[:-1], start=1):
        file.places.setdefault(path[:depth], place)
        group = group.setdefault(part, {})
        if not isinstance(group, dict):
            whole = dotted(path[:depth])
            raise file.error(place, f"'{whole}' holds {shown(group)}, not keys; write --set {whole}=...")
    group[path[-1]] = value
    for old in [known for known in file.places if known[: len(path)] == path]:
        del file.places[old]
    file.places.update({(*path, *inner): place for inner in places} | {path: place})
