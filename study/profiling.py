"""Where the time goes: of a workload as trials train it, and of a loader of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pipelines import Profile, Timed, profile_loader, profile_pipeline
from pipelines.profile import LoaderError
from study.errors import UserError
from study.execution import Execution
from study.ownfunction import OwnFunction
from study.rehearsal import train_data_of
from study.slot import prepare
from study.wording import kind
from study.workloads.base import Workload
from study.workloads.load import load_workload
from study.workloads.own import blamed_on
from study.workloads.reference import is_own
from study.workloads.registry import workload_card

METAPARAMETER = 1e-3
"""The value of those that a workload needs: an update takes as long at any."""


def profile_workload(name: str, batch_size: int, seconds: float) -> Profile:
    """Measure a workload's data, augmentation and update, as a trial has them, on one CPU thread or the GPU.

    Draws from torch's global generator, which it seeds.

    Raises:
        UserError: there is no such workload, its data are missing, or a part of it fails.
    """
    card = workload_card(name)
    device = prepare(1, gpu=True)
    workload = load_workload(name)
    execution = Execution(device, workload.options)
    data = execution.data(train_data_of(workload, name))
    if isinstance(data, tuple) and len(data[0]) < batch_size:
        raise UserError(
            f"--batch-size is {batch_size}, but {card.name} has {len(data[0])} training examples; lower it."
        )

    def measure() -> Profile:
        training = _Training(workload, execution, dict.fromkeys(card.required_metaparameters, METAPARAMETER))
        return profile_pipeline(
            data,
            training.update,
            batch_size=batch_size,
            augment=execution.augmentation(workload.augment, data),
            transfer=execution.batch,
            seconds=seconds,
        )

    if is_own(name):
        with blamed_on(card.factory, "profiling it"):
            return measure()
    try:
        return measure()
    except ValueError as error:
        raise UserError(str(error)) from error


class _Training:
    """The model of a trial, and its update."""

    def __init__(self, workload: Workload, execution: Execution, metaparameters: dict[str, float]) -> None:
        torch.manual_seed(0)
        self._execution = execution
        self._model = execution.model(workload.model())
        self._model.train()
        self._loss = workload.loss_at(metaparameters)
        self._optimizer = workload.optimizer(self._model, metaparameters)

    def update(self, inputs: Tensor, targets: Tensor) -> None:
        """One step of the optimizer."""
        self._optimizer.zero_grad(set_to_none=True)
        with self._execution.forward():
            loss = self._loss(self._model, inputs, targets)
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimizer.step()


@dataclass(frozen=True)
class OwnLoader:
    """A user's loader and what trains on it, each a function in a file.

    Attributes:
        make_loader: without arguments; gives the loader.
        step: called with a batch; trains on it.
        augment: what the loader augments with, by the name that the file of `make_loader` has for it.
        collate: what it makes batches with, likewise.
        update_s: seconds of an update, for want of a `step`.
    """

    make_loader: OwnFunction
    step: OwnFunction | None = None
    augment: OwnFunction | None = None
    collate: OwnFunction | None = None
    update_s: float | None = None

    def profile(self, seconds: float) -> Profile:
        """Measure it.

        Raises:
            UserError: a function is missing or fails, or the loader has too few batches.
        """
        step = self.step.load() if self.step else None
        make = self.make_loader.load()
        with self._clocks() as inside:
            with self.make_loader.blamed("making the loader"):
                loader = make()
            if not hasattr(loader, "__iter__"):
                raise UserError(
                    f"--loader {self.make_loader.name} gives {kind(loader)}, which cannot be iterated; "
                    "return a DataLoader, or anything else that gives batches."
                )
            return self._measured(loader, step, inside, seconds)

    @contextmanager
    def _clocks(self) -> Iterator[dict[str, Timed]]:
        """The functions inside with a clock each, by what they do; in their places until the block ends."""
        timed: dict[str, Timed] = {}
        with ExitStack() as undo:
            for doing, asked in (("augment", self.augment), ("collate", self.collate)):
                if asked is not None:
                    asked.load()
                    imported = hasattr(self.make_loader.module, asked.name)
                    home = self.make_loader.module if imported else asked.module
                    timed[doing] = Timed(getattr(home, asked.name))
                    setattr(home, asked.name, timed[doing])
                    undo.callback(setattr, home, asked.name, timed[doing].function)
            yield timed

    def _measured(self, loader: Any, step: Any, inside: dict[str, Timed], seconds: float) -> Profile:
        blamed = self.make_loader
        with blamed.blamed("the loader"):
            try:
                return profile_loader(
                    loader,
                    None if step is None else self._stepping(step),
                    update_s=self.update_s,
                    seconds=seconds,
                    **inside,
                )
            except LoaderError as error:
                raise UserError(str(error)) from error

    def _stepping(self, step: Any) -> Any:
        """The step; its faults are told as its own and not as the loader's."""
        assert self.step is not None
        asked = self.step

        def stepping(batch: Any) -> None:
            with asked.blamed("the step"):
                step(batch)

        return stepping
