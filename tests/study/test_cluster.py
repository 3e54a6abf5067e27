"""How many trials a Ray can run, and what is said where none starts; asked without starting one."""

from concurrent.futures import Future
from pathlib import Path

import pytest
import ray

from study.cluster import Ray, local_ray
from study.errors import SettingError, UserError
from study.spec import Resources, located


def node(number: int, **resources: float) -> dict[str, object]:
    return {
        "Alive": True,
        "NodeManagerAddress": "127.0.0.1",
        "NodeID": f"{number:06}abc",
        "Resources": resources,
    }


@pytest.fixture
def started(monkeypatch):
    """A Ray of four CPUs and one GPU."""
    monkeypatch.setattr(ray, "nodes", lambda: [node(0, CPU=4.0, GPU=1.0)])
    done: Future[Path] = Future()
    done.set_result(Path())
    return Ray(done)


@pytest.mark.parametrize(
    ("cpu", "gpu", "slots"), [(1, 0, 4), (2, 0, 2), (3, 0, 1), (0.5, 0, 8), (1, 0.5, 2), (1, 1, 1)]
)
def test_slots_are_what_the_scarcest_resource_allows(started, cpu, gpu, slots):
    assert started.slots(Resources(cpu=cpu, gpu=gpu)) == slots


@pytest.mark.parametrize(
    ("cpu", "gpu", "slots"), [(1, 0, 5), (2, 0, 1), (3, 0, 1), (1, 1, 1), (0.5, 0.6, 2), (0.1, 0.25, 8)]
)
def test_a_trial_runs_on_one_living_node_and_a_share_of_a_gpu_is_one_gpus(monkeypatch, cpu, gpu, slots):
    nodes = [node(0, CPU=3.0), node(1, CPU=1.0, GPU=0.0), node(2, CPU=1.0, GPU=2.0)]
    dead = node(3, CPU=64.0, GPU=8.0) | {"Alive": False}
    monkeypatch.setattr(ray, "nodes", lambda: [*nodes, dead])
    assert Ray().slots(Resources(cpu=cpu, gpu=gpu)) == slots


def test_what_no_single_node_has_is_refused_however_much_all_have_together(monkeypatch):
    monkeypatch.setattr(ray, "nodes", lambda: [node(i, CPU=1.0) for i in range(3)])
    with pytest.raises(SettingError, match=r"'resources\.cpu' is 2, but Ray has 1 CPU here"):
        Ray().slots(Resources(cpu=2, gpu=0))
    assert Ray(asked=7).slots(Resources(cpu=2, gpu=0)) == 7


@pytest.mark.parametrize(("wanted", "key"), [({"cpu": 5}, "cpu"), ({"gpu": 2}, "gpu")])
def test_a_trial_that_can_never_run_names_the_setting(started, wanted, key):
    with pytest.raises(SettingError, match=rf"'resources\.{key}' is \d, but Ray has") as error:
        started.slots(Resources(**wanted))
    spec = "study/specs/digits.yaml"
    line = next(i for i, text in enumerate(Path(spec).read_text().splitlines(), 1) if "resources:" in text)
    with pytest.raises(UserError, match=rf"digits.yaml line {line}: 'resources\.{key}'"), located(spec):
        raise error.value


def test_a_ray_that_cannot_start_is_tried_twice_and_then_reported_in_one_sentence(monkeypatch):
    tries = []

    def fail(**settings):
        tries.append(settings)
        raise Exception(
            "The current node timed out during startup.\nA long tale of what might be the matter."
        )

    monkeypatch.setattr(ray, "init", fail)
    with pytest.raises(UserError) as caught, local_ray(1) as started:
        started.slots(Resources(cpu=1, gpu=0))
    assert len(tries) == 2
    assert str(caught.value) == (
        "Ray cannot start on this machine (The current node timed out during startup.); see that memory and "
        "processors are free, and run the same command again."
    )
