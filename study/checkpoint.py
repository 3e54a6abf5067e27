"""A trial's own checkpoint: one file, replaced in one step, gone once the trial has its result."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import torch

from study.folder import checkpoint_file


class Checkpoint:
    """The checkpoint file of one trial."""

    def __init__(self, study_folder: Path, trial_id: str) -> None:
        self.path = checkpoint_file(study_folder, trial_id)

    def save(self, state: dict[str, Any]) -> None:
        """Replace the file by the given state; a crash in between leaves the file before."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(f".{os.getpid()}.part")
        torch.save(state, part)
        os.replace(part, self.path)

    def load(self) -> dict[str, Any] | None:
        """The saved state; None if there is none or it cannot be read.

        An unreadable checkpoint costs time and nothing else: the trial starts over, and ends the same.
        """
        try:
            state: dict[str, Any] = torch.load(self.path, weights_only=True)
        except FileNotFoundError:
            return None
        except (OSError, RuntimeError, EOFError, ValueError, pickle.UnpicklingError):
            self.remove()
            return None
        return state

    def remove(self) -> None:
        """Delete the file if it is there."""
        self.path.unlink(missing_ok=True)
