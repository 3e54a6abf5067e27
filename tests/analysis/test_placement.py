"""The advice of a profile by the model and by a study, the table it takes from a study, and the figure."""

import math

import numpy as np
import pandas as pd
import pytest

from analysis.figures.profile import draw_profile
from analysis.placement import measured_sentences, placement, rounded_down
from analysis.tables import figure3, searches
from analysis.tables.ratios import TYPES, stored_ratios

POINTS = ("before_augmentation", "after_augmentation", "after_batching")


def profile(*ratios, update_s=0.01, **other):
    """A profile of these R, from before augmentation on, or after batching alone; batches of 32."""
    points = POINTS if len(ratios) == 3 else POINTS[2:]
    by_point = dict(zip(points, ratios, strict=True)) if ratios else {}
    upstream = {point: ratio * update_s for point, ratio in by_point.items()} or {"after_batching": 0.04}
    return {
        "R": by_point,
        "R_quartiles": {point: [0.98 * ratio, 1.02 * ratio] for point, ratio in by_point.items()},
        "stages_s": {"read": upstream["after_batching"], "update": update_s},
        "stages_quartiles_s": {"read": [0.03, 0.05], "update": [update_s, update_s]},
        "upstream_s": upstream,
        "downstream_s": dict.fromkeys(by_point, update_s),
        "burst_batches": 1.0,
        "batches_s": [0.04] * 20,
        "update_s": update_s if ratios else None,
        "step_s": max(update_s, upstream["after_batching"]),
        "device_wait_share": 0.75,
        "batch_size": 32,
        "examples": 1400,
        "example_bytes": dict.fromkeys(upstream, 1000),
    } | other


def measured(*rows):
    """A study's table of (insertion point, e, ratio, low, high), buffers of 256."""
    found = [
        ("digits", 32, factor, point, 256, 3, 3, ratio, low, high) for point, factor, ratio, low, high in rows
    ]
    return pd.DataFrame(found, columns=list(TYPES)).astype(TYPES)


def test_the_earliest_point_with_about_the_largest_ratio_is_advised():
    assert placement(profile(3.9, 4.0, 4.1)).insertion_point == "before_augmentation"
    assert placement(profile(2.0, 4.0, 4.1)).insertion_point == "after_augmentation"
    assert placement(profile(0.1, 0.2, 4.1)).insertion_point == "after_batching"


def test_the_advice_by_the_model_word_for_word():
    advice = placement(profile(4.09, 4.1, 4.1), memory_bytes=500_000)
    assert (advice.echo_factor, advice.echo_buffer, advice.speed_up) == (4.0, 500, (1.0, 4.0))
    assert advice.sentences == (
        ("Echo before augmentation, e = 4, buffer = 500 examples (500 kB; to fill it first takes 0.64 s)."),
        (
            "Expect 1x to 4x less time to the target (modelled): 4x if repeats teach as much as fresh "
            "examples, 1x if they teach nothing, for up to e = R they cost no time."
        ),
        "What repeats are worth to a model, only a study tells: run one, and profile again with --study.",
    )


def test_a_buffer_holds_no_more_than_there_is():
    assert placement(profile(4.0), memory_bytes=10**9).echo_buffer == 1400
    assert placement(profile(4.0, examples=None), memory_bytes=10**9).echo_buffer == 1_000_000
    small = placement(profile(4.0), memory_bytes=31_000)
    assert small.echo_buffer == 0
    assert small.sentences[0] == "Echo after batching, e = 4, without a buffer (31 kB would hold too little)."
    assert placement(profile(4.0, example_bytes={}), memory_bytes=31_000).echo_buffer == 0


@pytest.mark.parametrize("ratio", [0.3, 1.0, 1.04])
def test_without_idle_time_the_advice_is_not_to_echo(ratio):
    advice = placement(profile(0.0, 0.1, ratio))
    assert (advice.decision, advice.insertion_point, advice.echo_factor) == ("do not echo", None, 1.0)
    words = f"R is {ratio:.2f} at most (after batching), so that the pipeline keeps up with the device."
    assert advice.sentences == (f"Do not echo: {words}",)


def test_without_an_update_the_advice_says_what_is_lacking():
    advice = placement(profile())
    assert advice.decision == "unknown"
    assert advice.sentences[0].startswith("R is unknown without an update: a batch takes 40 ms to make")


def test_what_stands_against_the_model_is_said():
    wide = placement(profile(1.2, R_quartiles={"after_batching": [0.9, 1.6]})).sentences
    assert any("R is uncertain: 1.20 on average, 0.90 to 1.60 in the middle" in one for one in wide)
    stalled = placement(profile(8.4, R_quartiles={"after_batching": [2.1, 2.2]})).sentences
    assert any("R is uncertain: 8.40 on average, 2.10 to 2.20 in the middle" in one for one in stalled)
    apart = placement(profile(2.0, step_s=0.03)).sentences[-1]
    assert "A step takes 30 ms, though the longer of pipeline and update takes 20 ms" in apart
    disturbed = placement(profile(2.0, step_s=0.05)).sentences[-1]
    assert "more than pipeline and update one after the other (30 ms)" in disturbed


