"""The report as one HTML file that needs no other: figures inline, tables that sort, no network."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from analysis.report.cells import headings, rows
from analysis.report.document import METHODS, Document


def as_html(document: Document, images: Mapping[str, Path]) -> str:
    """The page; `images` are SVG files by the name of their exhibit. All words are escaped."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html.j2").render(
        document=document,
        images={name: _inline(path) for name, path in images.items()},
        headings=headings,
        rows=rows,
        methods=METHODS,
    )


def _inline(svg: Path) -> str:
    """The file as the address of an image that lies in the page itself."""
    return f"data:image/svg+xml;base64,{b64encode(svg.read_bytes()).decode()}"
