"""The ledger against theory; that it equals a slow one is shown in `test_order`."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from pipelines import EchoSpec, Ledger, Pipeline


def ledger_after(updates: int, batch_size: int, echo: EchoSpec, examples: int = 50_000) -> Ledger:
    ids = np.arange(examples)
    pipeline = Pipeline((ids, ids), batch_size=batch_size, echo=echo, seed=5)
    for _ in islice(pipeline, updates):
        pass
    return pipeline.ledger


@pytest.mark.parametrize(("factor", "batch_size"), [(2, 8), (4, 32), (8, 8)])
def test_without_a_buffer_all_repeats_share_a_batch_if_the_factor_divides_it(
    factor: int, batch_size: int
) -> None:
    ledger = ledger_after(50, batch_size, EchoSpec(factor))
    assert ledger.duplicate_share == 1 - 1 / factor
    assert ledger.mean_lag_updates == 0
    assert ledger.fresh_examples == ledger.examples_read == 50 * batch_size / factor


def test_without_a_buffer_a_repeated_batch_follows_at_once() -> None:
    ledger = ledger_after(50, 8, EchoSpec(2, "after_batching"))
    assert ledger.duplicate_share == 0
    assert ledger.mean_lag_updates == 1


def test_the_lag_is_the_time_in_the_buffer() -> None:
    """Copies of an example leave k slots independently: their lag is about k / batch size updates (e = 2)."""
    ledger = ledger_after(4000, 16, EchoSpec(2, "before_augmentation", 1600))
    assert ledger.mean_lag_updates == pytest.approx(1600 / 16, rel=0.05)


def test_duplicates_are_as_rare_as_the_buffer_is_large() -> None:
    """Two copies with a geometric lag of mean k fall d emissions apart with probability about 1 / k each."""
    slots, batch = 400, 16
    ledger = ledger_after(8000, batch, EchoSpec(2, "before_augmentation", slots))
    pairs_per_batch = batch * (batch - 1) / 2 / slots / 2
    assert ledger.duplicate_share == pytest.approx(pairs_per_batch / batch, rel=0.1)


def test_filling_the_buffer_counts_as_reading() -> None:
    ledger = ledger_after(1, 10, EchoSpec(2, "before_augmentation", 100))
    assert ledger.examples_read == (100 + 10) // 2
    assert ledger.examples_consumed == 10
    assert ledger.fresh_examples == 5
    assert (ledger.buffer_examples, ledger.buffer_fill) == (100, 99)


def test_after_batching_the_buffer_holds_whole_batches() -> None:
    ledger = ledger_after(1, 10, EchoSpec(2, "after_batching", 55))
    assert (ledger.buffer_examples, ledger.buffer_fill) == (50, 40)
    assert ledger.examples_read == 30


def test_a_fractional_factor_divides_exactly() -> None:
    assert ledger_after(9, 7, EchoSpec(7 / 3)).fresh_examples == 27


def test_nothing_has_happened_yet_at_the_start() -> None:
    ledger = ledger_after(0, 10, EchoSpec(2, "before_augmentation", 100))
    assert ledger.as_dict() == dict.fromkeys(ledger.as_dict(), 0) | {"buffer_examples": 100}


def test_the_flat_ledger_holds_plain_numbers_under_their_names() -> None:
    ledger = ledger_after(20, 8, EchoSpec(2.5, "before_augmentation", 30))
    assert all(type(value) in (int, float) for value in ledger.as_dict().values())
    assert all(getattr(ledger, name) == value for name, value in ledger.as_dict().items())
