"""What the user asks of the echo stage, and what that means in whole numbers.

Source: Choi et al., arXiv 1907.05550, section 2 (echo factor, insertion points, shuffling after the echo).
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeVar

from pipelines.checks import real_number, whole_number
from pipelines.exchange import Ints
from pipelines.trace import Trace

INSERTION_POINTS = ("before_augmentation", "after_augmentation", "after_batching")
"""Where the echo stage can stand in the pipeline, from the source onwards."""

_FINEST_FRACTION = 1_000_000
_LARGEST_FACTOR = 1_000_000

Whole = TypeVar("Whole", int, Ints)


@dataclass(frozen=True, slots=True)
class EchoSpec:
    """How often data are repeated, where, and how well the repeats are shuffled.

    Args:
        factor: how often each element is emitted, on average; a real number from 1 to a million. Taken as the
            nearest fraction with a denominator up to a million. 1 = no echo stage, and then no echo buffer
            either. Or "adaptive": an element is emitted again whenever no fresh one is ready, see
            `pipelines.adaptive`. Or a `Trace` of that, to be replayed.
        insertion_point: one of `INSERTION_POINTS`.
        buffer: size of the shuffle buffer right after the echo stage, in examples; 0 = none. After batching
            it holds `max(1, buffer // batch_size)` batches.
        ceiling: with "adaptive", how often an element is emitted at most; else None.

    Raises:
        ValueError: one of these is not as described.
    """

    factor: float | Literal["adaptive"] | Trace = 1
    insertion_point: str = "before_augmentation"
    buffer: int = 0
    ceiling: int | None = None

    def __post_init__(self) -> None:
        if self.factor == "adaptive":
            advice = "give how often an element is emitted at most, 1 or more"
            whole_number(self.ceiling, "EchoSpec: ceiling", 1, advice)
        elif self.ceiling is not None:
            raise ValueError(
                f"EchoSpec: ceiling is {self.ceiling!r}, but the factor is not 'adaptive'; leave one out."
            )
        elif isinstance(self.factor, Trace):
            if self.factor.begins:
                raise ValueError(
                    f"EchoSpec: the trace begins after {self.factor.begins} emissions; add it to the one "
                    "taken with the state that its run was resumed from."
                )
        else:
            advice = "give how often each element is used, 1 or more, or 'adaptive' (a million at most)"
            real_number(self.factor, "EchoSpec: factor", 1, advice, at_most=_LARGEST_FACTOR)
        if self.insertion_point not in INSERTION_POINTS:
            near = difflib.get_close_matches(str(self.insertion_point), INSERTION_POINTS, n=1, cutoff=0)[0]
            raise ValueError(
                f"EchoSpec: there is no insertion point {self.insertion_point!r}; did you mean {near!r}? "
                f"Valid: {', '.join(INSERTION_POINTS)}."
            )
        whole_number(self.buffer, "EchoSpec: buffer", 0, "give a number of examples, or 0 for no echo buffer")

    @property
    def is_adaptive(self) -> bool:
        """Whether what is ready decides how often elements are emitted, now or when a trace was taken."""
        return isinstance(self.factor, str | Trace)

    @property
    def ratio(self) -> Fraction:
        """The factor as the exact fraction the echo stage works with; `ValueError` if it is adaptive."""
        if isinstance(self.factor, str | Trace):
            raise ValueError("EchoSpec: adaptive echoing has no factor; see what became of it in the ledger.")
        return Fraction(float(self.factor)).limit_denominator(_FINEST_FRACTION)


@dataclass(frozen=True, slots=True)
class Geometry:
    """What the elements of an echo stage are: examples, or after batching whole batches.

    Attributes:
        examples_per_element: 1, or the batch size after batching.
        elements_per_batch: the batch size, or 1 after batching.
        slots: elements the echo buffer holds; 0 = none.
        copies_differ: whether each copy is augmented by draws of its own.
    """

    examples_per_element: int
    elements_per_batch: int
    slots: int
    copies_differ: bool

    @staticmethod
    def parts(spec: EchoSpec, batch_size: int) -> tuple[int, int, int, bool]:
        """The four for an echo stage of `spec`."""
        if spec.insertion_point == "after_batching":
            return batch_size, 1, max(1, spec.buffer // batch_size) if spec.buffer else 0, False
        return 1, batch_size, spec.buffer, spec.insertion_point == "before_augmentation"


@dataclass(frozen=True, slots=True)
class EchoStage(Geometry):
    """An `EchoSpec` with a factor, at a batch size.

    The stage emits element i `floor((i + 1) * ratio) - floor(i * ratio)` times in a row. So what its emission
    number u = 0, 1, 2, ... holds is plain arithmetic, and there is no state.

    Attributes:
        ratio: emissions per element, >= 1.
    """

    ratio: Fraction

    @classmethod
    def of(cls, spec: EchoSpec, batch_size: int) -> EchoStage:
        """The stage that `spec` describes for batches of `batch_size`."""
        if spec.ratio == 1:
            return cls(1, batch_size, 0, False, spec.ratio)
        return cls(*Geometry.parts(spec, batch_size), spec.ratio)

    def elements(self, emissions: Whole) -> Whole:
        """The element that each emission of the echo stage repeats."""
        p, q = self.ratio.as_integer_ratio()
        return emissions // p if q == 1 else ((emissions + 1) * q - 1) // p

    def elements_read(self, emitted: Whole) -> Whole:
        """How many elements must have been read for so many emissions to leave the echo buffer.

        All slots are full before the first one is emitted, and a slot is refilled when the next one is.
        """
        incoming = emitted + max(self.slots, 1) - 1
        return (self.elements(incoming - 1) + 1) * (emitted > 0)

    def copies(self, emissions: Whole) -> Whole:
        """The copy number of each emission: 0 for an element's first, then 1, 2, ..."""
        p, q = self.ratio.as_integer_ratio()
        return emissions - self.elements(emissions) * p // q
