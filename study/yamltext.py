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
    """Where something was written, in reading order: overrides (line < 0), then the file (line >= 1)."""

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
    """PyYAML's reader without its rules for what plain words mean; ours are added below.

    Its depth is bounded here too, since it composes nested values by recursion.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _too_deep(self.line + 1)
        node: yaml.Node | None = super().compose_node(parent, index)
        self._depth -= 1
        return node


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
        loader = _Loader(text)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        character = printable(chr(error.character) if isinstance(error.character, int) else error.character)
        raise TextError(f"the character {character} is not allowed in YAML; take it out", line) from error
    try:
        root = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.context_mark if error.context in _UNFINISHED else error.problem_mark
        raise TextError(_explained(error), mark.line + 1 if mark else 1) from error
    except (ValueError, OverflowError) as error:  # PyYAML's own slips: escapes beyond Unicode, huge versions
        raise TextError(
            f"it is not valid YAML ({printable(str(error))}); correct it", loader.line + 1
        ) from error
    places: dict[KeyPath, Place] = {}
    return (None if root is None else _plain(root, (), places, place)), places


_UNFINISHED = frozenset(
    {
        "while scanning a quoted scalar",
        "while scanning a simple key",
        "while parsing a flow sequence",
        "while parsing a flow mapping",
    }
)
"""Where PyYAML notices an end that is missing only later: the place to name is the beginning."""


def _too_deep(line: int) -> TextError:
    return TextError(f"values are nested more than {MAX_DEPTH} levels deep; a study needs three", line)


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
    if len(at) > MAX_DEPTH:  # an alias within its own anchor
        raise _too_deep(line)
    if len(places) > MAX_VALUES:
        raise TextError(f"there are more than {MAX_VALUES:,} values (aliases written out); shorten it", line)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if node.tag not in (_TAG + "map", _TAG + "seq"):
        raise _unknown_tag(node)
    if isinstance(node, yaml.SequenceNode):
        return [_plain(item, (*at, i), places, place) for i, item in enumerate(node.value)]
    data: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key_line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise TextError("a list or a group of keys is used as a key; keys are single words", key_line)
        name = _text(key_node)
        key = (*at, name)
        if name in data:
            raise TextError(
                f"the key '{dotted(key)}' is there already on {places[key].text}; keep one of the two",
                key_line,
            )
        places[key] = place(key_line)
        data[name] = _plain(value_node, key, places, place)
    return data


def _scalar(node: yaml.ScalarNode) -> Any:
    kind = node.tag.removeprefix(_TAG)
    if kind not in _SCALARS:
        raise _unknown_tag(node)
    _, convert = _SCALARS[kind]
    text = _text(node)
    try:
        return convert(text)
    except (ValueError, KeyError) as error:
        line = node.start_mark.line + 1
        raise TextError(f"'{printable(text)}' is no {kind}; take the tag !!{kind} out", line) from error


def _text(node: yaml.ScalarNode) -> str:
    """The text of a scalar; escapes can make lone surrogates, which no terminal or store can hold."""
    text: str = node.value
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise TextError(f"'{printable(text)}' is not text; correct its escapes", node.start_mark.line + 1)
    return text


def _unknown_tag(node: yaml.Node) -> TextError:
    tag = printable(node.tag.replace(_TAG, "!!"))
    return TextError(f"the tag {tag} means nothing in a study file; take it out", node.start_mark.line + 1)


def dotted(path: KeyPath) -> str:
    """A key path as sentences and `--set` write it, without the positions in lists: `target.value`."""
    return printable(".".join(part for part in path if isinstance(part, str)))
