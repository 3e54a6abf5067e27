"""YAML text to plain data, with the place of every key and value. Never runs code, never grows out of hand.

Plain data are what JSON knows: mappings with text keys, lists, text, numbers, true/false and null. PyYAML
reads the text; numbers follow YAML 1.2, so that `1e-3` is a number, `010` is ten and `1:30` is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import yaml

from study.wording import printable

MAX_VALUES = 10_000
"""Values a study file may hold once its aliases are written out."""

MAX_DEPTH = 20
"""Levels that values may be nested in each other."""

KeyPath: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something was written: a line of the file (from 1), or an override on the command line."""

    line: int
    text: str

    @classmethod
    def in_file(cls, line: int) -> Place:
        """The place of a line of the study file."""
        return cls(line, f"line {line}")


class TextError(Exception):
    """A fault of the text itself: what is wrong and what to do, and the line (from 1) it is on."""

    def __init__(self, sentence: str, line: int) -> None:
        super().__init__(sentence)
        self.line = line


class _Loader(yaml.BaseLoader):
    """PyYAML's reader without its rules for what plain words mean; ours are added below."""


_TAG = "tag:yaml.org,2002:"
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None, "~": None, "": None}


def _whole_number(text: str) -> int | float:
    """Beyond 18 digits, where no value of a study lies, a float says as much and cannot be slow."""
    return int(text) if len(text) <= 18 else float(text)


_SCALARS: dict[str, tuple[re.Pattern[str] | None, Callable[[str], Any]]] = {
    "null": (re.compile(r"(?:~|null|Null|NULL|)\Z"), lambda text: _WORDS[text.lower()]),
    "bool": (re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), lambda text: _WORDS[text.lower()]),
    "int": (re.compile(r"[-+]?[0-9]+\Z"), _whole_number),
    "float": (
        re.compile(r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan)\Z", re.I),
        lambda text: float(re.sub(r"\.(?=inf|nan)", "", text, flags=re.I)),
    ),
    "str": (None, str),
}
for _name, (_pattern, _) in _SCALARS.items():
    if _pattern is not None:
        _Loader.add_implicit_resolver(_TAG + _name, _pattern, [None])


def parse(text: str, place: Callable[[int], Place] = Place.in_file) -> tuple[Any, dict[KeyPath, Place]]:
    """The plain data of one YAML document, and the place of every key path in it.

    An empty document is None. `place` turns a line into a place. A key's place is the key's own line, so
    that of a list's entry the entry's. Raises `TextError`.
    """
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        character = printable(chr(error.character) if isinstance(error.character, int) else error.character)
        raise TextError(f"the character {character} is not allowed in YAML; take it out", line) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise TextError(_explained(error), mark.line + 1 if mark else 1) from error
    except (RecursionError, ValueError, OverflowError) as error:
        raise TextError(
            "it is not valid YAML; compare it with one of the studies in study/specs", 1
        ) from error
    places: dict[KeyPath, Place] = {}
    return (None if root is None else _plain(root, (), places, place)), places


def _explained(error: yaml.MarkedYAMLError) -> str:
    problem = (error.problem or "").removeprefix("but ")
    if r"'\t'" in problem:
        return "a tab stands where YAML wants spaces; indent with spaces"
    if error.context == "expected a single document in the stream":
        return "a second YAML document begins; keep one study in a file, without '---' between"
    return f"it is not valid YAML ({printable(problem, 120)}); check indentation, colons, quotes and brackets"


def _plain(node: yaml.Node, at: KeyPath, places: dict[KeyPath, Place], place: Callable[[int], Place]) -> Any:
    line = node.start_mark.line + 1
    places.setdefault(at, place(line))
    if len(at) > MAX_DEPTH:
        raise TextError(f"values are nested more than {MAX_DEPTH} levels deep; a study needs three", line)
    if len(places) > MAX_VALUES:
        raise TextError(f"there are more than {MAX_VALUES:,} values (aliases written out); shorten it", line)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, line)
    if node.tag not in (_TAG + "map", _TAG + "seq"):
        raise TextError(f"the tag {printable(node.tag)} means nothing in a study file; take it out", line)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*at, i), places, place) for i, item in enumerate(node.value)]
    data: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key_line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise TextError("a list or a group of keys is used as a key; keys are single words", key_line)
        key = (*at, key_node.value)
        if key_node.value in data:
            raise TextError(
                f"the key '{dotted(key)}' is there already on {places[key].text}; keep one of the two",
                key_line,
            )
        places[key] = place(key_line)
        data[key_node.value] = _plain(value_node, key, places, place)
    return data


def _scalar(node: yaml.ScalarNode, line: int) -> Any:
    _, convert = _SCALARS.get(node.tag.removeprefix(_TAG), (None, None))
    if convert is None:
        raise TextError(f"the tag {printable(node.tag)} means nothing in a study file; take it out", line)
    try:
        return convert(node.value)
    except (ValueError, KeyError) as error:
        kind = node.tag.removeprefix(_TAG)
        raise TextError(f"'{printable(node.value)}' is no {kind}; take the tag !!{kind} out", line) from error


def dotted(path: KeyPath) -> str:
    """A key path as sentences and `--set` write it, without the positions in lists: `target.value`."""
    return printable(".".join(part for part in path if isinstance(part, str)))
