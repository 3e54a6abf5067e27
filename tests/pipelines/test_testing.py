from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from pipelines import EchoSpec, Pipeline
from pipelines.testing import assert_resumes_exactly

DATA = (np.arange(10.0), np.arange(10))


def make(kind: type[Pipeline] = Pipeline) -> Pipeline:
    return kind(DATA, batch_size=4, echo=EchoSpec(2, "before_augmentation", 6), seed=1)


class OneBatchLate(Pipeline):
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        next(self)


class ForgetsTheLedger(Pipeline):
    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict({**state, "counts": [0, 0, 0]})


class ForgetsTheBuffer(Pipeline):
    def state_dict(self) -> dict[str, Any]:
        state = super().state_dict()
        return {**state, "slots": make().state_dict()["slots"]}


class ChangesType(Pipeline):
    loaded = False

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        super().load_state_dict(state)
        self.loaded = True

    def __next__(self) -> Any:
        batch = super().__next__()
        if self.loaded:
            batch.inputs = batch.inputs.astype(np.float32)
        return batch


def test_a_pipeline_that_resumes_exactly_passes() -> None:
    assert_resumes_exactly(make, batches=12)


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (OneBatchLate, "the state loaded after batch 0 differs"),
        (ForgetsTheLedger, "the state loaded after batch 1 differs"),
        (ForgetsTheBuffer, "batch . resumed after batch 1 differs"),
        (ChangesType, "batch 0, resumed after batch 0 differs"),
    ],
)
def test_a_pipeline_that_does_not_is_told_where(kind: type[Pipeline], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint.replace("batch .", "batch .,")):
        assert_resumes_exactly(lambda: make(kind), batches=12)
