"""Findings of figures 3 and 4 and of the authors' article on streamed data.

Source: Choi et al., arXiv 1907.05550. Times are modelled (`analysis.tables.modelled_time`).
"""

from __future__ import annotations

from analysis.claims.claim import (
    ABOUT_EQUAL,
    Claim,
    Verdict,
    all_below,
    counted,
    judged_above,
    judged_below,
    no_data,
)
from analysis.claims.evidence import against_baseline, between, echoed
from analysis.claims.pairs import alike, neighbours
from analysis.material import Material
from analysis.tables.modelled_time import STREAMED

ORDER = ("before_augmentation", "after_augmentation", "after_batching")


def fewer_fresh_examples(material: Material) -> Claim:
    """Figure 3: at e = 2 every insertion point needs fewer fresh examples than the baseline."""
    evidence = against_baseline(material, echoed(material, echo_factor=2.0))
    return all_below(
        "fewer fresh examples",
        "figure 3",
        "At e = 2, echoing needs fewer fresh examples than the baseline at every insertion point (in "
        "the paper in all cases but one: batch echoing on ResNet-50, about equal).",
        evidence,
        1.0,
        needs="a condition with e = 2 and its baseline",
    )


def the_earlier_the_fewer(material: Material) -> Claim:
    """Figure 3: the earlier the insertion point, the fewer fresh examples."""
    conditions = echoed(material, echo_factor=2.0)
    pairs = [
        (one, other)
        for one, other in alike(conditions, "insertion_point")
        if ORDER.index(one.insertion_point) + 1 == ORDER.index(other.insertion_point)
    ]
    return all_below(
        "the earlier, the fewer",
        "figure 3",
        "At e = 2, the earlier the echo stage stands, the fewer fresh examples it needs.",
        between(material, pairs),
        1.0,
        needs="neighbouring insertion points at e = 2",
        what="neighbouring pair",
    )


def no_harm_with_batch_norm(material: Material) -> Claim:
    """Figure 3: no bad interaction with batch normalisation."""
    is_resnet = "resnet" in material.plan.spec.workload.lower()
    conditions = echoed(material, echo_factor=2.0) if is_resnet else []
    return all_below(
        "no harm with batch normalisation",
        "figure 3",
        "Echoing does not interact badly with batch normalisation: ResNets need about as many fresh "
        "examples as their baseline, or fewer.",
        against_baseline(material, conditions),
        ABOUT_EQUAL,
        needs="a ResNet at e = 2",
    )


def no_gain_at_equal_speeds(material: Material) -> Claim:
    """Figure 4: at R = 1 echoing shortens nothing."""
    evidence = [
        one
        for condition in echoed(material)
        for one in against_baseline(material, [condition], scale=condition.echo_factor)
    ]
    name, source = "no gain at R = 1", "figure 4, modelled time"
    finding = "At R = 1, where upstream is as fast as downstream, echoing does not shorten training."
    if not evidence:
        return no_data(name, source, finding, "a condition with echoing and its baseline")
    gains = [one for one in evidence if one.interval.is_known and one.interval.high < 1]
    known = all(one.interval.is_known for one in evidence)
    verdict = judged_above(evidence, 1.0)
    if gains:
        verdict = Verdict.CONTRADICTED
    elif verdict is Verdict.CONTRADICTED or not known:
        verdict = Verdict.UNDECIDED
    sentence = f"Time over the baseline's: {counted(evidence, 1.0, 'condition')}."
    return Claim(name, source, finding, verdict, sentence, tuple(evidence))


def shorter_up_to_r(material: Material) -> Claim:
    """Figure 4: any e up to R shortens training (its time is then that of the fresh examples)."""
    return all_below(
        "every e up to R shortens training",
        "figure 4, modelled time",
        "Where R > 1, any e up to R shortens training: its time over the baseline's is the ratio of "
        "fresh examples.",
        against_baseline(material, echoed(material)),
        1.0,
        needs="a condition with echoing and its baseline",
    )


def best_at_r(material: Material) -> Claim:
    """Figure 4: of the factors up to R, the largest shortens training the most."""
    pairs = [
        (larger, smaller)
        for smaller, larger in neighbours(echoed(material), "echo_factor")
        if larger.echo_factor <= 8
    ]
    return all_below(
        "e = R shortens training the most",
        "figure 4, modelled time",
        "Of the factors up to R, e = R shortens training the most: each larger e needs fewer fresh "
        "examples than the one before (e up to 8).",
        between(material, pairs),
        1.0,
        needs="two echo factors up to 8 with all else equal",
        what="step to a larger e",
    )


def beyond_r(material: Material) -> Claim:
    """Figure 4: with e beyond R, no gain on LM1B, and still a gain on ResNet-50."""
    name, source = "e beyond R", "figure 4, modelled time"
    finding = "With e beyond R (here R = 2), training is no shorter on LM1B, and still shorter on ResNet-50."
    workload = material.plan.spec.workload.lower()
    evidence = [
        one
        for condition in echoed(material)
        if condition.echo_factor > 2
        for one in against_baseline(material, [condition], scale=condition.echo_factor / 2)
    ]
    is_lm1b, is_resnet50 = "lm1b" in workload, "resnet50" in workload or "resnet_50" in workload
    if not evidence or not (is_lm1b or is_resnet50):
        return no_data(name, source, finding, "LM1B or a ResNet-50 with e above 2")
    verdict = judged_above(evidence, 1.0) if is_lm1b else judged_below(evidence, 1.0)
    sentence = f"Time over the baseline's at R = 2: {counted(evidence, 1.0, 'condition')}."
    return Claim(name, source, finding, verdict, sentence, tuple(evidence))


def every_factor_is_faster_when_streamed(material: Material) -> Claim:
    """The authors' article: at R = 6 every e tried is faster; the best 3.25 times."""
    evidence = [
        one
        for condition in echoed(material)
        for one in against_baseline(material, [condition], scale=max(condition.echo_factor / STREAMED, 1.0))
    ]
    claim = all_below(
        "faster at R = 6",
        "the authors' article, modelled time",
        "With data streamed at R = 6, every e tried is faster than e = 1 (in the article up to 3.25 "
        "times, at e = 5 before augmentation, on ResNet-50).",
        evidence,
        1.0,
        needs="a condition with echoing and its baseline",
    )
    if not evidence:
        return claim
    best = min(evidence, key=lambda one: one.interval.estimate)
    words = f" The best here: {1 / best.interval.estimate:.2f} times as fast, {best.name}."
    return Claim(
        claim.name, claim.source, claim.finding, claim.verdict, claim.sentence + words, claim.evidence
    )
