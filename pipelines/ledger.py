"""The ledger: what a pipeline has read, handed out and repeated."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Ledger:
    """What had been read and handed out at one moment. All numbers are exact; examples are the unit.

    Attributes:
        ratio: the echo factor, as the fraction the echo stage works with; None = adaptive.
        updates: batches handed out.
        examples_read: fresh examples read from the source, those waiting in the echo buffer included.
        examples_consumed: examples handed out in batches, repeats included.
        duplicates: consumed examples that had already occurred in the same batch, as the same fresh example.
        repeats: consumed examples that had been consumed before, in the same batch or an earlier one.
        lag_updates: updates from one emission of a fresh example to its next, summed over the repeats.
        buffer_examples: examples the echo buffer can hold; 0 = none.
        buffer_fill: examples now waiting in it. The slot emitted last is refilled on the next demand, so a
            running buffer of examples has one place free.
        bytes_held: what the payloads take that the echo stage keeps for emissions to come, each example once;
            0 with data in memory, where it keeps none.
        skipped: damaged parts of the source that were left out, where the source was asked to.
    """

    ratio: Fraction | None
    updates: int
    examples_read: int
    examples_consumed: int
    duplicates: int
    repeats: int
    lag_updates: int
    buffer_examples: int
    buffer_fill: int
    bytes_held: int = 0
    skipped: int = 0

    def __add__(self, other: Ledger) -> Ledger:
        """The ledger of two ranks together. Updates add up too: they are batches handed out.

        Raises:
            ValueError: they echo by different factors.
        """
        if self.ratio != other.ratio:
            raise ValueError(
                f"Ledgers with echo factors {_named(self.ratio)} and {_named(other.ratio)} do not add up; "
                "give those of one run."
            )
        counts = (field.name for field in fields(self) if field.name != "ratio")
        return Ledger(self.ratio, **{name: getattr(self, name) + getattr(other, name) for name in counts})

    @property
    def fresh_examples(self) -> float:
        """`examples_consumed / e`: the paper's measure, and the x-axis of every curve.

        Adaptive echoing has no e: then it is how many examples have been consumed at least once.
        """
        if self.ratio is None:
            return float(self.examples_consumed - self.repeats)
        return float(self.examples_consumed / self.ratio)

    @property
    def duplicate_share(self) -> float:
        """Share of the consumed examples that are duplicates within their batch; 0 before the first batch."""
        return self.duplicates / self.examples_consumed if self.examples_consumed else 0.0

    @property
    def mean_lag_updates(self) -> float:
        """Mean number of updates between an example's emission and its next; 0 if there are no repeats."""
        return self.lag_updates / self.repeats if self.repeats else 0.0

    def as_dict(self) -> dict[str, float]:
        """The numbers worth logging, flat."""
        return {
            "examples_read": self.examples_read,
            "examples_consumed": self.examples_consumed,
            "updates": self.updates,
            "fresh_examples": self.fresh_examples,
            "duplicate_share": self.duplicate_share,
            "mean_lag_updates": self.mean_lag_updates,
            "buffer_examples": self.buffer_examples,
            "buffer_fill": self.buffer_fill,
        }


def _named(ratio: Fraction | None) -> str:
    return "adaptive" if ratio is None else str(ratio)
