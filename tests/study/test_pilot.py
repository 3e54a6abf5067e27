"""The pilot's study, the paper's rule for the target, and writing it into a study file."""

import math
import shutil
from pathlib import Path

import pytest

from study.errors import UserError
from study.pilot import pilot_spec, propose, write_target
from study.plan import make_plan
from study.result import Target
from study.spec import load_spec

DIGITS = Path("study/specs/digits.yaml")
ACCURACY = Target("valid_accuracy", 0.0, higher_is_better=True)
LOSS = Target("valid_loss", 0.0, higher_is_better=False)


def test_a_pilot_is_the_baseline_alone_to_the_end_of_its_budget():
    spec = pilot_spec(load_spec(DIGITS, ["conditions.batch_size=[32, 64]"]))
    plan = make_plan(spec)
    assert [one.label for one in plan.conditions] == ["baseline b=32", "baseline b=64"]
    assert (spec.name, spec.stop, spec.target.value) == ("digits-pilot", "exhaustive", 1.0)
    assert spec.search == load_spec(DIGITS).search
    assert pilot_spec(load_spec(DIGITS, ["target={metric: valid_loss, value: 1}"])).target.value == 0


@pytest.mark.parametrize(
    ("best", "rule", "room", "target", "reached"),
    [
        ([0.98, 0.96, 0.975], ACCURACY, 1.0, 0.97, 2),
        ([0.9777, math.nan], ACCURACY, 1.0, 0.967, 1),
        ([0.2, 0.21, 0.5], LOSS, math.inf, 0.202, 1),
    ],
)
def test_the_target_is_slightly_worse_than_the_best_seen(best, rule, room, target, reached):
    found = propose(best, rule, room)
    assert found.target == pytest.approx(target)
    assert (found.reached, found.searches) == (reached, len(best))


def test_a_pilot_that_only_diverged_proposes_nothing():
    with pytest.raises(UserError, match="Every trial of the pilot diverged"):
        propose([math.nan], ACCURACY, 1.0)


def test_a_target_still_to_be_found_is_for_the_pilot_alone(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(DIGITS.read_text().replace("value: 0.95", "value: pilot"))
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "value: pilot" in text)
    with pytest.raises(UserError, match=f"mine.yaml line {line}: 'target.value' is still to be found"):
        load_spec(path)
    assert pilot_spec(load_spec(path, pilot=True)).target.value == 1.0


@pytest.mark.parametrize("written", ["0.95", "pilot"])
def test_writing_the_target_changes_its_value_and_nothing_else(tmp_path, written):
    path = tmp_path / "mine.yaml"
    before = DIGITS.read_text().replace("value: 0.95", f"value: {written}")
    path.write_text(before)
    line = next(i for i, text in enumerate(before.splitlines(), 1) if text.startswith("target:"))
    write_target(path, line, 0.97)
    assert path.read_text() == before.replace(f"value: {written}", "value: 0.97")
    assert load_spec(path).target.value == 0.97


def test_a_target_that_has_no_place_in_the_file_is_not_written(tmp_path):
    path = shutil.copy(DIGITS, tmp_path / "mine.yaml")
    before = path.read_text()
    with pytest.raises(UserError, match="there is no plain 'value"):
        write_target(path, 1, 0.97)
    with pytest.raises(UserError, match="comes from --set"):
        write_target(path, -1, 0.97)
    assert path.read_text() == before
