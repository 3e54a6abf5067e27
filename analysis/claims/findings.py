"""The findings of Choi et al., arXiv 1907.05550, in the order of its figures.

Every comparison has a 95% interval of its own; a finding about several of them asks all of them to hold. That
makes "reproduced" a strict word, and "contradicted" one that chance gives out more often than 1 in 20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analysis.claims.claim import Claim
from analysis.claims.figures_3_to_4 import (
    best_at_r,
    beyond_r,
    every_factor_is_faster_when_streamed,
    fewer_fresh_examples,
    no_gain_at_equal_speeds,
    no_harm_with_batch_norm,
    shorter_up_to_r,
    the_earlier_the_fewer,
)
from analysis.claims.figures_5_to_8 import (
    a_moderate_factor_is_best,
    batch_echoing_over_batch_sizes,
    example_echoing_over_batch_sizes,
    large_factors_still_help,
    larger_batches_bear_more,
    no_worse_value,
    shuffling_helps_batch_echoing,
    shuffling_helps_example_echoing,
    the_target_does_not_matter,
)
from analysis.material import Material


def claims(material: Material) -> Iterator[Claim]:
    """Every finding of the paper with what this study says of it."""
    for finding in FINDINGS:
        yield finding(material)


FINDINGS: tuple[Callable[[Material], Claim], ...] = (
    fewer_fresh_examples,
    the_earlier_the_fewer,
    no_harm_with_batch_norm,
    no_gain_at_equal_speeds,
    shorter_up_to_r,
    best_at_r,
    beyond_r,
    every_factor_is_faster_when_streamed,
    a_moderate_factor_is_best,
    large_factors_still_help,
    larger_batches_bear_more,
    batch_echoing_over_batch_sizes,
    example_echoing_over_batch_sizes,
    shuffling_helps_example_echoing,
    shuffling_helps_batch_echoing,
    no_worse_value,
    the_target_does_not_matter,
)
