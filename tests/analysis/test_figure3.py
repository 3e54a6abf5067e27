"""The drawing of figure 3: what is in it, and that no text is cut or covered."""

from itertools import combinations

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Annotation, Text

from analysis.figures import draw_figure3, figure3_caption, figure3_title, save_figure
from analysis.tables import figure3, searches

LONG = "a_user_s_own_workload_with_a_very_long_name_and_no_end_in_sight_whatever_happens"
SHORT = ("search.points=1", "search.repeats=3")
CASES = {
    "three repeats": SHORT,
    "five repeats": ("search.points=1", "search.repeats=5"),
    "one repeat": ("search.points=1", "search.repeats=1"),
    "some censored": SHORT,
    "all censored": SHORT,
    "unfinished": SHORT,
    "empty": SHORT,
    "only the baseline": (*SHORT, "conditions.echo_factor=[1]"),
    "twelve conditions": (*SHORT, "conditions.echo_factor=[2, 4]", "conditions.echo_buffer=[0, 1024]"),
    "six panels": (*SHORT, "conditions.echo_factor=[2, 4, 16]", "conditions.batch_size=[32, 1024]"),
    "huge numbers": (
        *SHORT,
        "budget.fresh_examples=30000000000",
        "conditions.batch_size=[1234, 1400]",
        "conditions.echo_factor=[1.3333333, 1048.576]",
        "conditions.echo_buffer=[123456789, 1234567890]",
    ),
    "long names": SHORT,
}


def fate(case, trial, budget):
    """How a trial of a case ended."""
    place, repeat = trial.search.condition.insertion_point, trial.search.repeat
    if case == "empty" or (case == "unfinished" and (place == "after_batching" or repeat == 2)):
        return None
    if case == "all censored" or (case == "some censored" and place != "none" and repeat > 0):
        return ("missed", float(budget))
    share = {"none": 0.9, "before_augmentation": 0.5, "after_augmentation": 0.6}.get(place, 0.8)
    return ("reached", float(round(budget * share * (1 + 0.03 * repeat * (-1) ** repeat) / 256) * 256))


@pytest.fixture(scope="module", params=CASES)
def drawn(request, plan_of, trials_of):
    """A case's figure with its tables."""
    plan = plan_of(*CASES[request.param])
    fates = {trial.id: fate(request.param, trial, plan.spec.budget.fresh_examples) for trial in plan.trials}
    by_search = searches(plan, trials_of({trial: end for trial, end in fates.items() if end}, plan))
    table, title = figure3(plan, by_search), figure3_title(plan)
    if request.param == "long names":
        title = title.replace("digits_convnet", LONG)
        longer = {"before_augmentation": "before_augmentation_of_everything_else"}
        table, by_search = (one.replace({"insertion_point": longer}) for one in (table, by_search))
    return draw_figure3(table, by_search, title=title), table, by_search


def texts_of(figure, monkeypatch):
    """Every text that a drawing really draws."""
    found, draw = [], Text.draw

    def recorded(self, renderer, *args, **kwargs):
        if self.get_visible() and self.get_text().strip():
            found.append(self)
        return draw(self, renderer, *args, **kwargs)

    monkeypatch.setattr(Text, "draw", recorded)
    FigureCanvasAgg(figure).draw()
    return list(dict.fromkeys(found))


def test_no_text_is_cut_by_the_edge_or_covered_by_another_or_by_an_arrow(drawn, monkeypatch):
    figure, _, _ = drawn
    texts = texts_of(figure, monkeypatch)
    boxes = {text: Text.get_window_extent(text) for text in texts}
    assert len(boxes) > 10
    for text, box in boxes.items():
        assert box.x0 >= 0, text
        assert box.y0 >= 0, text
        assert box.x1 <= figure.bbox.x1, text
        assert box.y1 <= figure.bbox.y1, text
    for (one, first), (two, second) in combinations(boxes.items(), 2):
        assert not first.overlaps(second), (one, two)
    arrows = [a.arrow_patch.get_window_extent() for a in figure.findobj(Annotation) if a.arrow_patch]
    for arrow in arrows:
        assert not any(box.overlaps(arrow) for box in boxes.values())


def test_every_repeat_is_a_dot_and_every_censored_one_an_arrow(drawn):
    figure, table, by_search = drawn
    axes = [axis for axis in figure.get_axes() if axis.axison]
    dots = np.concatenate(
        [line.get_ydata() for axis in axes for line in axis.get_lines() if line.get_alpha() is not None]
    )
    baselines = len(axes) - table["echo_factor"].eq(1).sum()
    arrows = [a.xy[1] for a in figure.findobj(Annotation) if a.arrow_patch]
    if not baselines:
        reached = by_search.loc[by_search["reached"], "fresh_examples_to_target"]
        assert sorted(dots) == sorted(reached)
        assert len(arrows) == table["censored"].sum()
    assert set(dots) == set(by_search["fresh_examples_to_target"].dropna())
    assert set(arrows) == set(table.loc[table["censored"] > 0, "budget"])


@pytest.fixture
def example(plan, trials_of):
    ended = {
        trial.id: ("reached", 256.0 * (20 + trial.search.repeat) / trial.search.condition.echo_factor)
        for trial in plan.trials
    }
    by_search = searches(plan, trials_of(ended, plan))
    return figure3(plan, by_search), by_search


def test_drawing_and_saving_leave_no_mark_on_matplotlib(example, tmp_path):
    before = dict(matplotlib.rcParams)
    save_figure(draw_figure3(*example, title="digits"), tmp_path / "figure")
    assert dict(matplotlib.rcParams) == before


def test_equal_tables_are_equal_files(example, tmp_path):
    for name in ("one", "two"):
        save_figure(draw_figure3(*example, title="digits"), tmp_path / name)
    for suffix in ("png", "svg"):
        one, two = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("one", "two"))
        assert one == two
    assert b"<dc:date>" not in one
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.png", "one.svg", "two.png", "two.svg"]


def test_the_dashed_line_is_the_baselines_mean_over_the_echo_factor(example):
    (axis,) = draw_figure3(*example, title="digits").get_axes()
    (dashed,) = [one for one in axis.collections if one.get_label() == "if as good as fresh"]
    assert dashed.get_segments()[0][:, 1] == pytest.approx([256 * 21 / 2] * 2)


def test_the_caption_names_the_estimators_and_their_coverage(example):
    assert figure3_caption(example[0]) == (
        "Dot: one repeat of the whole search. Square: mean. Bar: minimum to maximum, which holds the median "
        "with 75% at 3 repeats. Diamond: median. Below the names, against the baseline: ratio of the "
        "geometric means, and its 95% interval by Welch's t on logarithms. Dashed line: the baseline's mean "
        "over e, as if repeats were as good as fresh examples."
    )


def test_the_caption_says_what_is_censored_and_what_is_missing(plan, trials_of):
    ended = {trial.id: ("missed", 12032.0) for trial in plan.trials if trial.search.repeat == 0}
    table = figure3(plan, searches(plan, trials_of(ended, plan)))
    assert figure3_caption(table) == (
        "Arrow: a censored search (here 4), in which no trial reached the target within 12,000 fresh "
        "examples. Preliminary: 8 of 12 searches are unfinished."
    )


def test_the_title_says_which_side_of_the_target_is_better(plan_of):
    assert figure3_title(plan_of()) == "digits_convnet: fresh examples to valid_accuracy ≥ 0.95"
    lower = plan_of("target.metric=valid_loss", "target.value=0.2")
    assert figure3_title(lower) == "digits_convnet: fresh examples to valid_loss ≤ 0.2"
