"""The authors' streaming experiment at our scale: Fashion-MNIST over HTTP at R = 6, e from 1 to 8, timed.

1. Training images become tar shards of PNG files.
2. An ordinary study finds the best trial of each e, in fresh examples, from the shards on disk.
3. Each of these trials runs again, alone, with its shards coming from a server whose bandwidth is such that
   a batch takes R times as long as an update; to the update at which it had reached the target.

Prints seconds, the speed-up over e = 1, what it would be if repeats were as good as fresh examples (ideal),
and the efficiency of the overlap (modelled / measured); writes the table and a figure. Takes about a quarter
of an hour on two cores.

    echostudy data fetch fashion_mnist
    python benchmarks/blog_experiment.py FOLDER
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pandas as pd
from fashion_shards import write_shards

from study.folder import ResultsFolder
from study.job import TrialJob
from study.plan import Plan, make_plan
from study.result import Outcome
from study.slot import prepare
from study.spec import load_spec
from study.stored import read_stored
from study.timing import Timing
from study.trial import TrialRun
from study.update_time import update_seconds
from study.winners import winners
from study.workloads.fashion_mnist import FashionMnistConvnet
from study.workloads.load import load_workload

HERE = Path(__file__).parent
SPEC = HERE / "blog_experiment.yaml"


def search(folder: Path, shards: list[Path]) -> Plan:
    """Run what the study has left; its plan."""
    os.environ["ECHOSTUDY_SHARDS"] = " ".join(map(str, shards))
    subprocess.run([sys.executable, "-m", "echostudy", "run", SPEC, "--results", folder], check=True)
    return make_plan(load_spec(SPEC))


def time_winners(plan: Plan, folder: Path, shards: list[Path], examples: int, ratio: float) -> pd.DataFrame:
    """A row a winner, timed behind a server that takes `ratio` times an update's time for a batch.

    `examples`: how many are in the shards.
    """
    stored = read_stored(ResultsFolder.at(folder), plan.spec.name)
    won = winners(plan, stored)
    device = prepare(1, gpu=False)
    # One pace for every e: that of an update with its examples in memory, where no decoding slows it.
    in_memory = make_plan(load_spec(SPEC, ["workload=fashion_mnist_convnet"]))
    first = in_memory.trials[0]
    update_s = update_seconds(in_memory, {first.search.id: first})[first.search.condition.batch_size]
    rows = []
    for trial in sorted(won.values(), key=lambda one: (one.search.repeat, one.search.condition)):
        batch_size = trial.search.condition.batch_size
        example_bytes = sum(path.stat().st_size for path in shards) / examples
        bandwidth = batch_size * example_bytes / (ratio * update_s)
        rank = stored[trial.id].rank
        assert rank is not None
        fresh = int(rank.fresh_examples)
        job = replace(
            TrialJob.of(trial, plan.spec),
            timing=Timing(0),
            stop="at_target",
            budget_fresh_examples=fresh,
            evaluate_every=fresh,
        )
        with served(shards, bandwidth, int(example_bytes * batch_size / 8)) as addresses:
            os.environ["ECHOSTUDY_SHARDS"] = addresses
            run = TrialRun(job, load_workload(job.workload, job.options), device)
            list(run.evaluations())
        assert run.outcome is Outcome.REACHED, "the stream is that of the search"
        end, clocks = run.done[-1], run.clocks
        batch_s = ratio * update_s
        filling = batch_s * (end.values["examples_read"] - fresh) / batch_size
        rows.append(
            {
                "e": trial.search.condition.echo_factor,
                "repeat": trial.search.repeat,
                "fresh_examples": fresh,
                "update_ms": 1000 * update_s,
                "measured_s": clocks.input_wait_s + clocks.update_s,
                "modelled_s": filling + max(batch_s * fresh / batch_size, update_s * end.updates) + update_s,
                "others": clocks.others_s / (clocks.input_wait_s + clocks.update_s),
            }
        )
        print(pd.DataFrame(rows[-1:]).to_string(index=False, header=len(rows) == 1), flush=True)
    return pd.DataFrame(rows)


@contextmanager
def served(shards: list[Path], bandwidth: float, burst: int) -> Iterator[str]:
    """The addresses of the shards on a server of its own process; `bandwidth` in bytes a second."""
    server = subprocess.Popen(
        [
            *(sys.executable, "-u", HERE / "slow_server.py", shards[0].parent),
            *("--bandwidth", str(bandwidth), "--burst", str(burst)),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield " ".join(server.stdout.readline().strip() for _ in shards)
    finally:
        server.terminate()
        server.wait()


def summary(times: pd.DataFrame, ratio: float) -> pd.DataFrame:
    """A row an e, medians over repeats; speed-ups are over e = 1."""
    table = times.groupby("e")[["fresh_examples", "measured_s", "modelled_s"]].median().reset_index()
    table["speed_up"] = table["measured_s"].iloc[0] / table["measured_s"]
    table["modelled_speed_up"] = table["modelled_s"].iloc[0] / table["modelled_s"]
    table["ideal"] = table["e"].clip(upper=ratio)
    table["share_of_ideal"] = table["speed_up"] / table["ideal"]
    efficiency = (times["modelled_s"] / times["measured_s"]).groupby(times["e"]).median()
    table["efficiency"] = table["e"].map(efficiency)
    return table


def draw(table: pd.DataFrame, ratio: float, path: Path) -> None:
    """Speed-up against e: measured, modelled, ideal."""
    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    axis.plot(table["e"], table["ideal"], ls="dashed", color="grey", label="if repeats were as good as fresh")
    axis.plot(table["e"], table["modelled_speed_up"], marker="o", mfc="none", label="modelled")
    axis.plot(table["e"], table["speed_up"], marker="o", label="measured")
    axis.axhline(1, color="grey", ls="dotted", lw=1)
    axis.set(
        xlabel="echo factor e, before augmentation",
        ylabel="times faster than e = 1",
        title=f"Fashion-MNIST over HTTP, R = {ratio:g}",
        ylim=(0, None),
    )
    axis.legend()
    figure.savefig(path, dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="for shards, results, table and figure")
    parser.add_argument("--R", type=float, default=6.0)
    parser.add_argument("--search-only", action="store_true", help="stop before anything is timed")
    given = parser.parse_args()
    images, labels = FashionMnistConvnet().train_data()
    shards = write_shards(images, labels, given.folder / "shards")
    plan = search(given.folder / "results", shards)
    if given.search_only:
        return
    times = time_winners(plan, given.folder / "results", shards, len(labels), given.R)
    table = summary(times, given.R)
    times.to_csv(given.folder / "times.csv", index=False)
    table.to_csv(given.folder / "speed_up.csv", index=False)
    draw(table, given.R, given.folder / "speed_up.png")
    print(table.to_string(index=False, float_format="{:.2f}".format))


if __name__ == "__main__":
    main()
