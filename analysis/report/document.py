"""What a report says, whatever form it is written in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import pandas as pd

from analysis.advice import advice
from analysis.checks import checks
from analysis.claims import Claim, claims
from analysis.gallery import Exhibit, exhibits
from analysis.material import Material
from analysis.sentences import findings, remarks
from analysis.statistics import LEVEL
from analysis.survival import MOST_CENSORED
from analysis.tables.costs import cost, share_saved
from analysis.tables.workloads import table1
from analysis.wall_clock import wall_clock_findings, wall_clock_warnings

HIDDEN_TAGS = ("mlflow.", "echostudy.kind")

METHODS = (
    (
        "A search's result is, among its trials that reached the target, the one with the fewest fresh "
        "examples (ties: fewer updates, then the smaller point). It counts the first evaluation at or "
        "past the target, so results lie on the grid of evaluations."
    ),
    (
        "Mean, minimum and maximum are over the repeats of a search, as in the paper. The range of n "
        "repeats holds the median of their distribution with probability 1 - 2^(1-n): 75% for 3, 93.75% "
        "for 5, exactly."
    ),
    (
        f"Ratios against the baseline are of geometric means, with {100 * LEVEL:g}% intervals by Welch's "
        "t on logarithms. Paired ratios compare repeats that share their seeds. Equal repeats have no "
        "interval: the grid of evaluations made them equal."
    ),
    (
        "A search of which no trial reached the target is censored at its budget. Means are then over "
        "the others, and too low, and the table of estimates gives bounds; ratios have no interval. "
        f"Where more than {100 * MOST_CENSORED:g}% of a condition's searches are censored, the median by "
        "Kaplan and Meier is given, too."
    ),
    (
        "Times at a given R are modelled: an upstream step and e downstream steps overlap and take "
        "max(R, e), so that the speed-up is F(1)/F(e) * max(R, 1)/max(R, e), with F the fresh examples "
        "to the target."
    ),
    (
        "A finding of the paper counts as reproduced if the whole interval of every comparison it is "
        "about lies on its side, as contradicted if one lies on the other side as a whole, else as "
        "undecided."
    ),
    "Source of the findings: Choi, Passos, Shallue, Dahl, arXiv 1907.05550, and the authors' article on it.",
)


@dataclass(frozen=True, slots=True)
class Document:
    """The parts of a report in their order; `tables` are by the name of their file."""

    title: str
    state: str
    claims: tuple[Claim, ...]
    advice: tuple[str, ...]
    findings: tuple[str, ...]
    warnings: tuple[str, ...]
    missing: tuple[str, ...]
    exhibits: tuple[Exhibit, ...]
    tables: Mapping[str, pd.DataFrame]
    provenance: Mapping[str, str]


def document(material: Material, tags: Mapping[str, str], figures: Collection[str] | None = None) -> Document:
    """All that there is to say of a study; `tags` are those of its MLflow run (none if it has not begun).

    `figures` are the names of those to draw; None = all.
    """
    plan, trials = material.plan, material.trials
    saving = share_saved(plan, trials)
    tables = {
        "table1": table1(plan),
        "searches": material.searches,
        "estimates": material.estimates,
        "sensitivity": material.sensitivity,
        "cost": cost(plan, trials),
    }
    if len(material.timed_results):
        tables |= {"timed": material.timed_cells, "timed_searches": material.timed_results}
    shown = tuple(exhibits(material, figures))
    return Document(
        title=f"{plan.spec.name}: {plan.spec.workload}, {_target(material)}",
        state=_state(material),
        claims=tuple(claims(material)),
        advice=tuple(advice(material)),
        findings=(*findings(plan, material.by_condition), *wall_clock_findings(material.timed_cells)),
        warnings=(
            *remarks(plan, trials, material.searches, saving),
            *wall_clock_warnings(material.timed_results),
            *checks(plan, trials, material.searches, material.results.curves),
        ),
        missing=tuple(f"{one.heading}: {one.missing}" for one in shown if one.missing),
        exhibits=shown,
        tables=tables,
        provenance={name: tags[name] for name in sorted(tags) if not name.startswith(HIDDEN_TAGS)},
    )


def _target(material: Material) -> str:
    rule = material.plan.spec.rule
    return f"{rule.metric} {'≥' if rule.higher_is_better else '≤'} {rule.value:g}"


def _state(material: Material) -> str:
    """How far the study is, in one sentence."""
    plan, trials = material.plan, material.trials
    searches = material.searches
    done = int(searches["points"].sum())
    planned = len(plan.trials)
    size = f"{len(plan.conditions)} conditions x {plan.spec.search.repeats} repeats"
    if done < planned:
        return f"Unfinished: {done:,} of {planned:,} trials have a result ({size}). All below is preliminary."
    versions = sorted({int(one) for one in trials["protocol_version"].dropna()})
    return f"Finished: {planned:,} trials ({size}), protocol version {', '.join(map(str, versions))}."
