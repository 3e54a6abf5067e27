"""From the results in MLflow to tables, figures, claims and sentences.

The names below are loaded when they are first used, so that `import analysis` costs nothing. Nothing in this
package needs Ray or PyTorch.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.claims import Claim, Verdict
    from analysis.figures import (
        as_png,
        draw_figure3,
        figure3_caption,
        figure3_title,
        house_style,
        save_figure,
    )
    from analysis.files import write_csv
    from analysis.gallery import Exhibit, exhibit, exhibits
    from analysis.material import Material
    from analysis.report import Report, write_report
    from analysis.results import Results, load, load_trials
    from analysis.statistics import (
        log_contrast,
        log_t_interval,
        paired_log_ratio,
        summarise,
        welch_difference,
        welch_log_ratio,
    )
    from analysis.survival import median_to_target, not_reached
    from analysis.tables import cost, estimates, figure3, searches, sensitivity, share_saved

_HOMES = {
    "claims": ("Claim", "Verdict"),
    "figures": (
        *("as_png", "draw_figure3", "figure3_caption", "figure3_title"),
        *("house_style", "save_figure"),
    ),
    "files": ("write_csv",),
    "gallery": ("Exhibit", "exhibit", "exhibits"),
    "material": ("Material",),
    "report": ("Report", "write_report"),
    "results": ("Results", "load", "load_trials"),
    "statistics": (
        *("log_contrast", "log_t_interval", "paired_log_ratio", "summarise"),
        *("welch_difference", "welch_log_ratio"),
    ),
    "survival": ("median_to_target", "not_reached"),
    "tables": ("cost", "estimates", "figure3", "searches", "sensitivity", "share_saved"),
}

__all__ = [
    "Claim",
    "Exhibit",
    "Material",
    "Report",
    "Results",
    "Verdict",
    "as_png",
    "cost",
    "draw_figure3",
    "estimates",
    "exhibit",
    "exhibits",
    "figure3",
    "figure3_caption",
    "figure3_title",
    "house_style",
    "load",
    "load_trials",
    "log_contrast",
    "log_t_interval",
    "median_to_target",
    "not_reached",
    "paired_log_ratio",
    "save_figure",
    "searches",
    "sensitivity",
    "share_saved",
    "summarise",
    "welch_difference",
    "welch_log_ratio",
    "write_csv",
    "write_report",
]


def __getattr__(name: str) -> object:
    """Import a public name from its module (PEP 562)."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"analysis.{home}"), name)
    raise AttributeError(f"module 'analysis' has no attribute '{name}'")
