"""Figures: thin drawings of the tables, in one style. `analysis.gallery` knows them all."""

from analysis.figures.figure3 import draw_figure3, figure3_caption, figure3_title
from analysis.figures.style import as_png, house_style, save_figure

__all__ = ["as_png", "draw_figure3", "figure3_caption", "figure3_title", "house_style", "save_figure"]
