from pathlib import Path

import pytest
import yaml

from study.errors import UserError
from study.spec import load_spec

GOLDEN = yaml.safe_load((Path(__file__).parent / "faults.yaml").read_text())
STUDY, FAULTS = GOLDEN["study"], GOLDEN["faults"]


@pytest.fixture
def complaint(tmp_path, monkeypatch):
    """The sentence about a study file with the given text, loaded under a short name."""
    monkeypatch.chdir(tmp_path)

    def of(text, *overrides):
        Path("study.yaml").write_text(text)
        with pytest.raises(UserError) as caught:
            load_spec("study.yaml", overrides)
        return str(caught.value)

    return of


@pytest.mark.parametrize(
    ("sound", "faulty", "line", "sentence"), FAULTS, ids=[f"{fault[1]:.40}" for fault in FAULTS]
)
def test_a_fault_is_one_sentence_with_file_line_key_and_remedy(complaint, sound, faulty, line, sentence):
    assert STUDY.count(sound) == 1
    assert complaint(STUDY.replace(sound, faulty)) == f"study.yaml line {line}: {sentence}"


@pytest.mark.parametrize(
    ("override", "sentence"),
    [
        ("target.valu=3", "unknown key 'target.valu'; did you mean 'value'?"),
        ("traget.value=3", "unknown key 'traget'; did you mean 'target'?"),
        (
            "target.value=high",
            "'target.value' must be a number, not 'high'; write for example value: 0.95",
        ),
        ("target={metric: valid_loss}", "'target.value' is missing; write for example value: 0.95"),
        (
            "metaparameters.weight_decay.low=1e-5",
            "'metaparameters.weight_decay.high' is missing; write for example high: 0.3",
        ),
        (
            "conditions.batch_size=[4, 5000]",
            (
                "'conditions.batch_size' must be at most the 1400 training examples of digits_convnet, "
                "not 5000; lower it"
            ),
        ),
    ],
)
def test_a_fault_of_an_override_names_the_override_in_place_of_a_line(complaint, override, sentence):
    assert complaint(STUDY, override) == f"study.yaml --set {override}: {sentence}"


def test_of_several_problems_the_first_by_line_is_told_and_the_others_are_counted(complaint):
    text = STUDY.replace("value: 0.95", "value: high").replace("[2, 4.5]", "[0.5, x]")
    assert complaint(text) == (
        "study.yaml line 5: each value of 'conditions.echo_factor' must be at least 1, not 0.5; "
        "write for example echo_factor: [2] (and 2 more problems)"
    )
    assert complaint(text.replace("[0.5, x]", "[2, x]")).endswith("echo_factor: [2] (and 1 more problem)")


def test_overrides_are_told_first_and_in_their_order(complaint):
    text = STUDY.replace("value: 0.95", "value: high")
    assert complaint(text, "stop=x", "seed=-1").startswith("study.yaml --set stop=x: 'stop' cannot be 'x'")
    assert complaint(text, "seed=-1", "stop=x").startswith("study.yaml --set seed=-1: 'seed' must be")


def test_a_mistyped_key_is_not_missing_as_well(complaint):
    assert "more problem" not in complaint(STUDY.replace("batch_size", "batch_sise"))
    assert complaint(STUDY.replace("batch_size", "size_of_batches")).endswith("(and 1 more problem)")


def test_a_rule_over_several_groups_waits_until_they_are_sound(complaint):
    text = STUDY.replace("[32, 64]", "[2000]").replace("metric: valid_accuracy", "metric: x")
    assert complaint(text) == (
        "study.yaml line 4: 'conditions.batch_size' must be at most the 1400 training examples of "
        "digits_convnet, not 2000; lower it (and 1 more problem)"
    )
    assert complaint(text.replace("digits_convnet", "digits_convnt")) == (
        "study.yaml line 2: 'workload' cannot be 'digits_convnt'; did you mean 'digits_convnet'?"
    )


EXAMPLE = "[{where: {batch_size: 32}, metaparameters: {momentum: {low: 0.5, high: 0.9}}}]"


@pytest.mark.parametrize(
    ("setting", "value", "sentence"),
    [
        (
            "conditions.also",
            "[{batch_size: 32, echo_factor: 2, insertion_point: after_batching}]",
            "'conditions.also.echo_buffer' is missing; write for example echo_buffer: 1024",
        ),
        (
            "conditions.also",
            "[{batch_sise: 3, echo_factor: 2, insertion_point: after_batching, echo_buffer: 0}]",
            "unknown key 'conditions.also.batch_sise'; did you mean 'batch_size'?",
        ),
        (
            "conditions.exclude",
            "[{echo_factor: 3}]",
            "'conditions.exclude' leaves out nothing, since no condition is like that; correct it",
        ),
        (
            "metaparameters.weight_decay",
            "{values: [0, 0]}",
            "'metaparameters.weight_decay.values' has 0.0 twice; leave one out",
        ),
        (
            "metaparameters.weight_decay",
            "{values: 3}",
            (
                "'metaparameters.weight_decay.values' must be a list, not 3; write for example values: "
                "[0, 0.01, 0.1]"
            ),
        ),
        (
            "metaparameters.weight_decay",
            "{low: 0, high: 1, integer: 1}",
            (
                "'metaparameters.weight_decay.integer' must be true or false, not 1; write for example "
                "integer: true"
            ),
        ),
        (
            "metaparameters.weight_decay",
            "{values: [1], low: 2}",
            "unknown key 'metaparameters.weight_decay.low'; valid: values.",
        ),
        (
            "overrides",
            "[{where: {echo_factor: 2}, metaparameters: {momentum: {low: 0.5}}}]",
            "'overrides.metaparameters.momentum.high' is missing; write for example high: 0.3",
        ),
        (
            "overrides",
            "[{where: {insertion_point: batching}, metaparameters: {momentum: {values: [0.5, 0.6]}}}]",
            "'overrides.where.insertion_point' cannot be 'batching'; did you mean 'after_batching'?",
        ),
        (
            "overrides",
            "[{where: {}, metaparameters: {momentun: {low: 0.5, high: 0.6}}}]",
            "'overrides.metaparameters.momentun' is not searched elsewhere; did you mean 'momentum'?",
        ),
        ("overrides", "3", f"'overrides' must be a list, not 3; write for example overrides: {EXAMPLE}"),
        (
            "overrides",
            "[3]",
            "each value of 'overrides' must be a group of keys, not 3; write for example overrides: "
            + EXAMPLE,
        ),
        ("limits.hours", "0", "'limits.hours' must be more than 0, not 0; write for example hours: 12"),
        (
            "budget.updates",
            "100",
            (
                "'budget.evaluate_every' stands beside fresh_examples and updates; give the budget in one of "
                "fresh_examples, consumed_examples, updates, passes"
            ),
        ),
    ],
)
def test_faults_in_lists_of_groups_and_in_choices_are_named_in_full(complaint, setting, value, sentence):
    said = complaint(STUDY, f"{setting}={value}")
    assert said.partition(" (and ")[0].endswith(f": {sentence}")


def test_lines_are_counted_through_comments_and_blank_lines(complaint):
    text = "# question\n\n" + STUDY.replace("value: 0.95", "value: high  # of all")
    assert complaint(text).startswith("study.yaml line 24: 'target.value' must be a number, not 'high'")
