import json
from collections import Counter

import pytest

from study.plan import NO_ECHO, Condition, make_plan, stable_id
from study.seeds import stable_digest
from study.spec import StudySpec

BEFORE, AFTER, BATCHING = "before_augmentation", "after_augmentation", "after_batching"


def study(**changes):
    data = {
        "name": "plan",
        "workload": "digits_convnet",
        "conditions": grid(),
        "metaparameters": {
            "learning_rate": {"low": 0.003, "high": 0.3, "scale": "log"},
            "momentum": {"low": 0.7, "high": 0.99, "scale": "reverse_log"},
        },
        "search": {"sampler": "sobol", "points": 4, "repeats": 2},
        "target": {"metric": "valid_accuracy", "value": 0.95},
        "budget": {"fresh_examples": 12000, "evaluate_every": 256},
    }
    return StudySpec.model_validate(data | changes)


def grid(batch_size=(32,), echo_factor=(2,), insertion_point=(BEFORE, BATCHING), echo_buffer=(1024,)):
    return {
        "batch_size": list(batch_size),
        "echo_factor": list(echo_factor),
        "insertion_point": list(insertion_point),
        "echo_buffer": list(echo_buffer),
    }


def trial_ids(spec):
    return [trial.id for trial in make_plan(spec).trials]


def baseline(batch_size):
    return Condition("digits_convnet", batch_size, 1.0, NO_ECHO, 0)


def test_the_baseline_is_added_once_per_batch_size():
    conditions = make_plan(study(conditions=grid(batch_size=[64, 32], echo_buffer=[0, 10]))).conditions
    assert [c for c in conditions if c.is_baseline] == [baseline(32), baseline(64)]
    assert len(conditions) == 2 * (1 + 2 * 2)


def test_a_factor_of_one_in_the_grid_is_the_baseline():
    with_one = study(conditions=grid(echo_factor=[1, 2], echo_buffer=[0, 1024]))
    without = study(conditions=grid(echo_factor=[2], echo_buffer=[0, 1024]))
    assert make_plan(with_one).conditions == make_plan(without).conditions
    assert trial_ids(with_one) == trial_ids(without)
    assert make_plan(study(conditions=grid(echo_factor=[1]))).conditions == (baseline(32),)


def test_conditions_stand_in_table_order_with_insertion_points_as_in_the_file():
    conditions = make_plan(
        study(conditions=grid([64, 32], [4, 1.5], [BATCHING, BEFORE], [1024, 0]))
    ).conditions
    rows = [(c.batch_size, c.echo_factor, c.insertion_point, c.echo_buffer) for c in conditions]
    echo = [(e, p, b) for e in (1.5, 4.0) for p in (BATCHING, BEFORE) for b in (0, 1024)]
    assert rows == [(size, *rest) for size in (32, 64) for rest in [(1.0, NO_ECHO, 0), *echo]]


def test_a_plan_has_a_search_per_condition_and_repeat_and_a_trial_per_point():
    plan = make_plan(study())
    assert Counter((s.condition, s.repeat) for s in plan.searches) == {
        (condition, repeat): 1 for condition in plan.conditions for repeat in range(2)
    }
    assert Counter(trial.search for trial in plan.trials) == dict.fromkeys(plan.searches, 4)
    assert [trial.point for trial in plan.trials] == list(range(4)) * 6


def test_all_conditions_of_a_repeat_are_searched_at_the_same_points():
    tables = {}
    for trial in make_plan(study()).trials:
        key = (trial.search.repeat, trial.point)
        assert tables.setdefault(key, trial.metaparameters) == trial.metaparameters
    assert len({json.dumps(dict(point)) for point in tables.values()}) == 2 * 4


def test_every_id_is_there_once_and_finds_its_trial():
    plan = make_plan(study(conditions=grid([32, 64], [2, 4])))
    ids = [search.id for search in plan.searches] + [trial.id for trial in plan.trials]
    assert len(set(ids)) == len(ids)
    assert all(plan.trial_by_id[trial.id] is trial for trial in plan.trials)


