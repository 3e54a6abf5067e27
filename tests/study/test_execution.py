"""How a trial computes: options of the loop, sources beside pairs, schedules, label smoothing."""

import math
from dataclasses import replace

import pytest
import torch
from torch import nn

from pipelines import MemorySource
from study.execution import Execution, OnDevice
from study.job import TrialJob
from study.plan import make_plan
from study.result import Outcome
from study.spec import load_spec
from study.testing import assert_loss_falls, assert_resumes_exactly, finished
from study.workloads.digits import DigitsConvnet
from study.workloads.options import WorkloadOptions

torch.set_num_threads(1)
POINT = {"learning_rate": 0.035, "momentum": 0.954}
INSERTION_POINTS = ["none", "before_augmentation", "after_augmentation", "after_batching"]


class FromASource(DigitsConvnet):
    """The digits, read through the streaming engine."""

    def train_data(self):
        return MemorySource(*super().train_data())


class Unaugmented(DigitsConvnet):
    augment = None


class Warmed(DigitsConvnet):
    """Trains its second half at a rate of 0."""

    def schedule(self, metaparameters):
        return lambda update: float(update < 16)


@pytest.fixture(scope="module")
def jobs() -> dict[str, TrialJob]:
    """Four evaluations of 8 baseline updates each, by insertion point."""
    settings = ["budget.fresh_examples=1024", "budget.evaluate_every=256", "stop=exhaustive"]
    spec = load_spec("study/specs/digits.yaml", settings)
    return {
        trial.search.condition.insertion_point: replace(TrialJob.of(trial, spec), metaparameters=POINT)
        for trial in make_plan(spec).trials
        if trial.point == 0 and trial.search.repeat == 0
    }


def curve(run, name="valid_loss"):
    return [one.values[name] for one in run.done]


def weights(run):
    return list(run.state_dict()["model"].values())


@pytest.mark.parametrize("insertion_point", INSERTION_POINTS)
def test_a_source_trains_as_the_same_data_in_memory_do_bit_for_bit(jobs, insertion_point):
    job = jobs[insertion_point]
    memory, source = finished(DigitsConvnet(), job), finished(FromASource(), job)
    assert curve(source) == curve(memory)
    assert curve(source, "train_loss") == curve(memory, "train_loss")
    assert all(map(torch.equal, weights(source), weights(memory)))


@pytest.mark.parametrize("insertion_point", ["before_augmentation", "after_batching"])
def test_a_trial_on_a_source_resumes_bit_for_bit(jobs, insertion_point):
    assert_resumes_exactly(FromASource(), jobs[insertion_point])


def test_without_augmentation_echoing_before_and_after_it_gives_identical_results(jobs):
    before, after = (
        finished(Unaugmented(), jobs[point]) for point in ("before_augmentation", "after_augmentation")
    )
    assert before.done == after.done
    assert all(map(torch.equal, weights(before), weights(after)))
    assert curve(before) != curve(finished(Unaugmented(), jobs["after_batching"]))


def test_the_schedule_multiplies_the_optimizers_rate_before_every_update(jobs):
    run = finished(Warmed(), jobs["none"])
    plain = finished(DigitsConvnet(), jobs["none"])
    assert curve(run)[:2] == curve(plain)[:2]
    assert curve(run)[2] == curve(run)[3] == curve(run)[1]


def test_linear_decay_to_its_own_start_is_a_constant_rate(jobs):
    decayed = replace(jobs["none"], metaparameters=POINT | {"decay_updates": 8.0, "end_factor": 1.0})
    assert finished(DigitsConvnet(), decayed).done == finished(DigitsConvnet(), jobs["none"]).done


def test_a_trial_in_the_middle_of_its_decay_resumes_bit_for_bit(jobs):
    job = replace(jobs["none"], metaparameters=POINT | {"decay_updates": 24.0, "end_factor": 0.01})
    run = assert_resumes_exactly(DigitsConvnet(), job)
    assert curve(run) != curve(finished(DigitsConvnet(), jobs["none"]))
    (group,) = run.state_dict()["optimizer"]["param_groups"]
    assert group["lr"] == pytest.approx(0.035 * 0.01)


