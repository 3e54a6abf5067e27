"""Wall-clock times beside modelled ones: the tables of a study with `measure: time` (`study.timed`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from analysis.tables.planned import CONDITION_TYPES, SEARCH_TYPES, results_by_search, search_key
from study.result import Outcome

if TYPE_CHECKING:
    from study.plan import Plan

SOURCE_TYPES = {"R": "float64", "burst": "int64", "adaptive": "bool"}
TIMES = ("measured_s", "modelled_s", "measured_over_modelled", "waiting_share", "others_share", "update_s")
TRIAL_TYPES = SEARCH_TYPES | SOURCE_TYPES | {"fresh_examples": "float64", "updates": "float64"}
TRIAL_TYPES |= dict.fromkeys(TIMES, "float64")
CELL_TYPES = CONDITION_TYPES | SOURCE_TYPES | {"repeats": "int64"} | dict.fromkeys(TIMES, "float64")
CELL_TYPES |= {"relative_time": "float64"}


def timed_results(plan: Plan, trials: pd.DataFrame) -> pd.DataFrame:
    """A row a timed search that has reached its target, from the plan of the timed trials and their results.

    Columns, after the search's own: `R`, `burst` (examples that come at once), `adaptive` (then the echo
    factor is the ceiling); `fresh_examples` and `updates` to the target; `measured_s` to the target, without
    evaluations, and of it `waiting_share`; `others_share`, the processors that other processes kept busy
    meanwhile; `update_s`, an update's mean seconds in this very trial; `modelled_s` (of `overlapped_s`) and
    their ratio.
    """
    rows = []
    for search, results in results_by_search(plan, trials):
        reached = results[results["outcome"] == Outcome.REACHED]
        if reached.empty or search.timing is None:
            continue
        order = ["fresh_examples_to_target", "updates_to_target", "point"]
        best = reached.sort_values(order).iloc[0]
        rows.append(search_key(search) | _source(search.timing) | _times(best, search.condition.batch_size))
    return pd.DataFrame(rows, columns=list(TRIAL_TYPES)).astype(TRIAL_TYPES)


def overlapped_s(
    *, read: float, fresh: float, updates: float, example_s: float, update_s: float, burst: float
) -> float:
    """The modelled seconds of training on a source with a pace.

    The echo buffer fills at the source's pace. From there on source and updates overlap, so that the longer
    counts: all that was read, or the updates. The last update comes on top. What comes in bursts comes after
    the time of the whole burst.

    Args:
        read: examples read from the source.
        fresh: those of them that were used.
        updates: how many there were.
        example_s: the source's seconds an example.
        update_s: seconds an update.
        burst: examples that come at once.
    """

    def there_after(examples: float) -> float:
        return math.ceil(max(examples, 1) / burst) * burst * example_s

    return max(there_after(read), there_after(read - fresh) + update_s * updates) + update_s


def timed_cells(results: pd.DataFrame) -> pd.DataFrame:
    """A row a condition and source, the medians over the repeats of `timed_results`.

    `relative_time` is `measured_s` over the baseline's at the same batch size and source; NaN without one.
    """
    keys = [*CONDITION_TYPES, *SOURCE_TYPES]
    groups = results.groupby(keys, sort=False)
    table = groups[list(TIMES)].median().assign(repeats=groups.size()).reset_index()
    source = ["batch_size", "R", "burst"]
    baselines = table[table["insertion_point"] == "none"].set_index(source)["measured_s"]
    of_baseline = baselines.reindex(pd.MultiIndex.from_frame(table[source])).to_numpy()
    table["relative_time"] = table["measured_s"] / of_baseline
    return table[list(CELL_TYPES)].astype(CELL_TYPES)


def with_measured(modelled: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Figure 4's table with what was measured beside it, behind the steadiest source.

    Adds `measured_s`, `modelled_s`, `measured_over_modelled` and `measured_relative_time`.
    """
    steady = cells[~cells["adaptive"] & (cells["burst"] == cells["burst"].min())]
    steady = steady.rename(columns={"relative_time": "measured_relative_time"})
    columns = ["measured_s", "modelled_s", "measured_over_modelled", "measured_relative_time"]
    keys = [*CONDITION_TYPES, "R"]
    return modelled.merge(steady[[*keys, *columns]], how="left", on=keys)


def _source(timing: object) -> dict[str, object]:
    return {name: getattr(timing, name) for name in SOURCE_TYPES}


def _times(trial: pd.Series, batch_size: int) -> dict[str, float]:
    fresh, updates = trial["fresh_examples_to_target"], trial["updates_to_target"]
    modelled = overlapped_s(
        read=trial["examples_read_to_target"],
        fresh=fresh,
        updates=updates,
        example_s=trial["source_batch_s"] / batch_size,
        update_s=trial["source_batch_s"] / trial["param.R"],
        burst=trial["param.burst"],
    )
    measured = trial["time_to_target_s"]
    return {
        "fresh_examples": fresh,
        "updates": updates,
        "measured_s": measured,
        "modelled_s": modelled,
        "measured_over_modelled": measured / modelled,
        "waiting_share": trial["input_wait_s"] / measured,
        "others_share": trial["others_s"] / measured,
        "update_s": trial["update_s"] / updates,
    }
