"""Two studies side by side: another machine, another version, another seed."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from analysis.results import SETTLED
from analysis.statistics import summarise
from analysis.tables.planned import CONDITION_TYPES
from analysis.tables.ratios import fresh_ratio, settled_searches
from study.errors import UserError

SIDES = ("first", "second")
TYPES = CONDITION_TYPES | {
    f"{name}_{side}": kind
    for side in SIDES
    for name, kind in {"searches": "int64", "reached": "int64", "mean": "float64"}.items()
}
TYPES |= {"same_question": "bool"} | dict.fromkeys(("ratio", "ratio_low", "ratio_high"), "float64")


def compare(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """A row a condition of either study, from their tables of trials (`analysis.load`).

    Columns, after the condition's own: for each side the `searches` with a result, how many `reached` the
    target, and the `mean` of their fresh examples to it; `same_question`: both sides have the same searches
    (ids, which change with target, budget, space, seed and protocol); `ratio` of the second side's geometric
    mean to the first's, with its 95% Welch interval, NaN ends where a search of either side did not reach it.
    Of a study whose file was changed between its runs, `latest_questions` count.

    Raises `UserError` where the two were run under different protocol versions: they do not compare.
    """
    _refuse_other_protocols(first, second)
    sides = [settled_searches(latest_questions(trials)) for trials in (first, second)]
    keys = list(CONDITION_TYPES)
    conditions = pd.concat([side[keys] for side in sides]).drop_duplicates().sort_values(keys)
    rows = []
    for condition in conditions.to_dict("records"):
        mine = [side[(side[keys] == pd.Series(condition)).all(axis=1)] for side in sides]
        needed = [side["fresh_examples_to_target"] for side in mine]
        row = dict(condition)
        for name, values in zip(SIDES, needed, strict=True):
            row |= {f"searches_{name}": len(values), f"reached_{name}": int(values.count())}
            row |= {f"mean_{name}": summarise(list(values.dropna())).mean}
        ratio = fresh_ratio(needed[1], needed[0])
        row |= {"same_question": set(mine[0]["search_id"]) == set(mine[1]["search_id"])}
        row |= {"ratio": ratio.estimate, "ratio_low": ratio.low, "ratio_high": ratio.high}
        rows.append(row)
    return pd.DataFrame(rows, columns=list(TYPES)).astype(TYPES)


def latest_questions(trials: pd.DataFrame) -> pd.DataFrame:
    """The trials of each condition's and repeat's search that ran last.

    A store keeps what a study ran before its target, budget, ... were changed; those searches answer another
    question, and would count as more repeats of this one.
    """
    keys = [*CONDITION_TYPES, "repeat"]
    settled = trials[trials["outcome"].isin(SETTLED)]
    latest = settled.sort_values("end_time", kind="stable").drop_duplicates(keys, keep="last")
    return trials[trials["search_id"].isin(latest["search_id"])]


def comparison_remarks(table: pd.DataFrame) -> Iterator[str]:
    """What to mind: conditions of one side alone, other questions, and results that differ."""
    both = table[(table["searches_first"] > 0) & (table["searches_second"] > 0)]
    if alone := len(table) - len(both):
        yield f"{alone} of {len(table)} conditions have results in one of the two studies only."
    if others := int((~both["same_question"]).sum()):
        yield (
            f"{others} of {len(both)} conditions are not the same question in both: the target, the "
            "budget, the metaparameters, the sampler, the seed or the repeats differ."
        )
    apart = both[(both["ratio_high"] < 1) | (both["ratio_low"] > 1)]
    if len(both):
        yield (
            f"In {len(apart)} of {len(both)} conditions the two differ by more than their repeats "
            "explain (95% interval of the ratio without 1; by chance about 1 in 20)."
        )


def _refuse_other_protocols(first: pd.DataFrame, second: pd.DataFrame) -> None:
    versions = [sorted(set(map(int, one["protocol_version"].dropna()))) for one in (first, second)]
    if versions[0] and versions[1] and versions[0] != versions[1]:
        names = [" and ".join(map(str, found)) for found in versions]
        raise UserError(
            f"The first study was run under protocol version {names[0]}, the second under {names[1]}: "
            "what they count differs, so they do not compare; run one of them anew."
        )