def test_label_smoothing_is_pytorchs_and_shapes_training_alone():
    workload = DigitsConvnet()
    images, labels = workload.train_data()
    torch.manual_seed(0)
    model = workload.model()
    smoothed = workload.loss_at({"label_smoothing": 0.1})(model, images[:64], labels[:64])
    log_p = model(images[:64]).log_softmax(1)
    by_hand = -(0.9 * log_p.gather(1, labels[:64, None])[:, 0] + 0.1 * log_p.mean(1)).mean()
    torch.testing.assert_close(smoothed, by_hand)
    assert workload.loss_at({})(model, images[:64], labels[:64]) < smoothed


@pytest.mark.parametrize(
    "options", [WorkloadOptions(autocast="bf16"), WorkloadOptions(channels_last=True)], ids=str
)
def test_a_trial_with_options_learns_keeps_float_weights_and_resumes_bit_for_bit(jobs, options):
    job = replace(jobs["before_augmentation"], options=options)
    run = assert_resumes_exactly(DigitsConvnet(options), job)
    assert_loss_falls(run)
    assert {one.dtype for one in weights(run)} == {torch.float32}
    plain = finished(DigitsConvnet(), jobs["before_augmentation"])
    assert curve(run)[-1] == pytest.approx(curve(plain)[-1], rel=0.2)
    assert (curve(run) == curve(plain)) == (options.autocast == "none")  # this model is channels-last anyway


def test_forward_passes_run_in_bfloat16_under_autocast_alone():
    model, x = nn.Linear(2, 2), torch.ones(1, 2)
    for autocast, expected in (("bf16", torch.bfloat16), ("none", torch.float32)):
        with Execution(torch.device("cpu"), WorkloadOptions(autocast=autocast)).forward():
            assert model(x).dtype is expected


def test_channels_last_holds_for_weights_and_for_images_and_leaves_other_inputs_alone():
    execution = Execution(torch.device("cpu"), WorkloadOptions(channels_last=True))
    model = execution.model(nn.Conv2d(3, 4, 3))
    assert model.weight.is_contiguous(memory_format=torch.channels_last)
    images, _ = execution.batch(torch.rand(2, 3, 5, 5), torch.zeros(2))
    assert images.is_contiguous(memory_format=torch.channels_last)
    tokens = torch.zeros(2, 7, dtype=torch.int64)
    assert execution.batch(tokens, tokens)[0] is tokens


@pytest.mark.slow
def test_a_compiled_model_keeps_the_names_of_its_state_and_trains_alike(jobs):
    options = WorkloadOptions(compile=True)
    compiled = finished(DigitsConvnet(options), replace(jobs["none"], options=options))
    plain = finished(DigitsConvnet(), jobs["none"])
    assert compiled.state_dict()["model"].keys() == plain.state_dict()["model"].keys()
    assert compiled.outcome is Outcome.MISSED
    assert all(math.isclose(a, b, rel_tol=0.05) for a, b in zip(curve(compiled), curve(plain), strict=True))


def test_an_augmentation_on_a_device_is_known_by_the_name_of_the_augmentation(jobs):
    workload = DigitsConvnet()
    moved = OnDevice(torch.device("cpu"), workload.augment)
    assert repr(moved) == repr(workload.augment)
    execution = Execution(torch.device("meta"), WorkloadOptions())
    source, pair = MemorySource(*workload.train_data()), workload.train_data()
    assert execution.augmentation(workload.augment, pair) is workload.augment
    assert execution.augmentation(workload.augment, source) == OnDevice(
        torch.device("meta"), workload.augment
    )
    assert execution.augmentation(None, source) is None


def test_nothing_reads_ahead_once_a_trial_has_ended_or_is_dropped(jobs):
    import threading

    def readers():
        return [thread for thread in threading.enumerate() if thread.name == "echostudy-prefetch"]

    run = finished(FromASource(), jobs["none"])
    assert run.outcome is Outcome.MISSED
    assert readers() == []
    from study.trial import TrialRun

    evaluations = TrialRun(jobs["none"], FromASource()).evaluations()
    next(evaluations)
    assert len(readers()) == 2, "one reads, the other makes batches"
    evaluations.close()
    assert readers() == []
