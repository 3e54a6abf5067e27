"""The cluster files are what Ray takes, in the version that is locked, and open nothing to the world."""

from __future__ import annotations

import re
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from ray.autoscaler._private.util import validate_config

ROOT = Path(__file__).parents[2]
LAUNCHER = ("ray-aws.yaml", "ray-on-premise.yaml")


def read(name: str):
    return yaml.safe_load((ROOT / "cluster" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LAUNCHER)
def test_rays_launcher_takes_the_file(name):
    validate_config(read(name) | {"cluster_synced_files": []})


@pytest.mark.parametrize("name", LAUNCHER)
def test_the_dashboard_stays_on_the_loopback_interface_and_every_node_asks_for_the_token(name):
    config = read(name)
    (head,) = [line for line in config["head_start_ray_commands"] if "--head" in line]
    assert "--dashboard-host=127.0.0.1" in head
    starts = [*config["head_start_ray_commands"], *config["worker_start_ray_commands"]]
    assert all("RAY_AUTH_MODE=token" in line for line in starts if "ray start" in line)
    assert "~/.ray/auth_token" in config["file_mounts"]


def test_the_ray_job_runs_a_study_file_of_ours_on_the_ray_that_is_locked():
    spec = read("rayjob.yaml")["spec"]
    cluster = spec["rayClusterSpec"]
    assert cluster["rayVersion"] == version("ray")
    assert cluster["authOptions"] == {"mode": "token"}
    assert spec["runtimeEnvYAML"].strip() == "working_dir: /opt/echostudy"
    (file,) = re.findall(r"run (\S+\.yaml)", spec["entrypoint"])
    assert (ROOT / file).exists()


def test_every_pod_of_the_ray_job_has_the_shared_folder_that_its_results_lie_in():
    spec = read("rayjob.yaml")["spec"]
    cluster = spec["rayClusterSpec"]
    pods = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    (results,) = re.findall(r"--results (\S+)", spec["entrypoint"])
    for pod in (one["template"]["spec"] for one in pods):
        (container,) = pod["containers"]
        (mount,) = container["volumeMounts"]
        assert Path(results).is_relative_to(mount["mountPath"])
        assert [volume["name"] for volume in pod["volumes"]] == [mount["name"]]
