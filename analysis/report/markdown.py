"""The report as Markdown, beside its figures: for a repository, a wiki or a mail."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from analysis.report.cells import headings, rows
from analysis.report.document import METHODS, Document

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")


def as_markdown(document: Document, images: Mapping[str, str]) -> str:
    """The text; `images` are addresses of pictures by the name of their exhibit."""
    return "\n".join(_lines(document, images)) + "\n"


def _lines(document: Document, images: Mapping[str, str]) -> Iterator[str]:
    yield from (f"# {_plain(document.title)}", "", _plain(document.state), "")
    yield from ("## The paper's findings", "")
    claims = [(one.verdict, one.name, one.source, one.finding, one.sentence) for one in document.claims]
    yield from _table(["verdict", "claim", "source", "finding", "here"], claims)
    yield from ("", "## Advice", "", *_items(document.advice))
    yield from ("", "## What was found", "", *_items(document.findings or ["Nothing yet."]))
    yield from ("", "## What to mind", "", *_items(document.warnings or ["Nothing."]))
    yield from ("", "## Figures", "")
    for one in document.exhibits:
        if one.name in images:
            yield from (f"### {_plain(one.heading)}", "", f"![{_plain(one.heading)}]({images[one.name]})", "")
    if document.missing:
        yield from ("Not drawn:", "", *_items(document.missing), "")
    yield from ("## Tables", "")
    for name, table in document.tables.items():
        yield from (f"### {name}", "", *_frame(table), "")
    yield from ("## Methods", "", *_items(METHODS), "", "## Provenance", "")
    yield from _table(["tag", "value"], document.provenance.items())


def _frame(table: pd.DataFrame) -> Iterator[str]:
    return _table(headings(table), rows(table))


def _table(names: Iterable[str], found: Iterable[Iterable[str]]) -> Iterator[str]:
    columns = list(names)
    yield f"| {' | '.join(columns)} |"
    yield f"|{'---|' * len(columns)}"
    for row in found:
        yield f"| {' | '.join(_plain(str(value)) for value in row)} |"


def _items(sentences: Iterable[str]) -> Iterator[str]:
    for sentence in sentences:
        yield f"- {_plain(sentence)}"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
