"""Findings of figures 5 to 8, and of the choice of the target. Source: Choi et al., arXiv 1907.05550."""

from __future__ import annotations

from analysis.claims.claim import (
    ABOUT_EQUAL,
    Claim,
    Evidence,
    Verdict,
    all_below,
    counted,
    judged_above,
    judged_below,
    no_data,
)
from analysis.claims.evidence import against_baseline, between, echoed, named, relative
from analysis.claims.pairs import SETTINGS, groups, neighbours
from analysis.material import Material
from analysis.statistics import welch_difference
from analysis.tables.fresh_examples import baseline_of, of_condition
from study.plan import Condition

WORSE_BY = 0.01
"""Share of the baseline's value by which a best value may be worse and still count as no worse."""


def a_moderate_factor_is_best(material: Material) -> Claim:
    """Figure 5: at the smaller batch the best e lies between 4 and 8."""
    name, source = "a moderate e is best", "figure 5"
    finding = (
        "At the smaller batch size (1024 on LM1B), the e that needs the fewest fresh examples is 4 to 8."
    )
    smallest = min(one.batch_size for one in material.plan.conditions)
    conditions = echoed(material, batch_size=smallest)
    factors = {one.echo_factor for one in conditions}
    found = against_baseline(material, conditions)
    if not (any(4 <= one <= 8 for one in factors) and max(factors) > 8 and min(factors) < 4 and found):
        return no_data(name, source, finding, "factors below 4, from 4 to 8 and above 8 at one batch size")
    by_name = {named(one): one for one in conditions}
    best = by_name[min(found, key=lambda one: one.interval.estimate).name]
    rivals = [one for one in groups(conditions, "echo_factor") if best in one]
    pairs = [(best, other) for group in rivals for other in group if not 4 <= other.echo_factor <= 8]
    evidence = between(material, [pair for pair in pairs if pair[0] != pair[1]])
    inside = 4 <= best.echo_factor <= 8
    verdict = judged_below(evidence, 1.0) if evidence else Verdict.UNDECIDED
    if not inside:
        verdict = Verdict.CONTRADICTED if verdict is Verdict.REPRODUCED else Verdict.UNDECIDED
    return Claim(name, source, finding, verdict, f"The best is {named(best)}.", tuple(evidence))


def large_factors_still_help(material: Material) -> Claim:
    """Figure 5: even e = 16 needs far fewer fresh examples than the baseline."""
    conditions = [one for one in echoed(material) if one.echo_factor >= 16]
    return all_below(
        "e = 16 still helps",
        "figure 5",
        "Even at e = 16, echoing needs fewer fresh examples than the baseline (LM1B, batch sizes 1024 "
        "and 4096).",
        against_baseline(material, conditions),
        1.0,
        needs="a condition with e of 16 or more",
    )


def larger_batches_bear_more(material: Material) -> Claim:
    """Figure 5: with a larger batch, larger factors go on helping."""
    conditions = echoed(material)
    largest = max((one.echo_factor for one in conditions), default=0.0)
    pairs = [
        (larger, smaller)
        for smaller, larger in neighbours(conditions, "batch_size")
        if larger.echo_factor == largest >= 8
    ]
    return all_below(
        "larger batches bear larger e",
        "figure 5",
        "The larger the batch, the larger the e that still helps: at the largest e, the ratio to the "
        "baseline falls with the batch size.",
        relative(material, pairs),
        1.0,
        needs="an e of 8 or more at two batch sizes",
        what="step to a larger batch",
    )


def batch_echoing_over_batch_sizes(material: Material) -> Claim:
    """Figure 6: batch echoing does as well or better relative to the baseline as the batch grows."""
    conditions = echoed(material, echo_factor=2.0, insertion_point="after_batching")
    pairs = [(larger, smaller) for smaller, larger in neighbours(conditions, "batch_size")]
    return all_below(
        "batch echoing likes large batches",
        "figure 6",
        "At e = 2, batch echoing does as well or better relative to its baseline as the batch grows.",
        relative(material, pairs),
        ABOUT_EQUAL,
        needs="batch echoing at e = 2 at two batch sizes",
        what="step to a larger batch",
    )


def example_echoing_over_batch_sizes(material: Material) -> Claim:
    """Figure 6: example echoing does as well or worse relative to the baseline as the batch grows."""
    conditions = [one for one in echoed(material, echo_factor=2.0) if one.insertion_point != "after_batching"]
    pairs = [(smaller, larger) for smaller, larger in neighbours(conditions, "batch_size")]
    return all_below(
        "example echoing likes small batches",
        "figure 6",
        "At e = 2, example echoing does as well or worse relative to its baseline as the batch grows.",
        relative(material, pairs),
        ABOUT_EQUAL,
        needs="example echoing at e = 2 at two batch sizes",
        what="step to a smaller batch",
    )


