"""Checks for tests, of this project and of others: a pipeline's promises, verified on your own pipeline."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

import numpy as np
import torch


class ResumablePipeline(Protocol):
    """What `assert_resumes_exactly` needs of a pipeline."""

    def __iter__(self) -> Iterator[Any]:
        """Batches."""
        ...

    @property
    def ledger(self) -> Any:
        """What has been read, handed out and repeated so far."""
        ...

    def state_dict(self) -> dict[str, Any]:
        """Where it stands."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Stand where `state` was taken."""
        ...


def assert_resumes_exactly(make_pipeline: Callable[[], ResumablePipeline], batches: int) -> None:
    """`AssertionError` unless a saved state, loaded into a fresh pipeline, continues as if never interrupted.

    Checks every position from 0 to `batches`: inputs, targets, example ids, ordinals and copies of the
    batches that are left, the ledger after them, and the state itself, which travels as pickled bytes.

    Args:
        make_pipeline: gives a new pipeline, the same each time.
        batches: how far to go. The work grows with its square.
    """
    whole = make_pipeline()
    states, expected, steps = [_packed(whole)], [], iter(whole)
    for batch in islice(steps, batches):
        expected.append(_content(batch))
        states.append(_packed(whole))
    for position, state in enumerate(states):
        resumed = make_pipeline()
        resumed.load_state_dict(pickle.loads(state))
        _require(resumed.state_dict(), pickle.loads(state), f"the state loaded after batch {position}")
        for number, batch in enumerate(islice(resumed, batches - position), position):
            _require(_content(batch), expected[number], f"batch {number}, resumed after batch {position}")
        _require(resumed.ledger, whole.ledger, f"the ledger, resumed after batch {position}")


def _packed(pipeline: ResumablePipeline) -> bytes:
    return pickle.dumps(pipeline.state_dict())


def _content(batch: Any) -> dict[str, Any]:
    names = ("inputs", "targets", "example_ids", "ordinals", "copies")
    return {name: getattr(batch, name) for name in names}


def _require(actual: Any, expected: Any, what: str) -> None:
    if not _same(actual, expected):
        raise AssertionError(f"{what} differs from that of a pipeline that was never interrupted.")


def _same(one: Any, other: Any) -> bool:
    """Equal in type, shape and every bit, through dicts, lists and tuples."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return bool(one == other)
