"""How a workload is run, as the study file's `options` say: speed and strictness, not the task."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from study.fields import Group


class WorkloadOptions(Group):
    """The trial loop applies the first three; a workload that reads files heeds `on_error`.

    Attributes:
        autocast: "bf16" runs the forward passes in bfloat16 where PyTorch deems it safe.
        channels_last: models and images [batch, channels, height, width] keep their channels innermost.
        compile: the model goes through `torch.compile`.
        on_error: "raise" ends the trial at a broken record; "skip" leaves it out and counts it.
    """

    autocast: Literal["none", "bf16"] = Field(default="none", examples=["bf16"])
    channels_last: bool = Field(default=False, examples=["true"])
    compile: bool = Field(default=False, examples=["true"])
    on_error: Literal["raise", "skip"] = Field(default="raise", examples=["skip"])

    def changed(self) -> dict[str, str | bool]:
        """The options that are not at their default, JSON-able: what a trial's id depends on."""
        return self.model_dump(exclude_defaults=True)
