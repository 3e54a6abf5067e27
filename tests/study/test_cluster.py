"""How many trials a Ray can run, asked without starting one."""

from concurrent.futures import Future
from pathlib import Path

import pytest
import ray

from study.cluster import LocalRay
from study.errors import SettingError, UserError
from study.spec import Resources, located


@pytest.fixture
def started(monkeypatch):
    """A Ray of four CPUs and one GPU."""
    monkeypatch.setattr(ray, "cluster_resources", lambda: {"CPU": 4.0, "GPU": 1.0})
    done: Future[Path] = Future()
    done.set_result(Path())
    return LocalRay(done)


@pytest.mark.parametrize(
    ("cpu", "gpu", "slots"), [(1, 0, 4), (2, 0, 2), (3, 0, 1), (0.5, 0, 8), (1, 0.5, 2), (1, 1, 1)]
)
def test_slots_are_what_the_scarcest_resource_allows(started, cpu, gpu, slots):
    assert started.slots(Resources(cpu=cpu, gpu=gpu)) == slots


@pytest.mark.parametrize(("wanted", "key"), [({"cpu": 5}, "cpu"), ({"gpu": 2}, "gpu")])
def test_a_trial_that_can_never_run_names_the_setting(started, wanted, key):
    with pytest.raises(SettingError, match=rf"'resources\.{key}' is \d, but Ray has") as error:
        started.slots(Resources(**wanted))
    spec = "study/specs/digits.yaml"
    line = next(i for i, text in enumerate(Path(spec).read_text().splitlines(), 1) if "resources:" in text)
    with pytest.raises(UserError, match=rf"digits.yaml line {line}: 'resources\.{key}'"), located(spec):
        raise error.value
