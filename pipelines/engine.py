"""What the index engine and the streaming engine have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from pipelines.batch import Batch
from pipelines.bookkeeper import Bookkeeper
from pipelines.order import Order


class Engine(Protocol):
    """Lets the data follow the order."""

    def batches(self, order: Order) -> Iterator[Batch]:
        """Endless batches from where `order` stands. Takes the order along, up to a block ahead."""
        ...

    def ledger_entries(self, books: Bookkeeper, updates: int) -> dict[str, Any]:
        """What the engine has to say in the ledger, after `updates` updates."""
        ...

    def state_dict(self, books: Bookkeeper, updates: int) -> dict[str, Any]:
        """What it takes, beside the order, to go on after `updates` updates."""
        ...

    def load_state_dict(self, state: Mapping[str, Any], read: int) -> None:
        """Let the next `batches` go on where `state` was taken, after `read` examples had been read.

        Raises:
            ValueError: `state` is damaged; nothing has changed.
        """
        ...
