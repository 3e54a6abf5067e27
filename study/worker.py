"""A slot's process: a Ray Tune trainable that runs one trial after another.

Starting a process costs seconds (importing PyTorch), so Tune reuses it: `reset_config` hands it the next
trial. PyTorch is imported where a process sets to work, not here: the driver, which names this class to
Tune, starts seconds sooner without.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ray import tune


class TrialWorker(tune.Trainable):
    """Runs the trial in `config["job"]` until it ends, or has had `config["until"]` evaluations.

    `config["bound"]` is the best rank of its search so far.
    """

    def setup(self, config: dict[str, Any]) -> None:
        """Prepare the process once, and take the first trial."""
        from study.slot import Slot

        self._slot = Slot(Path(config["folder"]), threads=config["threads"], gpu=config["gpu"])
        self._slot.begin(config["job"], config["bound"], config["until"])

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Take the next trial; always possible."""
        self._slot.begin(new_config["job"], new_config["bound"], new_config["until"])
        return True

    def step(self) -> dict[str, Any]:
        """Tune's result dict: our report in one value, so that Tune has nothing to flatten or to log."""
        report = self._slot.step()
        return {"report": report, "done": report.outcome is not None or report.paused}
