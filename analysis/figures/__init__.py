"""Figures: thin drawings of the tables, in one style."""

from analysis.figures.figure3 import draw_figure3, figure3_caption, figure3_title
from analysis.figures.style import house_style, save_figure

__all__ = ["draw_figure3", "figure3_caption", "figure3_title", "house_style", "save_figure"]
