"""Claims on results that are planted: reproduced, contradicted, undecided, and no data."""

import pytest

from analysis.advice import advice
from analysis.claims import FINDINGS, Verdict, claims

GRID = (
    *("search.points=1", "search.repeats=5", "conditions.batch_size=[32, 128]", "stop=exhaustive"),
    *("conditions.echo_factor=[2, 4, 16]", "conditions.echo_buffer=[0, 1024]"),
)
PAPER = {"before_augmentation": 0.55, "after_augmentation": 0.65, "after_batching": 0.9}
"""Ratio to the baseline at e = 2 without a buffer, about as the paper has it."""


def fresh_of(condition, repeat, ratio_of):
    """Fresh examples to the target of one repeat: a ratio to a baseline of 8000, with 2% of spread."""
    spread = 1 + 0.01 * ((repeat * 7 + int(condition.echo_factor)) % 5 - 2)
    ratio = 1.0 if condition.is_baseline else ratio_of(condition)
    return round(8000 * ratio * spread)


def verdicts(material):
    return {one.name: one.verdict for one in claims(material)}


@pytest.fixture(scope="module")
def grid(plan_of):
    return plan_of(*GRID)


def planted(plan, material_of, ratio_of):
    ended = {
        trial.id: ("reached", float(fresh_of(trial.search.condition, trial.search.repeat, ratio_of)))
        for trial in plan.trials
    }
    return material_of(plan, ended)


def as_the_paper(condition):
    """Larger factors, earlier points and larger buffers help; batch echoing gains with the batch."""
    ratio = PAPER[condition.insertion_point] / (condition.echo_factor / 2) ** 0.45
    ratio *= 0.95 if condition.echo_buffer else 1
    likes_large = condition.insertion_point == "after_batching" or condition.echo_factor == 16
    if condition.batch_size == 128:
        ratio *= 0.85 if likes_large else 1.12
    return ratio


def test_results_like_the_papers_reproduce_its_findings(grid, material_of):
    found = verdicts(planted(grid, material_of, as_the_paper))
    assert found.pop("no harm with batch normalisation") is Verdict.NO_DATA
    assert found.pop("e beyond R") is Verdict.NO_DATA
    undecided = {name for name, verdict in found.items() if verdict is not Verdict.REPRODUCED}
    assert undecided == {"a moderate e is best", "no worse in the end"}


def test_results_the_other_way_round_contradict_them(grid, material_of):
    found = verdicts(planted(grid, material_of, lambda condition: 1 / as_the_paper(condition)))
    contradicted = {name for name, verdict in found.items() if verdict is Verdict.CONTRADICTED}
    assert contradicted == {
        "a moderate e is best",
        "fewer fresh examples",
        "the earlier, the fewer",
        "every e up to R shortens training",
        "e = R shortens training the most",
        "faster at R = 6",
        "e = 16 still helps",
        "larger batches bear larger e",
        "batch echoing likes large batches",
        "example echoing likes small batches",
        "shuffling helps example echoing",
        "shuffling helps batch echoing",
    }


def test_copies_better_than_fresh_examples_contradict_that_nothing_is_gained_at_equal_speeds(
    grid, material_of
):
    found = verdicts(planted(grid, material_of, lambda condition: 0.5 / condition.echo_factor))
    assert found["no gain at R = 1"] is Verdict.CONTRADICTED


def test_one_repeat_decides_nothing(plan_of, material_of):
    plan = plan_of(*GRID, "search.repeats=1")
    found = set(verdicts(planted(plan, material_of, as_the_paper)).values())
    assert found == {Verdict.UNDECIDED, Verdict.NO_DATA}
    material = planted(plan, material_of, as_the_paper)
    (last,) = (one for one in claims(material) if one.name == "the target does not matter")
    assert last.sentence.endswith("so there is no conclusion to change.")


@pytest.mark.parametrize("outcome", [None, "diverged"])
def test_without_results_every_claim_says_what_it_takes(grid, material_of, outcome):
    ended = {trial.id: (outcome, 0.0) for trial in grid.trials if outcome}
    found = list(claims(material_of(grid, ended)))
    assert len(found) == len(FINDINGS)
    for one in found:
        if one.name != "no worse in the end":
            assert one.verdict is Verdict.NO_DATA
            assert one.sentence.startswith("This study has no data for it: it takes ")


def test_the_numbers_of_a_claim_are_those_of_figure_3(grid, material_of):
    material = planted(grid, material_of, as_the_paper)
    claim = next(claims(material))
    table = material.by_condition
    table = table[table["echo_factor"] == 2]
    found = [(one.interval.estimate, one.interval.low, one.interval.high) for one in claim.evidence]
    expected = table[["ratio_to_baseline", "ratio_low", "ratio_high"]].to_numpy()
    assert found == [pytest.approx(tuple(row)) for row in expected]
    assert str(claim.evidence[0]).startswith("before augmentation, e = 2, batch size 32, buffer 0: 0.5")


def test_the_advice_names_the_best_condition_at_each_insertion_point_and_r(grid, material_of):
    said = list(advice(planted(grid, material_of, as_the_paper)))
    assert said[0].startswith(
        "Before augmentation, e = 16, buffer = 1,024, batch size = 128: expect 5.74x fewer fresh examples "
        "(95% interval 5"
    )
    assert [one.partition(":")[0] for one in said[3:7]] == ["At R = 1", "At R = 2", "At R = 4", "At R = 8"]
    assert "do not echo" in said[3]
    assert "e = 4" in said[5]
    assert said[-1].startswith("The best of several conditions flatters itself")


def test_where_nothing_is_shown_the_advice_says_so(grid, material_of):
    assert list(advice(material_of(grid, {}))) == [
        "No advice yet: no condition with echoing and its baseline have both reached the target."
    ]
    said = list(advice(planted(grid, material_of, lambda condition: 1.5)))
    assert said[0] == (
        "Echoing has not been shown to save fresh examples here: no interval lies below the baseline."
    )
    assert said[1].endswith("; not shown to save any.")
    assert "1.5x the fresh examples of the baseline (95% interval 1.4" in said[1].replace("1.50x", "1.5x")
    assert "fewer" not in said[1]
