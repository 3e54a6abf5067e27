import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from study.ranges import Choice, Range
from study.result import Target
from study.specmodel import RESERVED_NAMES, StudySpec
from study.workloads.options import WorkloadOptions
from study.workloads.registry import WORKLOADS

DIGITS = {
    "name": "digits",
    "workload": "digits_convnet",
    "conditions": {
        "batch_size": [32],
        "echo_factor": [2],
        "insertion_point": ["before_augmentation", "after_batching"],
        "echo_buffer": [1024],
    },
    "metaparameters": {
        "learning_rate": {"low": 0.003, "high": 0.3, "scale": "log"},
        "momentum": {"low": 0.7, "high": 0.99, "scale": "reverse_log"},
    },
    "search": {"points": 16, "repeats": 3},
    "target": {"metric": "valid_accuracy", "value": 0.95},
    "budget": {"fresh_examples": 12000, "evaluate_every": 256},
}


def digits(**changes):
    """The study above with `group__key=value` changes."""
    data = copy.deepcopy(DIGITS)
    for path, value in changes.items():
        *groups, key = path.split("__")
        group = data
        for name in groups:
            group = group.setdefault(name, {})
        group[key] = value
    return StudySpec.model_validate(data)


def test_what_may_be_left_out_has_its_value():
    spec = digits()
    assert (spec.search.sampler, spec.stop, spec.seed) == ("sobol", "racing", 0)
    assert (spec.resources.cpu, spec.resources.gpu) == (1, 0)
    assert (
        digits(metaparameters__momentum={"low": 0.5, "high": 0.9}).metaparameters["momentum"].scale
        == "linear"
    )


@pytest.mark.parametrize("written", [12000, 12000.0])
def test_a_whole_number_is_an_int_however_it_is_written(written):
    budget = digits(budget__fresh_examples=written).budget.identity()
    assert json.dumps(budget) == '{"fresh_examples": 12000, "evaluate_every": 256}'


def test_factors_ranges_and_targets_are_floats_however_they_are_written():
    spec = digits(
        conditions__echo_factor=[2], target__value=1, metaparameters__learning_rate={"low": 1, "high": 2}
    )
    learning_rate = spec.metaparameters["learning_rate"].identity()
    assert json.dumps([spec.conditions.echo_factor, spec.target.value, learning_rate]) == (
        '[[2.0], 1.0, {"scale": "linear", "low": 1.0, "high": 2.0}]'
    )


def test_everything_a_study_says_can_be_written_as_json_and_read_again():
    spec = digits()
    assert StudySpec.model_validate(json.loads(json.dumps(spec.model_dump()))) == spec


def test_a_study_cannot_be_changed_after_it_was_checked():
    spec = digits()
    with pytest.raises(ValidationError, match="frozen"):
        spec.seed = 1
    with pytest.raises(ValidationError, match="frozen"):
        spec.budget.fresh_examples = 1


def test_the_space_is_in_the_order_of_the_names():
    backwards = dict(reversed(DIGITS["metaparameters"].items()))
    baseline = digits().conditions_in_order()[0]
    assert list(digits(metaparameters=backwards).space(baseline)) == ["learning_rate", "momentum"]
    assert digits(metaparameters=backwards).space(baseline) == digits().space(baseline)


def test_the_rule_knows_from_the_card_which_direction_is_better():
    assert digits().rule == Target("valid_accuracy", 0.95, higher_is_better=True)
    assert digits(target={"metric": "valid_loss", "value": 0.2}).rule == Target("valid_loss", 0.2, False)


@pytest.mark.parametrize("name", ["a", "Digits-2.1_b", "0", "x" * 100, "-", "_.", "a..b"])
def test_names_that_are_safe_everywhere_are_taken(name):
    assert digits(name=name).name == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "a b", "ä", "a\n", "x" * 101, ".a", "a:b", "*"]
)
def test_names_that_are_not_safe_as_folders_are_refused(name):
    with pytest.raises(ValidationError):
        digits(name=name)


@pytest.mark.parametrize("amount", [0.01, 0.5, 1, 2, 64.0])
def test_processors_come_whole_or_as_a_share_of_one(amount):
    assert digits(resources__cpu=amount, resources__gpu=amount).resources.gpu == amount


@pytest.mark.parametrize("name", sorted(RESERVED_NAMES))
def test_a_metaparameter_cannot_take_the_name_of_a_trials_other_parameters(name):
    with pytest.raises(ValidationError, match="has a name that the study itself uses"):
        digits(**{f"metaparameters__{name}": {"low": 1, "high": 2}})