def shuffling_helps_example_echoing(material: Material) -> Claim:
    """Figure 7: a larger buffer behind example echoing needs fewer fresh examples."""
    conditions = [one for one in echoed(material) if one.insertion_point != "after_batching"]
    return _shuffling(material, conditions, "example echoing")


def shuffling_helps_batch_echoing(material: Material) -> Claim:
    """Figure 7: a larger buffer behind batch echoing needs fewer fresh examples."""
    return _shuffling(material, echoed(material, insertion_point="after_batching"), "batch echoing")


def no_worse_value(material: Material) -> Claim:
    """Figure 8: at a fixed number of fresh examples, no variant ends worse than the baseline."""
    plan, rule = material.plan, material.plan.spec.rule
    name, source = "no worse in the end", "figure 8"
    finding = (
        f"Within a fixed number of fresh examples, no variant has a worse best {rule.metric} than the "
        "baseline."
    )
    evidence, margin = [], 0.0
    for condition in echoed(material) if plan.spec.stop == "exhaustive" else []:
        mine, base = (_best_values(material, one) for one in (condition, baseline_of(plan, condition)))
        if mine and base:
            sign = 1 if rule.higher_is_better else -1
            margin = max(margin, WORSE_BY * abs(sum(base) / len(base)))
            gain = welch_difference([sign * value for value in mine], [sign * value for value in base])
            evidence.append(Evidence(named(condition), gain))
    if not evidence:
        return no_data(name, source, finding, "a study with stop: exhaustive, and results")
    verdict = judged_above(evidence, -margin)
    sentence = (
        f"Gain over the baseline: {counted(evidence, -margin, 'condition')} ({100 * WORSE_BY:g}% of the "
        "baseline's value worse counts as no worse)."
    )
    return Claim(name, source, finding, verdict, sentence, tuple(evidence))


def the_target_does_not_matter(material: Material) -> Claim:
    """Section 3: small changes of the target do not change the conclusions."""
    name, source = "the target does not matter", "section 3"
    finding = "Small changes of the target do not change the conclusions."
    table = material.sensitivity
    shifted = table[(table["insertion_point"] != "none") & table["ratio_to_baseline"].notna()]
    if shifted["shift"].nunique() < 2:
        return no_data(name, source, finding, "conditions that reached the target and an easier one")
    flips = decided = 0
    for _, rows in shifted.groupby(list(SETTINGS)):
        helps, harms = rows["ratio_high"] < 1, rows["ratio_low"] > 1
        flips += bool(helps.any() and harms.any())
        decided += bool(helps.any() or harms.any())
    signs = shifted.groupby(list(SETTINGS))["ratio_to_baseline"].agg(lambda ratios: (ratios < 1).nunique())
    verdict = Verdict.REPRODUCED
    if flips or not decided or (signs > 1).any():
        verdict = Verdict.CONTRADICTED if flips else Verdict.UNDECIDED
    sentence = (
        f"With targets from {shifted['target'].min():g} to {shifted['target'].max():g}, the ratio to the "
        f"baseline stays on its side of 1 in {int((signs == 1).sum())} of {len(signs)} conditions, and "
        f"turns from clearly below to clearly above 1 in {flips}."
    )
    if not decided:
        sentence += " No interval lies on one side of 1 at any target, so there is no conclusion to change."
    return Claim(name, source, finding, verdict, sentence)


def _shuffling(material: Material, conditions: list[Condition], kind: str) -> Claim:
    """Figure 7 for one kind of echoing: the largest buffer against the smallest."""
    pairs = []
    for group in groups(conditions, "echo_buffer"):
        ordered = sorted(group, key=lambda one: one.echo_buffer)
        pairs.append((ordered[-1], ordered[0]))
    return all_below(
        f"shuffling helps {kind}",
        "figure 7",
        f"The larger the shuffle buffer behind it, the fewer fresh examples {kind} needs.",
        between(material, pairs),
        1.0,
        needs=f"{kind} with two buffers, all else equal",
        what="pair of largest and smallest buffer",
    )


def _best_values(material: Material, condition: Condition) -> list[float]:
    rows = of_condition(material.best_by_search, condition)
    return [float(value) for value in rows["best_value"].dropna()]
