"""Every figure in every state of a study: drawn, or a sentence; and no text cut or covered."""

import pytest

from analysis.figures import save_figure
from analysis.gallery import NAMES, exhibit, exhibits

SHORT = ("search.points=2", "search.repeats=3")
GRID = (
    *("search.points=1", "search.repeats=2", "conditions.batch_size=[32, 128]"),
    *("conditions.echo_factor=[2, 16]", "conditions.echo_buffer=[0, 1024]", "stop=exhaustive"),
    "conditions.insertion_point=[before_augmentation, after_batching]",
)
CASES = {
    "the demo": SHORT,
    "a whole grid": GRID,
    "one repeat": ("search.points=2", "search.repeats=1", "stop=exhaustive"),
    "nothing": SHORT,
    "only the baseline": (*SHORT, "conditions.echo_factor=[1]", "stop=exhaustive"),
    "only diverged": (*SHORT, "stop=exhaustive"),
    "some censored": (*SHORT, "conditions.echo_factor=[2, 4]"),
    "huge numbers": (
        *("search.points=1", "search.repeats=2", "budget.fresh_examples=30000000000"),
        *("conditions.batch_size=[1234, 1400]", "conditions.echo_factor=[1.3333333, 1048.576]"),
        *("conditions.echo_buffer=[123456789, 1234567890]", "stop=exhaustive"),
        "conditions.insertion_point=[after_batching]",
    ),
}
NEVER_MISSING = {"figure1", "figure2", "figure3", "metaparameters", "tuning_cost", "health"}


def fate(case, trial, budget):
    """How a trial of a case ended."""
    condition, repeat = trial.search.condition, trial.search.repeat
    if case == "nothing":
        return None
    if case == "only diverged":
        return ("diverged", 0.0)
    if case == "some censored" and condition.echo_factor > 2 and repeat:
        return ("missed", float(budget))
    if trial.point:
        return (("beaten", "missed", "crashed")[repeat % 3], 0.4 * budget)
    echoed = 0 if condition.is_baseline else 0.4 + 0.02 * len(condition.insertion_point)
    return ("reached", float(round(budget * (0.95 - echoed - 0.03 * repeat * (-1) ** repeat))))


@pytest.fixture(scope="module", params=CASES)
def shown(request, plan_of, material_of):
    plan = plan_of(*CASES[request.param])
    ends = {trial.id: fate(request.param, trial, plan.spec.budget.fresh_examples) for trial in plan.trials}
    material = material_of(plan, {trial: end for trial, end in ends.items() if end})
    return request.param, list(exhibits(material))


def test_every_figure_is_drawn_or_says_what_is_missing(shown):
    case, found = shown
    assert tuple(one.name for one in found) == NAMES
    for one in found:
        assert (one.figure is None) == bool(one.missing), one.name
        assert one.figure is not None or one.missing.endswith(".")
    missing = {one.name for one in found if one.missing}
    assert not missing & NEVER_MISSING
    missing.discard("adaptive")  # which needs times: see test_timed.py
    assert (missing == {"figure4", "streamed", "figure5", "figure6", "figure7", "mixing"}) == (
        case == "only the baseline"
    )
    if case == "a whole grid":
        assert not missing


def test_no_text_is_cut_or_covered(shown, cut_or_covered):
    case, found = shown
    for one in found:
        if one.figure is not None:
            assert cut_or_covered(one.figure) == [], (case, one.name)


def test_figures_fit_a_page_and_a_slide(shown):
    case, found = shown
    for one in found:
        if one.figure is not None:
            width, height = one.figure.get_size_inches()
            assert 6 <= width <= 24, one.name
            assert 1.5 <= height <= 40 or case == "a whole grid", one.name


def test_a_figure_can_be_had_by_its_name_and_saved(plan_of, material_of, tmp_path):
    plan = plan_of(*SHORT)
    found = exhibit(material_of(plan, {}), "health")
    png, svg = save_figure(found.figure, tmp_path / found.name)
    assert png.read_bytes()[:4] == b"\x89PNG"
    assert b"</svg>" in svg.read_bytes()


def test_a_curve_of_tuning_cost_ends_where_its_last_trial_was_stopped(plan_of, material_of):
    plan = plan_of(*SHORT, "conditions.insertion_point=[before_augmentation]")
    ends = {}
    for trial in plan.trials:
        condition, repeat = trial.search.condition, trial.search.repeat
        if condition.is_baseline:  # one that diverged says nothing of what comes later
            ends[trial.id] = ("diverged", 256.0) if trial.point and repeat else ("reached", 6144.0)
        else:
            ends[trial.id] = ("beaten", 4096.0 + repeat) if trial.point else ("reached", 3072.0)
    found = exhibit(material_of(plan, ends), "tuning_cost")
    furthest = found.table.groupby("insertion_point", sort=False)["followed_to"].unique()
    assert [[*one] for one in furthest] == [[6144.0], [4098.0]]
    assert [line.get_xdata()[-1] for line in found.figure.axes[0].lines] == [6144.0, 4098.0]
