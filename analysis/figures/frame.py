"""The frame of a figure: title and legend above, caption below, room for the axes between.

Sizes are worked out from the texts before anything is drawn, so that long names and long captions make a
larger figure, and never a cut or covered text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.figure import Figure, SubFigure

from analysis.figures.style import GREY, SMALL, TITLE, line_height_in, text_width_in, wrapped

PAD_IN = 0.1
LEGEND_ROW_IN = 0.22
LEGEND_HANDLE_IN = 0.55


def framed(
    width_in: float, height_in: float, *, title: str, legend: Sequence[Artist], caption: str
) -> tuple[Figure, SubFigure]:
    """A figure, and the part of it that is to hold axes of about `height_in`; inside `house_style()`."""
    text_width = width_in - 2 * PAD_IN
    title, caption = wrapped(title, text_width, TITLE), wrapped(caption, text_width, SMALL)
    entry = max((text_width_in(str(one.get_label()), SMALL) for one in legend), default=0) + LEGEND_HANDLE_IN
    legend_columns = max(1, int(text_width / entry))
    legend_rows = math.ceil(len(legend) / legend_columns)
    head = lines(title) * line_height_in(TITLE) + legend_rows * LEGEND_ROW_IN + 2 * PAD_IN
    body = height_in + lines(caption) * line_height_in(SMALL) + PAD_IN

    figure = Figure((width_in, head + body), layout="constrained")
    figure.get_layout_engine().set(w_pad=PAD_IN, h_pad=PAD_IN)  # type: ignore[union-attr, call-arg]
    above, below = figure.subfigures(2, 1, squeeze=False, height_ratios=(head, body)).flat
    left = PAD_IN / width_in
    above.text(left, 1 - PAD_IN / head, title, va="top", fontproperties=TITLE)
    if legend:
        columns = math.ceil(len(legend) / legend_rows)
        above.legend(handles=list(legend), loc=(left, PAD_IN / 2 / head), ncols=columns)
    below.supxlabel(caption, x=left, ha="left", fontproperties=SMALL, color=GREY)
    return figure, below


def lines(text: str) -> int:
    """How many lines a text has."""
    return text.count("\n") + 1
