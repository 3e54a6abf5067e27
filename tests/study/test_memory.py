"""Memory: what does not fit is refused with what to change, and running out of it is told apart."""

import pytest

from study.errors import SettingError
from study.job import TrialJob
from study.memory import check_gpu_memory, check_memory, is_out_of_memory
from study.plan import make_plan
from study.preflight import check_room, preflight
from study.result import Outcome
from study.slot import Slot
from study.spec import Resources, load_spec
from study.storage import Storage
from study.trial import TrialRun
from study.workloads.load import load_workload


@pytest.fixture
def job() -> TrialJob:
    spec = load_spec("study/specs/digits.yaml", ["budget.fresh_examples=512"])
    return TrialJob.of(make_plan(spec).trials[0], spec)


@pytest.mark.parametrize(
    "said",
    [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.",
        "RuntimeError: [enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory",
        "MemoryError",
        "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
    ],
)
def test_running_out_of_memory_is_known_by_what_is_said(said):
    assert is_out_of_memory(said)
    assert not is_out_of_memory("ValueError: no such thing")


def test_more_processes_than_a_machine_has_memory_for_are_refused():
    check_memory(2e9, 4, 8e9)
    with pytest.raises(
        SettingError, match=r"'resources\.cpu' lets 5 trials .* take 2\.0 GB each of its 8\.0 GB"
    ):
        check_memory(2e9, 5, 8e9)


def test_an_update_that_does_not_fit_into_its_share_of_a_gpu_is_refused():
    check_gpu_memory(6e9, 128, 0.25, 24e9)
    check_gpu_memory(20e9, 128, 2, 24e9)
    with pytest.raises(
        SettingError, match=r"'resources\.gpu' is 0\.25 of a GPU of 24\.0 GB, but .* size 128 takes 7"
    ):
        check_gpu_memory(7e9, 128, 0.25, 24e9)


def test_a_study_of_this_machine_is_measured_and_fits(job, monkeypatch):
    preflight([job])
    check_room(job, Resources(cpu=1, gpu=0), 1)
    with pytest.raises(SettingError, match="at a time on one machine"):
        check_room(job, Resources(cpu=1, gpu=0), 100_000)


def test_a_rehearsal_updates_the_model_once(job):
    run = TrialRun(job, load_workload(job.workload, job.options))
    before = [weights.clone() for weights in run.state_dict()["model"].values()]
    run.rehearse()
    after = run.state_dict()["model"].values()
    assert any((old != new).any() for old, new in zip(before, after, strict=True))
    assert run.done == []


def test_a_trial_that_runs_out_of_memory_says_so_with_advice_and_the_next_one_runs(
    job, tmp_path, monkeypatch
):
    slot = Slot(Storage(str(tmp_path), ""), threads=1, gpu=False)
    with monkeypatch.context() as patch:
        patch.setattr(TrialRun, "_update", lambda *_: (_ for _ in ()).throw(MemoryError()))
        slot.begin(job, None)
        report = slot.step()
    assert report.outcome is Outcome.OUT_OF_MEMORY
    assert not report.outcome.is_result
    assert "lower conditions.batch_size" in report.error
    slot.begin(job, None)
    while (report := slot.step()).outcome is None:
        pass
    assert report.outcome is Outcome.MISSED
