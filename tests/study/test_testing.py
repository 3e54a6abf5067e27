"""The checks for a workload's test fail where they should."""

import math

import numpy as np
import pytest
import torch

from study.spec import load_spec
from study.testing import assert_loss_falls, assert_resumes_exactly, finished, short_jobs
from study.workloads.digits import DigitsConvnet

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def jobs():
    spec = load_spec("study/specs/digits.yaml")
    point = {"learning_rate": 0.1}
    return {job.insertion_point: job for job in short_jobs(spec, updates=24, metaparameters=point)}


class Forgetful(DigitsConvnet):
    """Has a state of its own that no checkpoint knows."""

    def __init__(self):
        super().__init__()
        self.noise = np.random.default_rng(0)

    def loss(self, model, inputs, targets):
        return super().loss(model, inputs, targets) * self.noise.uniform(0.5, 1.5)


def test_there_is_one_short_job_a_condition_which_no_target_ends(jobs):
    assert list(jobs) == ["none", "before_augmentation", "after_augmentation", "after_batching"]
    for job in jobs.values():
        assert job.target.value == math.inf
        assert list(job.evaluation_updates()) == [12 * job.echo_factor, 24 * job.echo_factor]


def test_a_sound_workload_passes(jobs):
    assert_loss_falls(finished(DigitsConvnet(), jobs["after_batching"]))
    assert_resumes_exactly(DigitsConvnet(), jobs["after_batching"])


def test_a_hidden_state_is_found(jobs):
    with pytest.raises(AssertionError, match=r"The trial resumed after evaluation 1 has another curve"):
        assert_resumes_exactly(Forgetful(), jobs["none"])


def test_a_loss_that_rises_is_found(jobs):
    run = finished(DigitsConvnet(), jobs["none"])
    run.done.reverse()
    with pytest.raises(AssertionError, match=r"has a training loss that does not fall"):
        assert_loss_falls(run)
