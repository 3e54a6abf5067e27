"""A trial that is laid aside at the end of a rung and goes on in another slot, on real digits."""

import pytest
import torch

from study.job import TrialJob
from study.plan import make_plan
from study.result import Outcome
from study.slot import Slot
from study.spec import load_spec
from study.storage import Storage, checkpoint_name


@pytest.fixture
def job() -> TrialJob:
    settings = ["budget.fresh_examples=1280", "budget.evaluate_every=256", "target.value=1.0"]
    spec = load_spec("study/specs/digits.yaml", settings)
    trial = next(one for one in make_plan(spec).trials if not one.search.condition.is_baseline)
    return TrialJob.of(trial, spec)


def turn(slot, job, until):
    """Run until the slot gives the trial back; the last report and the whole curve."""
    slot.begin(job, None, until)
    curve = {}
    while True:
        report = slot.step()
        curve |= {report.first + i: one for i, one in enumerate(report.evaluations)}
        if report.outcome is not None or report.paused:
            return report, [curve[i] for i in range(len(curve))]


def test_a_trial_laid_aside_in_every_rung_ends_as_one_that_ran_through(job, tmp_path):
    through, expected = turn(Slot(Storage(str(tmp_path), "a"), threads=1, gpu=False), job, None)
    storage = Storage(str(tmp_path), "b")
    slots = [Slot(storage, threads=1, gpu=False, least_turn_s=0) for _ in range(2)]
    first, curve = turn(slots[0], job, 2)
    assert first.paused
    assert first.outcome is None
    assert first.earliest is not None
    assert curve == expected[:2]
    assert storage.read(checkpoint_name(job.trial_id)) is not None
    torch.manual_seed(12345)
    again, _ = turn(slots[1], job, 2)
    assert again.paused, "a trial that is beyond the rung's end already is laid aside at once"
    second, curve = turn(slots[1], job, 4)
    assert second.paused
    assert curve == expected[:4]
    last, curve = turn(slots[0], job, 8)
    assert (last.outcome, through.outcome) == (Outcome.MISSED, Outcome.MISSED)
    assert curve == expected
    assert not last.paused


def test_a_trial_whose_state_cannot_be_kept_goes_on_to_its_end(job, tmp_path):
    (tmp_path / "file").touch()
    storage = Storage(str(tmp_path / "file"), "never a folder")
    last, curve = turn(Slot(storage, threads=1, gpu=False, least_turn_s=0), job, 2)
    assert last.outcome is Outcome.MISSED
    assert len(curve) == 5


def test_a_trial_of_a_second_is_not_laid_aside(job, tmp_path):
    last, curve = turn(Slot(Storage(str(tmp_path), ""), threads=1, gpu=False, least_turn_s=60), job, 2)
    assert last.outcome is Outcome.MISSED
    assert len(curve) == 5
