"""Wall-clock times: medians beside the model, figures, and what is said of them."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis.figures.style import house_style
from analysis.gallery import exhibit
from analysis.results import _typed
from analysis.tables import modelled_time, timed_cells, timed_results, with_measured
from analysis.tables.timed import overlapped_s
from analysis.wall_clock import wall_clock_findings, wall_clock_warnings
from study.timed import timed

UPDATE_S = 0.01
SETTINGS = [
    "conditions.insertion_point=[before_augmentation]",
    "conditions.echo_factor=[2, 4]",
    "conditions.R=[1, 4]",
    "search.points=2",
    "search.repeats=3",
    "measure=time",
    "timing={burst: [1, 64], adaptive: true}",
]


def fresh_of(condition, adaptive=False):
    """Fresh examples to the target: 3,200 for the baseline, 1,920 and 960 with echoing, adaptive 1,280."""
    return 1280 if adaptive else {1: 3200, 2: 1920, 4: 960}[int(condition.echo_factor)]


@pytest.fixture(scope="module")
def material(plan_of, material_of):
    """Every point 0 has won, and was timed to be 2% slower than modelled, 4% in the last repeat."""
    plan = plan_of(*SETTINGS)
    ends = {
        trial.id: ("reached", fresh_of(trial.search.condition)) for trial in plan.trials if not trial.point
    }
    searched = material_of(plan, ends)
    won = {trial.search.id: trial for trial in plan.trials if trial.point == 0}
    rows = []
    for trial in timed(plan, won).trials:
        timing, condition = trial.search.timing, trial.search.condition
        if trial.point:
            continue
        fresh, batch_s = fresh_of(condition, timing.adaptive), timing.R * UPDATE_S
        updates = fresh * (1.5 if timing.adaptive else condition.echo_factor) / 32
        modelled = batch_s * 64 / 32 + max(batch_s * fresh / 32, UPDATE_S * updates) + UPDATE_S
        measured = modelled * (1.02 if trial.search.repeat < 2 else 1.04)
        rows.append(
            {
                "run_id": f"run-{trial.id}",
                "trial_id": trial.id,
                "outcome": "reached",
                "point": trial.point,
                "fresh_examples_to_target": fresh,
                "examples_read_to_target": fresh + 64,
                "updates_to_target": updates,
                "param.R": timing.R,
                "param.burst": timing.burst,
                "source_batch_s": batch_s,
                "time_to_target_s": measured,
                "input_wait_s": 0.25 * measured,
                "update_s": 0.75 * measured,
                "others_s": (0.5 if trial.search.repeat == 2 and timing.R == 4 else 0.1) * measured,
            }
        )
    return replace(searched, timed_trials=_typed(pd.DataFrame(rows)))


def test_every_timed_search_is_a_row_with_its_time_beside_the_model(material):
    table = material.timed_results
    assert len(table) == (3 * 3 + 3) * 2 * 2
    row = table.query("echo_factor == 4 and R == 4 and burst == 1 and not adaptive").iloc[0]
    # 64 examples fill the buffer (0.08 s), 30 batches come at 0.04 s, which 120 updates fill, and one more
    assert row["modelled_s"] == pytest.approx(0.08 + 1.2 + 0.01)
    assert row["measured_over_modelled"] == pytest.approx(1.02)
    assert row["waiting_share"] == pytest.approx(0.25)
    assert row["others_share"] == pytest.approx(0.1)
    assert row["update_s"] == pytest.approx(0.75 * row["measured_s"] / 120)


def test_the_model_fills_the_buffer_then_overlaps_and_waits_for_whole_bursts():
    one = {"example_s": 0.01, "update_s": 0.5}
    assert overlapped_s(read=150, fresh=100, updates=1, burst=1, **one) == pytest.approx(1.5 + 0.5)
    assert overlapped_s(read=150, fresh=100, updates=4, burst=1, **one) == pytest.approx(0.5 + 2 + 0.5)
    assert overlapped_s(read=150, fresh=100, updates=1, burst=64, **one) == pytest.approx(1.92 + 0.5)
    assert overlapped_s(read=100, fresh=100, updates=4, burst=64, **one) == pytest.approx(0.64 + 2 + 0.5)


def test_cells_are_medians_over_repeats_beside_the_baseline_behind_the_same_source(material):
    cells = material.timed_cells
    assert set(cells["repeats"]) == {3}
    assert set(cells["measured_over_modelled"].round(6)) == {1.02}
    echo = cells.query("echo_factor == 2 and R == 4 and burst == 64").iloc[0]
    # the baseline: 100 batches at 0.04 s; echoing: 60 of them
    assert echo["relative_time"] == pytest.approx((0.08 + 2.4 + 0.01) / (0.08 + 4.0 + 0.01))
    assert (cells.query("insertion_point == 'none'")["relative_time"] == 1).all()


def test_figure_4_has_what_was_measured_behind_the_steady_source_beside_what_is_modelled(material):
    modelled = modelled_time(material.by_condition, [1, 4])
    table = with_measured(modelled, material.timed_cells)
    assert len(table) == len(modelled) == 6
    echo = table.query("echo_factor == 2 and R == 4").iloc[0]
    assert echo["relative_time"] == pytest.approx(0.6)
    assert echo["measured_relative_time"] == pytest.approx(2.49 / 4.09)
    assert "as measured" in exhibit(material, "figure4").heading


@pytest.mark.parametrize("name", ["figure4", "adaptive"])
def test_the_figures_are_drawn_and_nothing_in_them_is_cut_or_covered(material, name, cut_or_covered):
    with house_style():
        shown = exhibit(material, name)
        assert shown.missing == ""
        assert cut_or_covered(shown.figure) == []
    dots = [
        line for axis in shown.figure.axes for line in axis.get_lines() if line.get_marker() in ("o", "*")
    ]
    assert dots


def test_sentences_say_how_near_the_model_is_and_how_adaptive_echoing_did(material):
    said = list(wall_clock_findings(material.timed_cells))
    assert said[0].startswith("On the wall clock, 12 of 12 cells lie within 10% of the model")
    assert any(
        one.startswith("At R = 4, the shortest time with a fixed factor was 1.32 s, e = 4") for one in said
    )
    adaptive = [one for one in said if "adaptive" in one]
    assert len(adaptive) == 4
    # 40 fresh batches at 0.04 s and 0.09 s more, of the best factor's 1.29 s
    assert "1.31x the best fixed factor's, and waited for 25.0% of it" in adaptive[2]


def test_a_busy_machine_is_warned_of(material):
    assert "during 8 of 48 timed results" in next(wall_clock_warnings(material.timed_results))


def test_where_nothing_was_timed_nothing_is_said(material):
    untimed = replace(material, timed_trials=None)
    assert untimed.timed_cells.empty
    assert list(wall_clock_findings(untimed.timed_cells)) == []
    assert list(wall_clock_warnings(untimed.timed_results)) == []
    assert "measure: time" in exhibit(untimed, "adaptive").missing
    assert "measured_s" not in exhibit(untimed, "figure4").table


def test_a_search_that_missed_its_target_has_no_row(material):
    trials = material.timed_trials.assign(outcome="missed")
    won = {one.id: material.plan.trials_of(one)[0] for one in material.plan.searches}
    assert timed_cells(timed_results(timed(material.plan, won), trials)).empty