def test_no_workloads_card_takes_a_reserved_name():
    for card in WORKLOADS.values():
        assert not RESERVED_NAMES & set(card.metaparameters)
        assert set(card.required_metaparameters) <= set(card.metaparameters)
        assert card.train_examples is None or card.train_examples > 0
        assert set(card.options) <= set(WorkloadOptions.model_fields)
        assert card.metrics


def test_the_largest_batch_is_all_of_the_training_data():
    size = WORKLOADS["digits_convnet"].train_examples
    assert digits(conditions__batch_size=[size]).conditions.batch_size == (size,)
    with pytest.raises(ValidationError, match="must be at most the 1400 training examples"):
        digits(conditions__batch_size=[size + 1])


def test_a_budget_may_be_a_single_batch_with_a_single_evaluation():
    assert digits(budget={"fresh_examples": 32, "evaluate_every": 32}).budget.evaluate_every == 32


def test_the_number_of_trials_is_bounded_with_the_baselines_counted():
    # 3 conditions with the baseline, 65,536 points: 10 repeats are 1,966,080 trials, 11 too many.
    assert digits(search={"points": 65536, "repeats": 10}).search.repeats == 10
    with pytest.raises(ValidationError, match="makes 2,162,688 trials"):
        digits(search={"points": 65536, "repeats": 11})


@given(st.lists(st.floats(1, 1e6) | st.integers(1, 10**6), min_size=1, max_size=5))
def test_a_list_of_factors_is_taken_exactly_when_all_are_different(factors):
    if len({float(factor) for factor in factors}) == len(factors):
        assert digits(conditions__echo_factor=factors).conditions.echo_factor == tuple(factors)
    else:
        with pytest.raises(ValidationError, match="twice; leave one out"):
            digits(conditions__echo_factor=factors)


def test_a_condition_with_an_override_has_its_own_space():
    spec = digits(
        overrides=[
            {
                "where": {"insertion_point": "after_batching"},
                "metaparameters": {"momentum": {"values": [0.5]}},
            },
            {"where": {"echo_factor": 2}, "metaparameters": {"learning_rate": {"low": 1, "high": 2}}},
        ]
    )
    baseline, before, batching = spec.conditions_in_order()
    assert spec.space(baseline) == dict(spec.metaparameters)
    assert spec.space(before)["momentum"] == spec.metaparameters["momentum"]
    assert spec.space(before)["learning_rate"] == Range(low=1, high=2)
    assert spec.space(batching)["momentum"] == Choice(values=[0.5])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"overrides": [{"where": {"batch_size": 64}, "metaparameters": {}}]},
            "selects no condition of the study",
        ),
        (
            {
                "overrides": [
                    {"where": {}, "metaparameters": {"weight_decay": {"low": 0, "high": 1}}},
                ]
            },
            "is not searched elsewhere",
        ),
        ({"conditions__exclude": [{"echo_buffer": 7}]}, "leaves out nothing"),
        ({"limits": {"trials": 143}}, "must be at least the 144 trials of the plan, not 143"),
        (
            {"metaparameters": {"learning_rate": {"values": [0.1, 0.2]}}},
            "must be at most the 2 different points of these metaparameters, not 16",
        ),
        ({"budget": {"updates": 10, "evaluate_every": 11}}, "must be at most updates"),
        ({"budget": {"passes": 0.01, "evaluate_every": 0.01}}, "must be at least one batch"),
    ],
)
def test_what_several_keys_together_make_impossible_is_refused(changes, words):
    with pytest.raises(ValidationError, match=words):
        digits(**changes)


def groups_within(annotation):
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield from groups_of(annotation)
    for inner in getattr(annotation, "__args__", ()):
        yield from groups_within(inner)
    if hasattr(annotation, "__origin__") and not isinstance(annotation.__origin__, type):
        yield from groups_within(annotation.__origin__)


def groups_of(model):
    yield model
    for field in model.model_fields.values():
        yield from groups_within(field.annotation)


def test_every_key_has_an_example_for_the_sentences_about_it():
    groups = set(groups_of(StudySpec))
    assert {g.__name__ for g in groups} >= {"Conditions", "Selector", "SingleCondition", "Range", "Choice"}
    missing = [(g.__name__, k) for g in groups for k, field in g.model_fields.items() if not field.examples]
    assert missing == []
