"""Tables: pure functions from a plan and the tidy table of trials to what a figure or a reader needs."""

from analysis.tables.costs import Saving, cost, share_saved
from analysis.tables.fresh_examples import figure3
from analysis.tables.search_results import searches

__all__ = ["Saving", "cost", "figure3", "searches", "share_saved"]