def test_searches_of_one_condition_share_its_id():
    by_condition = {}
    for search in make_plan(study()).searches:
        by_condition.setdefault(search.condition, set()).add(search.condition_id)
    assert all(len(ids) == 1 for ids in by_condition.values())
    assert len(set.union(*by_condition.values())) == len(by_condition)


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "other"},
        {"resources": {"cpu": 2, "gpu": 0.5}},
        {"seed": 0.0},
        {"options": {"autocast": "none", "compile": False}},
        {"budget": {"fresh_examples": 12000.0, "evaluate_every": 2.56e2}},
        {"conditions": grid([32.0], [2.0], [BEFORE, BATCHING], [1.024e3])},
        {
            "metaparameters": {
                "momentum": {"scale": "reverse_log", "high": 0.99, "low": 0.7},
                "learning_rate": {"low": 3e-3, "high": 0.3, "scale": "log"},
            }
        },
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_ids_stay_when_nothing_changes_that_a_result_depends_on(changes):
    assert trial_ids(study(**changes)) == trial_ids(study())


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"stop": "exhaustive"},
        {"stop": "at_target"},
        {"target": {"metric": "valid_accuracy", "value": 0.9}},
        {"target": {"metric": "valid_loss", "value": 0.95}},
        {"budget": {"fresh_examples": 12001, "evaluate_every": 256}},
        {"budget": {"fresh_examples": 12000, "evaluate_every": 128}},
        {"conditions": grid(batch_size=[64])},
        {"options": {"autocast": "bf16"}},
        {"options": {"channels_last": True}},
        {"options": {"compile": True}},
    ],
    ids=lambda changes: json.dumps(changes)[1:40],
)
def test_no_id_stays_when_something_changes_that_every_result_depends_on(changes):
    assert set(trial_ids(study(**changes))).isdisjoint(trial_ids(study()))


@pytest.mark.parametrize(
    ("changes", "new_trials"),
    [
        ({"search": {"points": 9, "repeats": 2}}, 3 * 2 * 5),
        ({"search": {"points": 4, "repeats": 5}}, 3 * 3 * 4),
        ({"conditions": grid(echo_factor=[2, 8])}, 2 * 2 * 4),
        ({"conditions": grid(insertion_point=[AFTER, BEFORE, BATCHING])}, 1 * 2 * 4),
        ({"conditions": grid(echo_buffer=[0, 1024])}, 2 * 2 * 4),
        ({"conditions": grid(batch_size=[16, 32])}, 3 * 2 * 4),
    ],
    ids=["points", "repeats", "factor", "insertion point", "buffer", "batch size"],
)
def test_a_study_that_grows_keeps_all_of_its_results(changes, new_trials):
    before, after = set(trial_ids(study())), set(trial_ids(study(**changes)))
    assert before < after
    assert len(after - before) == new_trials


def test_more_points_belong_to_the_same_search():
    few, many = (make_plan(study(search={"points": points, "repeats": 2})) for points in (4, 64))
    assert [one.id for one in few.searches] == [one.id for one in many.searches]


def test_another_metaparameter_space_is_another_search():
    wider = study(metaparameters={"learning_rate": {"low": 0.001, "high": 0.3, "scale": "log"}})
    searches = {search.id for search in make_plan(wider).searches}
    assert searches.isdisjoint(search.id for search in make_plan(study()).searches)


def test_ids_keep_their_golden_values():
    plan = make_plan(study())
    assert [search.condition_id for search in plan.searches[::2]] == [
        "657191004f5fa089",
        "49a4f88e6935052f",
        "c471c223b67bbb9d",
    ]
    assert [search.id for search in plan.searches] == [
        "fc4ff1a48d9e1665",
        "0617de0826323853",
        "2897eb9241ed549d",
        "fa31fbe26962a789",
        "74ab447b0914ecfe",
        "afaf4ceb6f68e57f",
    ]
    assert [trial.id for trial in plan.trials[:4]] == [
        "ba205cf8facd54b0",
        "6802099aacfb683f",
        "252b6cbb0db1c7fd",
        "b702d438f2459354",
    ]
    assert stable_id("all", *(trial.id for trial in plan.trials)) == "5ecb8da7442b3581"


def test_a_stable_id_is_its_digest_in_hexadecimal():
    assert stable_id("a", 1, [2.5, None]) == stable_digest("a", 1, [2.5, None]).hex()
    assert len(stable_id()) == 16


def test_trials_run_with_repeats_outermost_then_points_then_conditions():
    plan = make_plan(study())
    order = [(t.search.repeat, t.point, t.search.condition) for t in plan.in_running_order()]
    assert order == [(r, p, c) for r in range(2) for p in range(4) for c in plan.conditions]


def test_labels_say_what_runs():
    plan = make_plan(study(conditions=grid(echo_factor=[2.5])))
    assert plan.trials[0].label == "baseline b=32 repeat 0 point 0"
    assert plan.trials[-1].label == "after_batching e=2.5 b=32 buffer=1024 repeat 1 point 3"


def test_a_study_of_two_thousand_conditions_is_laid_out_in_full():
    factors = [1 + i / 4 for i in range(1, 101)]
    plan = make_plan(
        study(
            conditions=grid([8, 16, 32, 64, 128], factors, [BEFORE, BATCHING], [0, 1024]),
            search={"points": 2, "repeats": 2},
        )
    )
    assert len(plan.conditions) == 5 + 2000
    assert len(plan.trial_by_id) == len(plan.trials) == 2005 * 2 * 2
