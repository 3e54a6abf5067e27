"""The plain sentences, word for word."""

import textwrap

import pytest

from analysis.sentences import findings, remarks
from analysis.tables import figure3, searches, share_saved

FRESH = {
    "none": [6144, 6656, 7168],
    "before_augmentation": [3072, 3328, 4096],
    "after_augmentation": [5120] * 3,
}
NAMES = {"none", "before_augmentation", "after_augmentation"}


def said(plan, trials):
    by_search = searches(plan, trials)
    return [
        *findings(plan, figure3(plan, by_search)),
        *remarks(plan, trials, by_search, share_saved(plan, trials)),
    ]


def ended(plan, fresh=FRESH, point=2):
    """Searches that reach the target at one point, or at none; all other points use up the budget."""
    found = {}
    for trial in plan.trials:
        values = fresh.get(trial.search.condition.insertion_point)
        value = values[trial.search.repeat] if values and trial.point == point else None
        found[trial.id] = ("missed", 12000.0) if value is None else ("reached", float(value))
    return found


def as_text(sentences):
    return "\n".join(textwrap.fill(one, 100, subsequent_indent="  ") for one in sentences)


def test_a_finished_study_says_what_each_condition_needed(plan, trials_of):
    assert as_text(said(plan, trials_of(ended(plan), plan))) == textwrap.dedent(
        """\
        The baseline reached valid_accuracy 0.95 with 6,656 fresh examples on average (6,144 to 7,168, 3
          repeats).
        Echoing twice before augmentation reached valid_accuracy 0.95 with 0.52x the fresh examples of the
          baseline (95% interval 0.38 to 0.71, 3 repeats).
        Echoing twice after augmentation reached valid_accuracy 0.95 with 0.77x the fresh examples of the
          baseline (95% interval 0.64 to 0.93, 3 repeats).
        Echoing twice after batching did not reach valid_accuracy 0.95 within 12,000 fresh examples in 3 of
          3 repeats.
        Censored: in 3 of 12 searches no trial reached the target; means are over the others, and too low,
          and ratios have no interval. A larger budget, more points or an easier target would tell more.
        Stopping trials early saved 11% of the examples that they would have consumed to the end of their
          budgets (899,680 instead of 1,008,000)."""
    )


def test_an_unfinished_study_says_how_far_it_is_and_what_crashed(plan, trials_of):
    first = {one: end for one, end in ended(plan).items() if plan.trial_by_id[one].search.repeat == 0}
    crashed = {plan.trials[4].id: ("crashed", 100.0), plan.trials[5].id: ("diverged", 0.0)}
    assert as_text(said(plan, trials_of(first | crashed, plan))) == textwrap.dedent(
        """\
        The baseline reached valid_accuracy 0.95 with 6,144 fresh examples (1 of 3 repeats).
        Echoing twice before augmentation reached valid_accuracy 0.95 with 0.50x the fresh examples of the
          baseline (no interval, 1 of 3 repeats; baseline 1 of 3).
        Echoing twice after augmentation reached valid_accuracy 0.95 with 0.83x the fresh examples of the
          baseline (no interval, 1 of 3 repeats; baseline 1 of 3).
        Echoing twice after batching did not reach valid_accuracy 0.95 within 12,000 fresh examples in 1 of
          3 repeats.
        Unfinished: 17 of 48 trials have a result.
        Crashed: 1 trial, to be run again with the study.
        Diverged: 1 of 17 trials, counted as not having reached the target.
        Censored: in 1 of 12 searches no trial reached the target; means are over the others, and too low,
          and ratios have no interval. A larger budget, more points or an easier target would tell more.
        Stopping trials early saved 11% of the examples that they would have consumed to the end of their
          budgets (298,528 instead of 336,000)."""
    )


def test_a_study_that_has_not_begun_says_so_and_no_more(plan, trials_of):
    assert said(plan, trials_of({}, plan)) == ["Unfinished: 0 of 48 trials have a result."]


def test_without_a_baseline_there_is_no_ratio(plan, trials_of):
    trials = trials_of(ended(plan, {"before_augmentation": [3072, 3328, 4096]}), plan)
    assert said(plan, trials)[1] == (
        "Echoing twice before augmentation reached valid_accuracy 0.95 with 3,499 fresh examples on average "
        "(3,072 to 4,096, 3 repeats); its baseline has not reached it."
    )


def test_conditions_are_told_apart_by_what_varies(plan_of, trials_of):
    plan = plan_of(
        "search.points=1",
        "search.repeats=1",
        "conditions.batch_size=[16, 32]",
        "conditions.echo_factor=[1.5]",
        "conditions.insertion_point=[after_batching]",
        "conditions.echo_buffer=[0, 1024]",
    )
    sentences = said(plan, trials_of({trial.id: ("reached", 256.0) for trial in plan.trials}, plan))
    starts = [sentence.split(" reached")[0] for sentence in sentences[:6]]
    assert starts == [
        f"{words}, batch size {batch_size}{buffer},"
        for batch_size in (16, 32)
        for words, buffer in (
            ("The baseline", ""),
            ("Echoing 1.5 times after batching", ", echo buffer 0"),
            ("Echoing 1.5 times after batching", ", echo buffer 1024"),
        )
    ]


@pytest.mark.parametrize(("place", "end"), [(0, "lower"), (-1, "upper")])
def test_best_points_at_the_end_of_a_range_are_pointed_out(plan_of, trials_of, place, end):
    plan = plan_of("search.points=64", "search.repeats=3", "conditions.echo_factor=[1]")
    best = {}
    for search in plan.searches:
        mine = [trial for trial in plan.trials if trial.search == search]
        best[sorted(mine, key=lambda trial: trial.metaparameters["momentum"])[place].id] = ("reached", 512.0)
    everything = {trial.id: ("missed", 12000.0) for trial in plan.trials}
    sentences = said(plan, trials_of(everything | best, plan))
    (sentence,) = [one for one in sentences if "momentum" in one]
    assert sentence == (
        f"The baseline: the best momentum lies at the {end} end of its range (0.7 to 0.99) in 3 of 3 repeats;"
        " a wider range may do better."
    )


def test_best_points_well_inside_their_ranges_are_not(plan, trials_of):
    inside = next(
        point
        for point in range(4)
        if all(
            plan.spec.metaparameters[name].at(0.1) < value < plan.spec.metaparameters[name].at(0.9)
            for trial in plan.trials
            if trial.point == point and trial.search.repeat == 0
            for name, value in trial.metaparameters.items()
        )
    )
    trials = trials_of({trial.id: ("reached", 512.0) for trial in plan.trials if trial.point == inside}, plan)
    trials = trials[[plan.trial_by_id[one].search.repeat == 0 for one in trials["trial_id"]]]
    assert not any("range" in sentence for sentence in said(plan, trials))
