"""From the results in MLflow to tables, figures and sentences.

The names below are loaded when they are first used, so that `import analysis` costs nothing. Nothing in this
package needs Ray or PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.figures import draw_figure3, figure3_caption, figure3_title, house_style, save_figure
    from analysis.files import write_csv
    from analysis.report import Report, write_report
    from analysis.results import Results, load, load_trials
    from analysis.statistics import log_t_interval, summarise, welch_log_ratio
    from analysis.tables import cost, figure3, searches, share_saved

__all__ = [
    "Report",
    "Results",
    "cost",
    "draw_figure3",
    "figure3",
    "figure3_caption",
    "figure3_title",
    "house_style",
    "load",
    "load_trials",
    "log_t_interval",
    "save_figure",
    "searches",
    "share_saved",
    "summarise",
    "welch_log_ratio",
    "write_csv",
    "write_report",
]

_HOMES = {
    "figures": ("draw_figure3", "figure3_caption", "figure3_title", "house_style", "save_figure"),
    "files": ("write_csv",),
    "report": ("Report", "write_report"),
    "results": ("Results", "load", "load_trials"),
    "statistics": ("log_t_interval", "summarise", "welch_log_ratio"),
    "tables": ("cost", "figure3", "searches", "share_saved"),
}


def __getattr__(name: str) -> object:
    """Import a public name from its module (PEP 562)."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"analysis.{home}"), name)
    raise AttributeError(f"module 'analysis' has no attribute '{name}'")
