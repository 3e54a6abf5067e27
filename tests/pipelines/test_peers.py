"""tf.data's own shuffle, recorded and (where TensorFlow is installed) live, beside ours."""

from __future__ import annotations

import json
import runpy
from itertools import islice
from pathlib import Path
from statistics import mean, stdev, variance
from typing import Any

import numpy as np
import pytest

from pipelines import EchoSpec, Pipeline, echo_examples

HERE = Path(__file__).parent
RECORD = json.loads((HERE / "tf_data.json").read_text(encoding="utf-8"))
SCRIPT = runpy.run_path(str(HERE / "record_tf_data.py"))
BUFFERS = [0, 128, 1000, 10_000]
UPDATES, RUNS = RECORD["updates"], len(RECORD["buffers"]["0"]["duplicate_share"])
MEASURES = ("duplicate_share", "mean_lag_updates")


def ours(buffer: int, seed: int) -> tuple[float, float]:
    """The ledger's numbers for the recorded job."""
    ids = np.arange(50_000)
    echo = EchoSpec(RECORD["factor"], "before_augmentation", buffer)
    pipeline = Pipeline((ids, ids), batch_size=RECORD["batch"], echo=echo, seed=seed)
    for _ in islice(pipeline, UPDATES):
        pass
    ledger = pipeline.ledger
    return ledger.duplicate_share, ledger.mean_lag_updates


def require_agreement(mine: list[float], theirs: list[float], what: str) -> None:
    """Means of independent runs, within four standard errors of their difference."""
    error = (variance(mine) / len(mine) + variance(theirs) / len(theirs)) ** 0.5
    assert abs(mean(mine) - mean(theirs)) <= 4 * error + 1e-8, (what, mean(mine), mean(theirs), error)


@pytest.mark.parametrize("buffer", BUFFERS)
def test_duplicates_and_lags_are_those_of_tf_data_as_recorded(buffer: int) -> None:
    recorded = RECORD["buffers"][str(buffer)]
    runs = zip(*(ours(buffer, seed) for seed in range(RUNS)), strict=True)
    for measure, values in zip(MEASURES, runs, strict=True):
        require_agreement(list(values), recorded[measure], measure)


def test_the_record_is_sharp_enough_to_tell_a_buffer_of_another_size() -> None:
    """A buffer 10% larger would be noticed by at least one of the two measures."""
    for buffer in BUFFERS[1:]:
        larger = zip(*(ours(buffer + buffer // 10, seed) for seed in range(RUNS)), strict=True)
        noticed = []
        for measure, values in zip(MEASURES, larger, strict=True):
            recorded = RECORD["buffers"][str(buffer)][measure]
            error = (variance(values) / RUNS + variance(recorded) / RUNS) ** 0.5
            noticed.append(abs(mean(values) - mean(recorded)) > 4 * error)
        assert any(noticed), buffer


@pytest.mark.parametrize("buffer", BUFFERS)
def test_a_wrapped_loader_has_the_ledgers_duplicates_and_lags(buffer: int) -> None:
    """The recording script's count, example by example, of the wrapper's emissions."""
    shape = UPDATES, RECORD["batch"]
    emissions = islice(echo_examples(range(10**6), RECORD["factor"], buffer, seed=3), shape[0] * shape[1])
    counted = SCRIPT["measured"](np.fromiter(emissions, int).reshape(shape))
    assert counted == pytest.approx(ours(buffer, 3))


def test_the_recorded_runs_are_independent_runs() -> None:
    assert RUNS == 16
    for buffer in BUFFERS[1:]:
        for measure in MEASURES:
            values = RECORD["buffers"][str(buffer)][measure]
            assert 0 < stdev(values) < 0.05 * mean(values)
    assert RECORD["buffers"]["0"]["duplicate_share"] == [0.75] * RUNS


@pytest.mark.parametrize("buffer", BUFFERS)
def test_tf_data_still_does_what_was_recorded(buffer: int) -> None:
    pytest.importorskip("tensorflow", reason="the recorded numbers stand in for TensorFlow")
    runs: Any = zip(*(SCRIPT["statistics"](buffer, seed) for seed in range(101, 109)), strict=True)
    for measure, values in zip(MEASURES, runs, strict=True):
        require_agreement(list(values), RECORD["buffers"][str(buffer)][measure], measure)
