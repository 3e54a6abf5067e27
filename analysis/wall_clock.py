"""What the wall clock showed, in sentences: against the model, against the baseline, and adaptive echoing."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

BUSY = 0.3
"""Processors that others keep busy while a trial is timed, from which on its time is in doubt."""

NEAR = 0.1
"""How far a measured time may lie from the modelled one to count as near."""


def wall_clock_findings(cells: pd.DataFrame) -> Iterator[str]:
    """Sentences on `analysis.tables.timed_cells`; none where nothing was timed."""
    fixed = cells[~cells["adaptive"]]
    if fixed.empty:
        return
    ratio = fixed["measured_over_modelled"]
    near = int(((ratio - 1).abs() <= NEAR).sum())
    yield (
        f"On the wall clock, {near} of {len(fixed)} cells lie within {100 * NEAR:g}% of the model "
        f"(measured / modelled {ratio.min():.2f} to {ratio.max():.2f}, median {ratio.median():.2f})."
    )
    echoed = fixed[(fixed["insertion_point"] != "none") & fixed["relative_time"].notna()]
    for _, rows in echoed.groupby(["R", "burst"]):
        best = rows.iloc[int(rows["relative_time"].argmin())]
        source = _source(best["R"], best["burst"])
        where = best["insertion_point"].replace("_", " ")
        yield (
            f"{source}, the shortest time with a fixed factor was {best['measured_s']:.2f} s, e = "
            f"{best['echo_factor']:g} {where}: {best['relative_time']:.2f}x the baseline's."
        )
    yield from _adaptive(cells)


def wall_clock_warnings(results: pd.DataFrame) -> Iterator[str]:
    """What puts times in doubt, from `analysis.tables.timed_results`."""
    busy = int((results["others_share"] > BUSY).sum())
    if busy:
        yield (
            f"The machine was busy: during {busy} of {len(results)} timed results other processes kept more "
            f"than {BUSY:g} processors busy; leave it to the trials and time them again."
        )


def _adaptive(cells: pd.DataFrame) -> Iterator[str]:
    """Adaptive echoing beside the best fixed factor of its insertion point, behind the same source."""
    keys = ["batch_size", "insertion_point", "echo_buffer", "R", "burst"]
    best_of = cells[~cells["adaptive"]].groupby(keys)["measured_s"].min().to_dict()
    for row in cells[cells["adaptive"]].to_dict("records"):
        best = best_of.get(tuple(row[name] for name in keys), math.nan)
        yield (
            f"{_source(row['R'], row['burst'])}, adaptive echoing up to {row['echo_factor']:g} times "
            f"{row['insertion_point'].replace('_', ' ')} took {row['measured_s']:.2f} s, "
            f"{row['measured_s'] / best:.2f}x the best fixed factor's, and waited for "
            f"{100 * row['waiting_share']:.1f}% of it."
        )


def _source(ratio: float, burst: int) -> str:
    return f"At R = {ratio:g}" + (f" in bursts of {burst}" if burst > 1 else "")
