"""A trial's own checkpoint: the last one only, replaced in one step, gone once the trial has its result."""

from __future__ import annotations

import io
import pickle
from typing import Any

import torch

from study.storage import Storage, checkpoint_name


class Checkpoint:
    """The checkpoint of one trial, in a study's storage."""

    def __init__(self, storage: Storage, trial_id: str) -> None:
        self._storage = storage
        self._name = checkpoint_name(trial_id)

    def save(self, state: dict[str, Any]) -> bool:
        """Replace the checkpoint by the given state; a crash in between leaves the one before.

        False if that cannot be, for want of room or because the storage is away; the one before stays.
        """
        buffer = io.BytesIO()
        torch.save(state, buffer)
        try:
            self._storage.write(self._name, buffer.getbuffer())
        except OSError:
            return False
        return True

    def load(self) -> dict[str, Any] | None:
        """The saved state; None if there is none or it cannot be read.

        An unreadable checkpoint costs time and nothing else: the trial starts over, and ends the same.
        """
        try:
            data = self._storage.read(self._name)
        except OSError:
            data = None
        if data is None:
            return None
        try:
            state: dict[str, Any] = torch.load(io.BytesIO(data), weights_only=True)
        except (RuntimeError, EOFError, ValueError, pickle.UnpicklingError):
            return None
        return state

    def remove(self) -> None:
        """Delete the checkpoint if it is there."""
        self._storage.remove(self._name)
