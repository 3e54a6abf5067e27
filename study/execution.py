"""Where and how a trial computes: its device, and the options that the loop applies to any workload."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from pipelines import Augmentation, Draws
from study.workloads.base import TrainData
from study.workloads.options import WorkloadOptions


@dataclass(frozen=True)
class Execution:
    """A device and a way of computing on it."""

    device: torch.device
    options: WorkloadOptions

    def model(self, model: nn.Module) -> nn.Module:
        """The model on the device, in the memory format and compiled as the options say.

        Compiled in place: the names in its `state_dict` stay what they were.
        """
        model = model.to(self.device)
        if self.options.channels_last:
            model = model.to(memory_format=torch.channels_last)
        if self.options.compile:
            model.compile()
        return model

    def forward(self) -> AbstractContextManager[Any]:
        """The context of every forward pass."""
        if self.options.autocast == "bf16":
            return torch.autocast(self.device.type, dtype=torch.bfloat16)
        return nullcontext()

    def data(self, data: TrainData) -> TrainData:
        """Data in memory move to the device, where the index engine gathers them; sources stay."""
        if isinstance(data, tuple):
            inputs, targets = data
            return inputs.to(self.device), targets.to(self.device)
        return data

    def augmentation(self, augment: Augmentation | None, data: TrainData) -> Augmentation | None:
        """The augmentation of such data: what a source reads moves to the device first."""
        if augment is None or isinstance(data, tuple) or self.device.type == "cpu":
            return augment
        return OnDevice(self.device, augment)

    def batch(self, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """A batch as the model wants it."""
        inputs = inputs.to(self.device, non_blocking=True)
        if self.options.channels_last and inputs.ndim == 4:
            inputs = inputs.contiguous(memory_format=torch.channels_last)
        return inputs, targets.to(self.device, non_blocking=True)

    def finish(self) -> None:
        """Wait until the device has done all that it was given, where it works on its own."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def random_state(self) -> dict[str, Tensor]:
        """The state of the random generators that initialisation and dropout draw from."""
        state = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            state["cuda"] = torch.cuda.get_rng_state(self.device)
        return state

    def set_random_state(self, state: dict[str, Tensor]) -> None:
        """Go on from a `random_state`; a device that the state does not know keeps its own."""
        torch.set_rng_state(state["cpu"])
        if self.device.type == "cuda" and "cuda" in state:
            torch.cuda.set_rng_state(state["cuda"], self.device)


@dataclass(frozen=True)
class OnDevice:
    """An augmentation of batches that are moved to a device first; the stream stays the same."""

    device: torch.device
    augment: Augmentation

    def __call__(self, inputs: Any, targets: Any, draws: Draws) -> tuple[Any, Any]:
        """See `pipelines.Augmentation`."""
        inputs, targets = torch.as_tensor(inputs), torch.as_tensor(targets)
        return self.augment(inputs.to(self.device), targets.to(self.device), draws)

    def __repr__(self) -> str:
        """The augmentation's own: a pipeline's state does not depend on the device."""
        return repr(self.augment)
