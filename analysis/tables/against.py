"""Fresh examples to the target against one setting: the tables of figures 5, 6 and 7."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

SETTINGS = ("batch_size", "echo_factor", "echo_buffer")
"""The settings, besides the insertion point, that tell conditions of a workload apart."""


def against(by_condition: pd.DataFrame, setting: str) -> pd.DataFrame:
    """The rows of the table of figure 3 that show how the result depends on `setting` (one of `SETTINGS`).

    Conditions that differ in `setting` alone make a curve. Columns before those of figure 3's table: `panel`
    (a number: all that is shown together shares the other settings), `curve` (the insertion point). Curves of
    one point only are left out, so the table is empty where the study does not vary the setting. The
    baseline, `none`, is the first point (e = 1) of every curve against the echo factor, a curve of its own
    against the batch size, and not in the table of the echo buffer.
    """
    is_baseline = by_condition["insertion_point"] == "none"
    echoed, baselines = by_condition[~is_baseline], by_condition[is_baseline]
    shared = [name for name in SETTINGS if name != setting]
    parts: list[pd.DataFrame] = []
    for panel, (_, rows) in enumerate(echoed.groupby(shared, sort=False)):
        curves = [
            _with_baseline(rows, baselines, point, setting) for point in rows["insertion_point"].unique()
        ]
        if setting == "batch_size":
            curves.insert(0, baselines.assign(curve="none"))
        # The baseline alone makes no curve against e: two factors must have been tried.
        least = 3 if setting == "echo_factor" else 2
        parts += [curve.assign(panel=panel) for curve in curves if len(curve) >= least]
    if not parts or all((part["curve"] == "none").all() for part in parts):
        parts = [by_condition.iloc[:0].assign(panel=0, curve="")]
    table = pd.concat(parts, ignore_index=True)
    first: Sequence[str] = ("panel", "curve")
    table = table[[*first, *by_condition.columns]].astype({"panel": "int64", "curve": "str"})
    return table.sort_values(["panel"], kind="stable", ignore_index=True)


def _with_baseline(rows: pd.DataFrame, baselines: pd.DataFrame, point: str, setting: str) -> pd.DataFrame:
    """One insertion point's rows in the order of the setting, after their baseline where that is e = 1."""
    curve = rows[rows["insertion_point"] == point]
    if setting == "echo_factor":
        mine = baselines[baselines["batch_size"] == curve["batch_size"].iloc[0]]
        curve = pd.concat([mine, curve])
    return curve.sort_values(setting, kind="stable").assign(curve=point)
