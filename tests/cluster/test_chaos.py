"""Faults at random moments change nothing: `make chaos` does 20 of them, `make test-cluster` five."""

import os
import time

import psutil
import pytest
from servers.chaos import MARK, WORKER, Campaign
from servers.contents import assert_complete
from servers.studies import echostudy, tables
from servers.tmpfs import SmallDisk

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(3600)]

FAULTS = int(os.environ.get("ECHOSTUDY_FAULTS", "5"))
SEED = int(os.environ.get("ECHOSTUDY_CHAOS_SEED", "0"))
SETTINGS = [
    "search.points=8",
    "search.repeats=1",
    "target.value=0.96",
    f"budget.fresh_examples={10_000 if FAULTS < 10 else 40_000}",
]


def leftovers(cluster) -> list[str]:
    """Drivers and what they have started, and workers of trials on the cluster."""
    found = []
    nodes = {process.pid for node in ("head", "one", "two") for process in cluster.processes(node)}
    for process in psutil.process_iter():
        try:
            line = " ".join(process.cmdline())
            if process.environ().get(MARK) == str(os.getpid()) or (process.pid in nodes and WORKER in line):
                found.append(line)
        except psutil.Error:
            continue
    return found


@pytest.mark.skipif(os.getuid() != 0, reason="NOT RUN: to mount a small disk takes root")
def test_a_study_under_fire_ends_as_an_undisturbed_one(cluster, postgres, mlflow_server, tmp_path, capsys):
    undisturbed = echostudy("run", "--results", str(tmp_path / "undisturbed"), settings=SETTINGS)
    assert undisturbed.returncode == 0, undisturbed.stdout + undisturbed.stderr
    with SmallDisk(tmp_path / "disk", megabytes=32) as disk:
        campaign = Campaign(
            SEED, SETTINGS, cluster=cluster, server=mlflow_server, postgres=postgres, disk=disk
        )
        try:
            campaign.run(FAULTS)
        finally:
            campaign.close()
            with capsys.disabled():
                print("\n" + "\n".join(campaign.log))
        assert [path.name for path in disk.folder.iterdir()] == []
    assert campaign.done.total() == FAULTS
    for name, found in campaign.finished.items():
        assert found == tables(tmp_path / "undisturbed"), name
        assert_complete(mlflow_server.uri, [*SETTINGS, f"name={name}"])
        assert campaign.left[name] <= {"figures", "tables", "cache", "report.html", "report.md"}
    deadline = time.monotonic() + 60
    while (left := leftovers(cluster)) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert left == []
