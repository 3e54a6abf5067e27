"""Every table of a study with all that can happen, against a slow count of its own.

The store is written through the tracking code: each of five studies has a workload's name, five repeats, and
every outcome, some censored searches, one that is never reached, a crashed trial and one still running.
"""

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from analysis.gallery import exhibits
from analysis.material import Material
from study.entry import trial_entry
from study.plan import Plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome, Rank
from study.store import open_store
from study.tracking import StudyWriter

BUDGET, TARGET = 12000, 0.95
WORKLOADS = ("first", "second", "third", "fourth", "fifth & <last>")
OUTCOMES = (Outcome.REACHED, Outcome.MISSED, Outcome.DIVERGED, Outcome.BEATEN)


def renamed(plan, workload) -> Plan:
    """The plan of the digits study under another workload's name."""
    conditions = {one: replace(one, workload=workload) for one in plan.conditions}
    searches = tuple(replace(one, condition=conditions[one.condition]) for one in plan.searches)
    spec = plan.spec.model_copy(update={"name": f"study {WORKLOADS.index(workload)}"})
    return Plan(spec, tuple(conditions.values()), searches)


def facts_of(plan, seed):
    """How each trial ends: (outcome, fresh examples at its end), or None where it has not ended."""
    rng = np.random.default_rng(seed)
    facts = {}
    for trial in plan.trials:
        place, repeat = trial.search.condition.insertion_point, trial.search.repeat
        outcome = OUTCOMES[rng.choice(4, p=[0.55, 0.2, 0.1, 0.15])]
        fresh = 256.0 * int(rng.integers(16, 40) / trial.search.condition.echo_factor**0.6)
        if place == "after_batching" and repeat in (1, 3):
            outcome, fresh = Outcome.MISSED, float(BUDGET)
        facts[trial.id] = (outcome, 0.0 if outcome is Outcome.DIVERGED else fresh)
    facts[plan.trials[0].id] = (Outcome.CRASHED, 0.0)
    facts[plan.trials[-1].id] = None
    return facts


def written(plan, facts, results):
    """The store of a study."""
    writer = StudyWriter(open_store(results.tracking_uri), plan, None, {})
    for trial in plan.trials:
        if facts[trial.id] is None:
            cut_short = trial_entry(TrialRecord(trial, plan.spec.rule, [], Outcome.MISSED, slot_s=1.0), None)
            writer._trial_run(cut_short)
            continue
        outcome, fresh = facts[trial.id]
        factor = trial.search.condition.echo_factor
        evaluations = [
            Evaluation(
                at,
                int(at * factor / 32),
                {"valid_accuracy": value, "examples_read": at, "examples_consumed": at * factor}
                | {"duplicate_share": 0.01 * factor, "mean_lag_updates": 9.0, "buffer_examples": 0.0},
            )
            for at, value in ((fresh - 256, 0.9), (fresh, 0.96 if outcome is Outcome.REACHED else 0.94))
            if fresh
        ]
        found_at = Rank(256.0, 8, trial.point) if outcome is Outcome.DIVERGED else None
        record = TrialRecord(trial, plan.spec.rule, evaluations, outcome, slot_s=1.0, earliest=found_at)
        writer.write_trial(record)


@pytest.fixture(scope="module")
def base(plan_of):
    return plan_of("search.points=3", "search.repeats=5")


@pytest.fixture(params=WORKLOADS)
def golden(request, base, results):
    """A study's material, its plan, and the facts behind it."""
    plan = renamed(base, request.param)
    facts = facts_of(plan, WORKLOADS.index(request.param))
    written(plan, facts, results)
    return Material.of(plan, results.tracking_uri), plan, facts


def by_hand(plan, facts):
    """By condition: the results of its searches, in plain loops; `inf` = censored, None = unfinished."""
    table = {}
    for condition in plan.conditions:
        values = []
        for search in plan.searches:
            if search.condition != condition:
                continue
            ends = [facts[trial.id] for trial in plan.trials if trial.search.id == search.id]
            reached = [fresh for outcome, fresh in filter(None, ends) if outcome is Outcome.REACHED]
            is_open = any(end is None or end[0] is Outcome.CRASHED for end in ends)
            values.append(min(reached) if reached else None if is_open else math.inf)
        table[condition] = values
    return table


@pytest.mark.slow
def test_every_table_is_that_of_a_slow_count(golden):
    material, plan, facts = golden
    found = {one.name: one.table for one in exhibits(material)}
    expected = by_hand(plan, facts)
    for at, (condition, values) in enumerate(expected.items()):
        base = [v for v in expected[plan.conditions[0]] if v is not None and v < math.inf]
        mine = [v for v in values if v is not None and v < math.inf]
        row = found["figure3"].iloc[at]
        assert row["workload"] == condition.workload
        assert [row["repeats_reached"], row["censored"]] == [len(mine), values.count(math.inf)]
        numbers = [statistics.mean(mine), min(mine), max(mine), statistics.median(mine)]
        assert row[["mean", "min", "max", "median"]].tolist() == pytest.approx(numbers)
        ratio = stats.gmean(mine) / stats.gmean(base)
        assert row["ratio_to_baseline"] == pytest.approx(ratio)
        if not condition.is_baseline and len(mine) == len(base) == 5:
            ends = stats.ttest_ind(np.log(mine), np.log(base), equal_var=False).confidence_interval()
            assert row[["ratio_low", "ratio_high"]].tolist() == pytest.approx(list(np.exp(list(ends))))
        else:
            assert math.isnan(row["ratio_low"])
        times = found["figure4"][found["figure4"]["R"] == 4].iloc[at]
        assert times["speed_up"] == pytest.approx(1 / ratio * 4 / max(4, condition.echo_factor))
        row = found["health"].iloc[at]
        ends = [facts[trial.id] for trial in plan.trials if trial.search.condition == condition]
        for outcome in Outcome:
            assert row[outcome.value] == sum(end is not None and end[0] is outcome for end in ends)
        assert row["without_result"] == ends.count(None)
        curve = found["tuning_cost"]
        curve = curve[curve["insertion_point"] == condition.insertion_point]
        assert curve["fresh_examples"].tolist() == [0, *sorted(set(reached_at(ends)))]
        assert curve["share_reached"].tolist() == pytest.approx(shares(ends))
        estimate = material.estimates.iloc[at]
        if estimate["censored"]:
            cut = [min(v, BUDGET) for v in values if v is not None]
            assert estimate["mean_at_least"] == pytest.approx(statistics.mean(cut))
        mixed = found["mixing"][found["mixing"]["insertion_point"] == condition.insertion_point]
        assert mixed["duplicate_share"].tolist() == pytest.approx([0.02] * len(mixed))
    assert len(found["metaparameters"]) == 2 * sum(
        end is not None and end[0] is not Outcome.CRASHED for end in facts.values()
    )


def reached_at(ends):
    return [fresh for outcome, fresh in filter(None, ends) if outcome is Outcome.REACHED]


def shares(ends):
    """The share that has reached the target after each step, by the product-limit formula."""
    followed = []
    for outcome, fresh in filter(None, ends):
        if outcome is not Outcome.CRASHED:
            followed.append((BUDGET if outcome is Outcome.DIVERGED else fresh, outcome is Outcome.REACHED))
    left, found = 1.0, [0.0]
    for value in sorted({fresh for fresh, is_reached in followed if is_reached}):
        at_risk = sum(fresh >= value for fresh, _ in followed)
        left *= 1 - followed.count((value, True)) / at_risk
        found.append(1 - left)
    return found
