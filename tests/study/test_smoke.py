import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.plan import make_plan
from study.smoke import smoke_cut
from study.specmodel import StudySpec

INSERTION_POINTS = ["before_augmentation", "after_augmentation", "after_batching"]


def study(**changes):
    data = {
        "name": "large",
        "workload": "digits_convnet",
        "conditions": {
            "batch_size": [64, 32],
            "echo_factor": [1, 4, 2],
            "insertion_point": INSERTION_POINTS,
            "echo_buffer": [0, 1024],
        },
        "metaparameters": {"learning_rate": {"low": 0.003, "high": 0.3, "scale": "log"}},
        "search": {"sampler": "halton", "points": 100, "repeats": 5},
        "target": {"metric": "valid_loss", "value": 0.2},
        "budget": {"fresh_examples": 100000, "evaluate_every": 1000},
        "stop": "exhaustive",
        "seed": 7,
        "resources": {"cpu": 2, "gpu": 0.5},
    }
    return StudySpec.model_validate(data | changes)


def test_a_smoke_study_keeps_the_question_and_cuts_the_work():
    cut = smoke_cut(study())
    assert cut == study(
        name="large-smoke",
        conditions={
            "batch_size": [64],
            "echo_factor": [4],
            "insertion_point": INSERTION_POINTS,
            "echo_buffer": [0],
        },
        search={"sampler": "halton", "points": 2, "repeats": 1},
        budget={"fresh_examples": 512, "evaluate_every": 256},
    )


def test_a_smoke_plan_has_the_baseline_and_every_insertion_point():
    plan = make_plan(smoke_cut(study()))
    assert [c.insertion_point for c in plan.conditions] == ["none", *INSERTION_POINTS]
    assert len(plan.trials) == 4 * 2


def test_a_study_of_the_baseline_alone_stays_one():
    conditions = study().conditions.model_dump() | {"echo_factor": [1]}
    plan = make_plan(smoke_cut(study(conditions=conditions)))
    assert [c.is_baseline for c in plan.conditions] == [True]


@given(
    name=st.text("ab.-_", min_size=1, max_size=100).filter(lambda name: name[0] != "."),
    batch_size=st.integers(1, 1400),
    points=st.integers(1, 100),
    budget=st.tuples(st.integers(1, 10**6), st.integers(1, 10**6)),
)
def test_any_study_can_be_cut_and_is_no_larger_after_it(name, batch_size, points, budget):
    evaluate_every, fresh_examples = sorted(budget)
    fresh_examples = max(fresh_examples, batch_size)
    spec = study(
        name=name,
        conditions=study().conditions.model_dump() | {"batch_size": [batch_size]},
        search={"points": points, "repeats": 3},
        budget={"fresh_examples": fresh_examples, "evaluate_every": evaluate_every},
    )
    cut = smoke_cut(spec)
    assert cut.name.endswith("-smoke")
    assert cut.search.points == min(points, 2)
    assert cut.budget.evaluate_every <= min(evaluate_every, 4 * batch_size)
    assert batch_size <= cut.budget.fresh_examples <= 8 * batch_size
    assert cut.budget.fresh_examples >= 2 * cut.budget.evaluate_every


@pytest.mark.parametrize("kept", ["workload", "metaparameters", "target", "stop", "seed", "resources"])
def test_what_does_not_cost_time_is_kept(kept):
    assert getattr(smoke_cut(study()), kept) == getattr(study(), kept)
