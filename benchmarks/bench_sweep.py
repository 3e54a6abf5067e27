"""What a sweep costs a trial, from its first to its last, and what MLflow costs beside it.

    python benchmarks/bench_sweep.py [TRIALS]

2,048 trials of milliseconds on this machine's Ray, two at a time, on SQLite and then over HTTP (a quarter of
them): the driver's memory after a quarter of the trials and at the end; a trial's overhead (slot time less
training time) in the first and the last quarter; what the driver's own thread spends on keeping a result, and
what the writing thread spends on it. Exit code 1 if memory grows by more than a tenth, the last quarter's
overhead is more than a quarter above the first's, or writing takes longer than 50 ms a trial (SQLite), 100 ms
(HTTP). Timings are medians: the machine may do other things, too.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import psutil

from study.background import Background
from study.folder import ResultsFolder
from study.plan import Plan, Trial, make_plan
from study.record import TrialRecord
from study.server import serve
from study.session import run_study
from study.spec import load_spec
from study.tracking import StudyWriter

HERE = Path(__file__).parent
TRIALS = 2048
WORKERS = 2
PORT = 5093
MOST_GROWTH = 1.1
MOST_SLOWDOWN = 1.25
MOST_WRITING_S = {"SQLite": 0.05, "HTTP": 0.1}


class Watch:
    """An observer that notes the driver's memory (bytes), and each trial's overhead (seconds)."""

    def __init__(self) -> None:
        self.overheads: list[float] = []
        self.memory: list[int] = []
        self._process = psutil.Process()

    def started(self, trial: Trial) -> None:
        """Nothing to note."""

    def paused(self, trial: Trial) -> None:
        """Nothing to note."""

    def added(self, trials: Collection[Trial]) -> None:
        """Nothing to note."""

    def noticed(self, sentence: str) -> None:
        """Nothing to note."""

    def ended(self, record: TrialRecord) -> None:
        """Note both."""
        self.memory.append(self._process.memory_info().rss)
        self.overheads.append(record.slot_s - record.clocks.training_s)


@contextmanager
def timed(owner: type, name: str) -> Iterator[list[float]]:
    """Seconds of every call of a method during the block."""
    seconds: list[float] = []
    method: Callable[..., object] = getattr(owner, name)

    def call(*arguments: object, **named: object) -> object:
        start = time.perf_counter()
        try:
            return method(*arguments, **named)
        finally:
            seconds.append(time.perf_counter() - start)

    setattr(owner, name, call)
    try:
        yield seconds
    finally:
        setattr(owner, name, method)


def plan_of(store: str, trials: int) -> Plan:
    settings = [f"name=bench_sweep_{store.lower()}", f"search.points={trials // 2}"]
    return make_plan(load_spec(HERE / "bench_sweep.yaml", settings))


def measured(store: str, trials: int, results: ResultsFolder) -> list[str]:
    """Run so many trials, print a row, and return what is not as it should be."""
    watch, plan = Watch(), plan_of(store, trials)
    with timed(Background, "submit") as submitting, timed(StudyWriter, "write") as writing:
        start = time.perf_counter()
        run_study(plan, results, watch, workers=WORKERS)
        took = time.perf_counter() - start
    assert len(watch.overheads) == len(plan.trials)
    quarter = len(plan.trials) // 4
    memory = watch.memory[quarter - 1], watch.memory[-1]
    overhead = median(watch.overheads[:quarter]), median(watch.overheads[-quarter:])
    print(
        f"{store:7} {len(plan.trials):6} {1000 * took / len(plan.trials):10.1f} "
        f"{memory[0] / 1e6:12.0f} {memory[1] / 1e6:8.0f} "
        f"{1000 * overhead[0]:14.1f} {1000 * overhead[1]:8.1f} "
        f"{1000 * median(submitting):9.2f} {1000 * median(writing):9.1f}"
    )
    wrong = []
    if memory[1] > MOST_GROWTH * memory[0]:
        wrong.append(f"{store}: the driver's memory grows")
    if overhead[1] > MOST_SLOWDOWN * overhead[0]:
        wrong.append(f"{store}: the last trials cost more than the first")
    if median(writing) > MOST_WRITING_S[store]:
        wrong.append(f"{store}: writing a trial takes more than {1000 * MOST_WRITING_S[store]:g} ms")
    return wrong


def main() -> int:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS
    print(
        f"{'store':7} {'trials':>6} {'ms/trial':>10} {'MB at 1/4':>12} {'at end':>8} {'overhead first':>14} "
        f"{'last, ms':>8} {'keep, ms':>9} {'write, ms':>9}"
    )
    with tempfile.TemporaryDirectory(prefix="bench-sweep-") as folder:
        embedded = ResultsFolder(Path(folder, "embedded"))
        wrong = measured("SQLite", trials, embedded)
        with serve(embedded, PORT):
            behind_http = ResultsFolder(Path(folder, "http"), f"http://127.0.0.1:{PORT}")
            wrong += measured("HTTP", trials // 4, behind_http)
    for sentence in wrong:
        print(sentence)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
