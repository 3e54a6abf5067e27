"""What a running sweep shows, on a terminal and in a pipe."""

import io
import re

import pytest
from rich.console import Console

from echostudy.live import LiveDisplay
from study.plan import make_plan
from study.record import TrialRecord
from study.result import Evaluation, Outcome
from study.spec import load_spec
from study.status import study_status


@pytest.fixture(scope="module")
def plan():
    return make_plan(load_spec("study/specs/digits.yaml", ["search.points=2", "search.repeats=1"]))


def shown(plan, *, terminal: bool, outcomes: list[Outcome], running: int = 0) -> str:
    """The text left on the screen after trials ended so, with some more still running."""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=100, color_system=None)
    trials = iter(plan.in_running_order())
    with LiveDisplay(console, plan, study_status(plan, {})) as display:
        for outcome in outcomes:
            trial = next(trials)
            display.started(trial)
            accuracy = 0.99 if outcome is Outcome.REACHED else 0.1
            curve = [Evaluation(512.0, 16, {"valid_accuracy": accuracy})]
            display.ended(TrialRecord(trial, plan.spec.rule, curve, outcome))
        for _ in range(running):
            display.started(next(trials))
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())


def last_rows(text: str) -> dict[str, list[str]]:
    """The numbers behind each condition's label, as drawn last."""
    found = {}
    for line in text.splitlines():
        if "b=32" in line:
            label, *numbers = re.split(r"\s{2,}", line.strip())
            found[label.split()[0]] = numbers
    return found


def test_a_terminal_shows_done_running_left_and_the_best_so_far_by_condition(plan):
    text = shown(plan, terminal=True, outcomes=[Outcome.REACHED, Outcome.MISSED], running=1)
    rows = last_rows(text)
    assert "2/8" in text
    assert rows["baseline"] == ["1", "0", "1", "1", "·", "512"]
    assert rows["before_augmentation"] == ["1", "0", "1", "·", "1", "·"]
    assert rows["after_augmentation"] == ["0", "1", "1", "·", "·", "·"]
    assert re.search(r"about \d+ min \d\d s left", text)


def test_a_crashed_trial_stays_among_those_left(plan):
    rows = last_rows(shown(plan, terminal=True, outcomes=[Outcome.CRASHED]))
    assert rows["baseline"] == ["0", "0", "2", "1", "·"]


def test_a_pipe_gets_lines_without_control_characters(plan):
    text = shown(plan, terminal=False, outcomes=[Outcome.REACHED, Outcome.BEATEN])
    assert text.startswith("Starting 8 trials ...\n1 of 8 trials done after 1 turns, time left unknown yet")
    assert "\r" not in text
