"""One look for every figure, and one way to save it.

Figures are made without `pyplot` and the style holds only inside `house_style()`, so drawing leaves no mark
on the caller's own plots. Colours: Okabe and Ito's palette, told apart with every common colour blindness.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import repeat
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from analysis.files import replacing

PNG_DPI, SCREEN_DPI = 200, 90
POINTS_PER_INCH = 72
HINTING = 1.04
FONT = "DejaVu Sans"
FONT_SIZE, SMALL_SIZE, TITLE_SIZE = 10.0, 8.5, 12.0
HEADING = FontProperties(family=FONT, size=FONT_SIZE)
SMALL = FontProperties(family=FONT, size=SMALL_SIZE)
TITLE = FontProperties(family=FONT, size=TITLE_SIZE, weight="bold")

BLACK, GREY = "#222222", "#6E6E6E"
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#D55E00", "#009E73", "#AA4499"
SKY, YELLOW, LIGHT = "#56B4E9", "#E69F00", "#E6E6E6"
INSERTION_COLOURS = {
    "none": BLACK,
    "before_augmentation": BLUE,
    "after_augmentation": ORANGE,
    "after_batching": GREEN,
}
INSERTION_MARKERS = {
    "none": "s",
    "before_augmentation": "o",
    "after_augmentation": "^",
    "after_batching": "D",
}
OUTCOME_COLOURS = {
    "reached": BLUE,
    "beaten": SKY,
    "missed": YELLOW,
    "diverged": ORANGE,
    "crashed": BLACK,
    "out_of_memory": GREY,
    "without_result": LIGHT,
}

_STYLE: dict[str, Any] = {
    "font.family": FONT,
    "font.size": FONT_SIZE,
    "axes.titlesize": FONT_SIZE,
    "axes.labelsize": FONT_SIZE,
    "axes.edgecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.8,
    "xtick.labelsize": SMALL_SIZE,
    "xtick.major.size": 0,
    "ytick.labelsize": SMALL_SIZE,
    "ytick.color": GREY,
    "ytick.labelcolor": BLACK,
    "legend.fontsize": SMALL_SIZE,
    "legend.frameon": False,
    "legend.borderaxespad": 0,
    "legend.borderpad": 0,
    "legend.columnspacing": 1.4,
    "legend.handlelength": 1.6,
    "legend.handletextpad": 0.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "echostudy",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Matplotlib's defaults and the house style on top, until the block ends."""
    with matplotlib.style.context(["default", _STYLE]):
        yield


def insertion_name(insertion_point: str) -> str:
    """An insertion point in words."""
    return "no echo (baseline)" if insertion_point == "none" else insertion_point.replace("_", " ")


def insertion_colour(insertion_point: str) -> str:
    """The colour of an insertion point in every figure."""
    return INSERTION_COLOURS.get(insertion_point, PURPLE)


def wrapped(text: str, width_in: float, font: FontProperties) -> str:
    """Text broken into lines that are no wider than `width_in`, inside a word where it alone is too wide.

    A renderer may draw a few percent wider than the font's outlines say (hinting), hence `HINTING`.
    """
    width_in /= HINTING
    characters = max(1, int(width_in * POINTS_PER_INCH / (0.4 * font.get_size_in_points())))
    lines = [text]
    while characters > 1 and max(map(text_width_in, lines, repeat(font))) > width_in:
        lines = textwrap.wrap(text, characters, break_on_hyphens=False)
        characters -= 1
    return "\n".join(lines)


def line_height_in(font: FontProperties) -> float:
    """Height of a line of text in inches, the space between lines included."""
    return 1.25 * font.get_size_in_points() / POINTS_PER_INCH


def text_width_in(line: str, font: FontProperties) -> float:
    """Width of a line in inches, by the font's outlines."""
    width, _, _ = text_to_path.get_text_width_height_descent(line, font, ismath=False)
    return float(width) / POINTS_PER_INCH


def save_figure(figure: Figure, stem: Path) -> tuple[Path, Path]:
    """Write `stem.png` and `stem.svg`; equal figures are equal SVG files (no date, fixed ids)."""
    png, svg = stem.with_name(f"{stem.name}.png"), stem.with_name(f"{stem.name}.svg")
    with house_style():
        # Laid out once and not anew for each file: that takes as long as drawing.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        with replacing(png) as temporary:
            figure.savefig(temporary, dpi=PNG_DPI, metadata={"Software": None})
        with replacing(svg) as temporary:
            figure.savefig(temporary, metadata={"Date": None})
    return png, svg


def write_figure(figure: Figure, file: Path) -> None:
    """Write one file, of the kind that its suffix says."""
    with house_style(), replacing(file) as temporary:
        figure.savefig(temporary, dpi=PNG_DPI)


def as_png(figure: Figure) -> bytes:
    """The figure as a PNG at screen resolution, for `IPython.display.Image` in a notebook."""
    buffer = BytesIO()
    with house_style():
        figure.savefig(buffer, format="png", dpi=SCREEN_DPI, metadata={"Software": None})
    return buffer.getvalue()
