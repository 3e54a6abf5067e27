"""Tables: pure functions from a plan and the tidy table of trials to what a figure or a reader needs."""

from analysis.tables.against import against
from analysis.tables.best_values import best_by_search, figure8
from analysis.tables.costs import Saving, cost, share_saved
from analysis.tables.estimates import estimates
from analysis.tables.fresh_examples import figure3
from analysis.tables.health import health
from analysis.tables.idle import idle_time
from analysis.tables.mixing import mixing
from analysis.tables.modelled_time import modelled_time
from analysis.tables.search_results import searches
from analysis.tables.sensitivity import sensitivity
from analysis.tables.slices import slices
from analysis.tables.timed import timed_cells, timed_results, with_measured
from analysis.tables.tuning import tuning_cost
from analysis.tables.workloads import table1

__all__ = [
    "Saving",
    "against",
    "best_by_search",
    "cost",
    "estimates",
    "figure3",
    "figure8",
    "health",
    "idle_time",
    "mixing",
    "modelled_time",
    "searches",
    "sensitivity",
    "share_saved",
    "slices",
    "table1",
    "timed_cells",
    "timed_results",
    "tuning_cost",
    "with_measured",
]
