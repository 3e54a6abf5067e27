"""A slot's process: a Ray Tune trainable that runs one trial after another.

Starting a process costs seconds (importing PyTorch), so Tune reuses it: `reset_config` hands it the next
trial. PyTorch is imported where a process sets to work, not here: the driver, which names this class to
Tune, starts seconds sooner without.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ray import tune

from study.workloads.carried import at_hand


class TrialWorker(tune.Trainable):
    """Runs the trial in `config["job"]` until it ends, or has had `config["until"]` evaluations.

    `config["bound"]` is the best rank of its search so far, `config["text"]` a user's own workload's file.
    """

    def setup(self, config: dict[str, Any]) -> None:
        """Prepare the process once, and take the first trial."""
        from study.slot import Slot

        self._slot = Slot(config["storage"], threads=config["threads"], gpu=config["gpu"])
        self._begin(config)

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Take the next trial; always possible."""
        self._begin(new_config)
        return True

    def step(self) -> dict[str, Any]:
        """Tune's result dict: our report in one value, so that Tune has nothing to flatten or to log."""
        report = self._slot.step()
        return {"report": report, "done": report.outcome is not None or report.paused}

    def _begin(self, config: dict[str, Any]) -> None:
        job = config["job"]
        job = replace(job, workload=at_hand(job.workload, config["text"]))
        self._slot.begin(job, config["bound"], config["until"])