def test_bursts_are_told_where_their_pauses_outlast_an_update():
    assert not any("bursts" in one for one in measured_sentences(profile(0.1, burst_batches=9.0)))
    bursts = list(measured_sentences(profile(2.0, burst_batches=16.2)))
    assert bursts == [
        "The longest stage is read: 20 ms a batch.",
        "Batches come in bursts: about 16 at once, then a pause.",
        "The device waits for 75% of the time, a step takes 20 ms.",
    ]


def test_a_study_takes_the_place_of_the_model():
    table = measured(
        ("before_augmentation", 2, 0.55, 0.5, 0.6),
        ("before_augmentation", 4, 0.3, 0.25, 0.4),
        ("after_batching", 4, 0.2, 0.1, 1.2),  # not shown
    )
    advice = placement(profile(6.0, 6.0, 6.0), study="digits", ratios=table)
    assert (advice.decision, advice.insertion_point) == ("echo", "before_augmentation")
    assert (advice.echo_factor, advice.echo_buffer, advice.basis) == (4.0, 256, "digits")
    assert advice.speed_up == pytest.approx((1 / 0.4, 1 / 0.25))  # at e < R the time is that of reading
    assert advice.sentences[:3] == (
        (
            "By the study digits, echo before augmentation, e = 4, buffer = 256, batch size = 32: expect "
            "3.33x less time (2.50 to 4.00, modelled)."
        ),
        "Without its measurements the model would say 1x to 4x.",
        "It has tried no e above 4, and R is 6: more may do better.",
    )
    # at e > R an update is what takes the time
    low, high = placement(profile(2.0, 2.0, 2.0), study="digits", ratios=table.iloc[1:2]).speed_up
    assert (low, high) == pytest.approx((1 / (0.4 * 2), 1 / (0.25 * 2)))


def test_a_study_that_shows_no_gain_is_believed():
    table = measured(("after_batching", 4, 0.9, 0.7, 1.1))
    advice = placement(profile(4.0), study="digits", ratios=table)
    assert advice.decision == "do not echo"
    assert "no condition of the study digits is shown to be faster at this R" in advice.sentences[0]


def test_a_study_without_the_insertion_point_leaves_the_model():
    table = measured(("before_augmentation", 4, 0.3, 0.2, 0.4))
    advice = placement(profile(4.0), study="digits", ratios=table)
    assert (advice.decision, advice.basis) == ("echo", "model")
    assert any(
        "The study digits has no echoing at these points, within this memory," in one
        for one in advice.sentences
    )


def test_only_buffers_within_the_memory_count():
    table = measured(("after_batching", 4, 0.3, 0.25, 0.4))
    assert placement(profile(4.0), 100_000, "digits", table).basis == "model"
    assert placement(profile(4.0), 256_000, "digits", table).basis == "digits"


def test_a_factor_is_rounded_down_to_two_digits():
    given = [0, 0.96, 1.0, 1.09, 4.0, 7.99, 12.7, 1_234_567]
    assert [rounded_down(one) for one in given] == [0, 0.96, 1.0, 1.0, 4.0, 7.9, 12.0, 1_200_000]


def test_ratios_from_trials_alone_are_those_of_figure_3(plan, material_of):
    fresh = {"none": [6144, 6656, 7168], "before_augmentation": [3072, 3328, 4096]}
    ended = {}
    for trial in plan.trials:
        values = fresh.get(trial.search.condition.insertion_point)
        is_reached = values is not None and trial.point == 2
        ended[trial.id] = (
            ("reached", float(values[trial.search.repeat])) if is_reached else ("missed", 12000.0)
        )
    material = material_of(plan, ended)
    wanted = figure3(plan, searches(plan, material.trials)).set_index("insertion_point")
    stored = stored_ratios(material.trials).set_index("insertion_point")
    names = ["ratio_to_baseline", "ratio_low", "ratio_high"]
    before = "before_augmentation"
    assert stored.loc[before, names].tolist() == pytest.approx(wanted.loc[before, names].tolist())
    assert math.isnan(stored.loc["after_batching", "ratio_to_baseline"])
    assert stored.loc["after_batching", "repeats_reached"] == 0


@pytest.mark.parametrize(
    "shown",
    [
        profile(3.9, 4.0, 4.1),
        profile(0.0, 0.0, 0.0, batches_s=[0.0, 0.0]),
        profile(123456.0, update_s=1e-6),
        profile(batches_s=list(np.tile([0, 0, 0, 0.16], 50))),
    ],
)
def test_no_text_of_the_figure_is_cut_or_covered(shown, cut_or_covered):
    assert (
        cut_or_covered(draw_profile(shown, title="a workload of my own: where the time of a batch goes"))
        == []
    )


def test_the_figure_shows_stages_batches_in_order_and_ratios():
    shown = profile(3.9, 4.0, 4.1, batches_s=[0.0, 0.08, 0.0, 0.08])
    stages, batches, ratios = draw_profile(shown, title="mine").get_axes()
    assert [bar.get_width() for bar in stages.patches] == pytest.approx([41, 10])
    assert [bar.get_height() for bar in batches.patches] == pytest.approx([0, 80, 0, 80])
    assert [line.get_xdata()[0] for line in ratios.get_lines()] == pytest.approx([3.9, 4.0, 4.1, 1])
