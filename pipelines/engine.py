"""What the engines have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeVar

from pipelines.batch import Batch
from pipelines.exchange import Ints
from pipelines.ledger import Ledger

Order = TypeVar("Order", contravariant=True)


class Books(Protocol):
    """Ledger and state of an order, after any number of updates not below the number asked for before.

    Attributes:
        width: examples per element.
    """

    width: int

    def ledger(self, updates: int) -> Ledger:
        """The ledger, but for what the engine knows."""
        ...

    def examples_read(self, updates: int) -> int:
        """How many fresh examples have been read."""
        ...

    def held(self, updates: int) -> Ints:
        """The elements that have been read and will or may be emitted again, ascending."""
        ...

    def state_dict(self, updates: int) -> dict[str, Any]:
        """Where the order stands."""
        ...

    def place(self, updates: int) -> Any:
        """What the order needs to stand there."""
        ...

    def load_state_dict(self, state: Mapping[str, Any]) -> int:
        """Stand where `state` was taken: after how many updates.

        Raises:
            ValueError: `state` is damaged.
        """
        ...


class Engine(Protocol[Order]):
    """Lets the data follow the order."""

    def batches(self, order: Order, ahead: int = 0) -> Iterator[Batch]:
        """Endless batches from where `order` stands. Takes the order along, up to a block ahead.

        What is upstream of the echo stage may work in a thread of its own, up to `ahead` batches in advance.
        """
        ...

    def ledger_entries(self, books: Books, updates: int) -> dict[str, Any]:
        """What the engine has to say in the ledger, after `updates` updates."""
        ...

    def state_dict(self, books: Books, updates: int) -> dict[str, Any]:
        """What it takes, beside the order, to go on after `updates` updates."""
        ...

    def load_state_dict(self, state: Mapping[str, Any], read: int) -> None:
        """Let the next `batches` go on where `state` was taken, after `read` examples had been read.

        Raises:
            ValueError: `state` is damaged; nothing has changed.
        """
        ...
