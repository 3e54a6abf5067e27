"""One pass over a finite iterable, echoed: the order of `pipelines.order`, element by element."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import Any

from pipelines.checks import whole_number
from pipelines.held import Held
from pipelines.keys import random_halves


class EchoPass(Iterator[Any]):
    """Elements, each emitted `floor((i + 1) * ratio) - floor(i * ratio)` times, through a shuffle buffer.

    Emission t empties the slot that `EchoBuffer` empties, and the slot is refilled on the next demand. When
    the elements have ended, the last slot takes the place of the empty one, and draws go on among those left,
    as in tf.data's shuffle: every copy comes out exactly once.

    Attributes:
        emitted: elements handed out so far.
    """

    def __init__(
        self, elements: Iterator[Any], ratio: Fraction, slots: int, seed: int, hold: type[Held]
    ) -> None:
        self._elements = elements
        self._emissions, self._per_elements = ratio.as_integer_ratio()
        self._capacity = max(1, slots)
        self._seed = seed
        self._hold = hold
        self._slots: list[Held] = []
        self._hole = 0  # the slot emptied last
        self._current: Held | None = None  # the element read last
        self._left = 0  # its copies that have not come in yet
        self._ahead: list[Any] = []  # at most one element, read to know whether there is one
        self._read = 0
        self._ended = False
        self._stand_after(0)

    def __next__(self) -> Any:
        held = self._emit()
        if held is None:
            raise StopIteration
        return held.copy()

    def skip(self, emissions: int) -> int:
        """Let so many copies go, without making them; returns how many there were."""
        for skipped in range(emissions):
            held = self._emit()
            if held is None:
                return skipped
            held.left -= 1
        return emissions

    @property
    def finished(self) -> bool:
        """Whether the end has been seen: there is nothing left, and somebody has asked."""
        return self._ended and not self._slots

    @property
    def has_looked_ahead(self) -> bool:
        """Whether an element has been read that the state does not know of."""
        return bool(self._ahead)

    def look_ahead(self) -> bool:
        """Whether the elements go on: reads one ahead of its time to know."""
        if not self._ahead and not self._ended:
            self._ahead.extend(islice(self._elements, 1))
            self._ended = not self._ahead
        return not self._ended

    def state_dict(self) -> dict[str, Any]:
        """Where the pass stands, with the elements that wait in it themselves."""
        waiting = [
            None if self.emitted and slot == self._hole else held for slot, held in enumerate(self._slots)
        ]
        current = self._current if self._left else None
        elements = {id(held): held for held in [*waiting, current] if held is not None}
        for held in elements.values():
            held.require_unchanged()
        place = {name: number for number, name in enumerate(elements)}
        return {
            "emitted": self.emitted,
            "read": self._read,
            "left": self._left,
            "hole": self._hole,
            "ended": self._ended,
            "slots": [place.get(id(held), -1) for held in waiting],
            "current": place.get(id(current), -1),
            "numbers": [held.number for held in elements.values()],
            "elements": [held.element for held in elements.values()],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Stand where `state` was taken, on elements that go on there.

        Raises:
            ValueError: a count in `state` cannot be one.
        """
        for name in ("emitted", "read", "left"):
            whole_number(state[name], f"In this state, {name}", 0, "load another one, or start without it")
        places = [*state["slots"], state["current"]]
        if not (
            all(-1 <= place < len(state["elements"]) for place in places)
            and 0 <= state["hole"] <= len(state["slots"]) <= self._capacity
            and state["left"] <= self._emissions
        ):
            raise ValueError("The buffer in this state is damaged; load another one, or start without it.")
        numbered = zip(state["elements"], state["numbers"], strict=True)
        to_come = Counter([*state["slots"], *[state["current"]] * state["left"]])
        held = [
            self._hold(element, number, to_come[place]) for place, (element, number) in enumerate(numbered)
        ]
        empty = Held(None, -1, 0)
        self._slots = [empty if place == -1 else held[place] for place in state["slots"]]
        self._current = None if state["current"] == -1 else held[state["current"]]
        self._left, self._read, self._ended = state["left"], state["read"], state["ended"]
        self._hole = state["hole"]
        self._stand_after(state["emitted"])

    def _stand_after(self, emitted: int) -> None:
        """Let the next draw be that of emission number `emitted`: 32 random bits each."""
        self.emitted = emitted
        self._draws = random_halves(self._seed, "echo buffer", start=emitted)

    def _emit(self) -> Held | None:
        """What the next emission is a copy of."""
        self._refill()
        if not self._slots:
            return None
        self._hole = next(self._draws) * len(self._slots) >> 32
        self.emitted += 1
        return self._slots[self._hole]

    def _refill(self) -> None:
        """Fill the buffer, at first; later the slot emptied last."""
        if not self.emitted:
            while len(self._slots) < self._capacity and (incoming := self._incoming()):
                self._slots.append(incoming)
        elif self._slots:
            if incoming := self._incoming():
                self._slots[self._hole] = incoming
            else:
                last = self._slots.pop()
                if self._hole < len(self._slots):
                    self._slots[self._hole] = last

    def _incoming(self) -> Held | None:
        """The next emission of the echo stage."""
        if not self._left and not self._read_one():
            return None
        self._left -= 1
        return self._current

    def _read_one(self) -> bool:
        if not self.look_ahead():
            return False
        p, q = self._emissions, self._per_elements
        self._left = (self._read + 1) * p // q - self._read * p // q
        self._current = self._hold(self._ahead.pop(), self._read, self._left)
        self._read += 1
        return True
