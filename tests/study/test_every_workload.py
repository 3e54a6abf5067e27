"""Every workload through the real trial loop, on a tiny sample of its data in their official format.

A family's file in tests/data_formats/ says how to write that sample, `SAMPLES[workload](data root)`, and may
say at which metaparameters it trains, `POINTS[workload]`, for how many updates, `UPDATES[workload]`, and what
takes the place of a model too large for a test, `STAND_INS[workload]`: by its name in the workload's module.
"""

import importlib.util
from pathlib import Path

import pytest
import torch

from study.specmodel import StudySpec
from study.testing import assert_loss_falls, assert_resumes_exactly, short_jobs
from study.workloads.load import load_workload
from study.workloads.registry import WORKLOADS

torch.set_num_threads(1)
POINTS_OF_INSERTION = ["none", "before_augmentation", "after_augmentation", "after_batching"]


def families():
    for file in sorted((Path(__file__).parents[1] / "data_formats").glob("*.py")):
        spec = importlib.util.spec_from_file_location(f"data_formats_{file.stem}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def merged(name):
    return {key: value for family in families() for key, value in getattr(family, name, {}).items()}


SAMPLES = merged("SAMPLES")
POINTS = {"digits_convnet": {"learning_rate": 0.1}} | merged("POINTS")
UPDATES = {"digits_convnet": 128} | merged("UPDATES")
STAND_INS = merged("STAND_INS")


def jobs(name):
    card = WORKLOADS[name]
    metric, room = next(iter(card.metrics.items()))
    point = POINTS.get(name, {"learning_rate": 0.02})
    spec = StudySpec.model_validate(
        {
            "name": "tiny",
            "workload": name,
            "conditions": {
                "batch_size": [4],
                "echo_factor": [2],
                "insertion_point": POINTS_OF_INSERTION[1:],
                "echo_buffer": [8],
            },
            "metaparameters": {one: {"low": value, "high": value * 2} for one, value in point.items()},
            "search": {"points": 1, "repeats": 1},
            "target": {"metric": metric, "value": room.high if room.higher_is_better else room.low},
            "budget": {"fresh_examples": 100, "evaluate_every": 100},
        }
    )
    return list(short_jobs(spec, updates=UPDATES.get(name, 8), metaparameters=point))


@pytest.fixture(scope="module")
def workload_of(tmp_path_factory):
    """Load a workload on its sample, once."""
    loaded = {}

    def load(name):
        if name not in loaded:
            root = tmp_path_factory.mktemp(name)
            with pytest.MonkeyPatch.context() as patched:
                patched.setenv("ECHOSTUDY_DATA", str(root))
                if name in SAMPLES:
                    SAMPLES[name](root)
                loaded[name] = load_workload(name)
        return loaded[name]

    return load


def by_size():
    """The paper's own models take a minute each; they are the ones whose targets are the paper's."""
    for name, card in WORKLOADS.items():
        yield pytest.param(name, marks=[pytest.mark.slow] if card.target_note else [])


@pytest.mark.parametrize("name", list(by_size()))
def test_its_loss_falls_and_it_resumes_bit_for_bit_at_every_insertion_point(name, workload_of, monkeypatch):
    for place, stand_in in STAND_INS.get(name, {}).items():
        monkeypatch.setattr(place, stand_in)
    workload, card = workload_of(name), WORKLOADS[name]
    curves = {}
    for job in jobs(name):
        run = assert_resumes_exactly(workload, job)
        assert_loss_falls(run)
        assert set(card.metrics) <= set(run.done[-1].values)
        for metric, room in card.metrics.items():
            assert all(room.low <= one.values[metric] <= room.high for one in run.done)
        curves[job.insertion_point] = run.done
    assert list(curves) == POINTS_OF_INSERTION
    assert (workload.augment is not None) == card.augments
    coincide = curves["before_augmentation"] == curves["after_augmentation"]
    assert coincide == (not card.augments)
