"""Where the time of a pipeline goes: each stage alone, the pipeline with no consumer, and R.

The differential method (Mohan et al., "Analyzing and mitigating data stalls in DNN training", VLDB 2021): the
update is timed with batches that are at hand, the pipeline with nobody who uses its batches, and what the two
make together shows who waits for whom. R is that of Choi et al., arXiv 1907.05550, section 3.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pipelines.checks import real_number, rows
from pipelines.echo import INSERTION_POINTS
from pipelines.stopwatch import SEGMENTS, Durations, Timed, durations, finish, moments, repeated, warm

SECONDS = 2.0
"""What each part is timed for, unless told otherwise."""

ON_DEVICE = ("transfer", "update")
"""Stages that are timed with the same batches over and over: there are no bursts in them."""

SHOWN = 200
"""Batches, one after the other, that a profile shows the times of."""

_KEPT = 4
"""Batches that are kept as the update's free input."""


class LoaderError(ValueError):
    """A loader cannot be measured: one sentence that says why, and what to do."""


class Ratio(NamedTuple):
    """R with its spread: the quartiles over parts of the measurement."""

    estimate: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Together:
    """The pipeline and its consumer at work together.

    Attributes:
        step_s: seconds a batch, waiting included.
        wait_share: the share of the time in which the consumer waits for its input, 0 to 1.
    """

    step_s: float
    wait_share: float


@dataclass(frozen=True, slots=True)
class Profile:
    """What was measured of a pipeline; all times are seconds a batch.

    Attributes:
        batch_size: examples of a batch; 0 = they cannot be counted.
        examples: how many there are; None = not known.
        example_bytes: what an example takes at each insertion point, as far as it is known there.
        stages: each stage alone, as far as they can be told apart: `read` (with decoding, where a source does
            both at once), `decode`, `augment`, `batch`, `transfer`, `update`; `loader` is all that a loader
            does that cannot be taken apart.
        upstream: what stands before each insertion point, with no consumer.
        host: what stands between it and the device, alone.
        device: transfer and update; None = not known, and then R is not, either.
        together: None where there is nothing to update.
        reads_ahead: whether the pipeline works while the device does.
    """

    batch_size: int
    examples: int | None
    example_bytes: Mapping[str, int]
    stages: Mapping[str, Durations]
    upstream: Mapping[str, Durations]
    host: Mapping[str, float]
    device: Durations | None
    together: Together | None

    @property
    def R(self) -> dict[str, Ratio]:  # noqa: N802 - the paper's name
        """R at each insertion point that can be told apart: upstream over the longest of what follows.

        Behind the echo stage a thread prepares batches while the device works, so that downstream takes the
        longer of the two.
        """
        if self.device is None:
            return {}
        found = {}
        for point, upstream in self.upstream.items():
            downstream = np.maximum(self.device.segments, self.host[point])
            length = min(SEGMENTS, len(downstream), len(upstream.segments))
            low, high = np.quantile(upstream.segments[:length] / downstream[:length], [0.25, 0.75])
            found[point] = Ratio(upstream.mean / self.downstream_s[point], float(low), float(high))
        return found

    @property
    def downstream_s(self) -> dict[str, float]:
        """The longest of what follows each insertion point."""
        device = self.device
        return {} if device is None else {point: max(device.typical, own) for point, own in self.host.items()}

    @property
    def whole(self) -> Durations:
        """The whole pipeline, up to a batch."""
        return self.upstream["after_batching"]

    @property
    def device_wait_share(self) -> float | None:
        """The share of the time in which the device waits, as measured; None where there is no update to run.

        With an update of known time, what is left of that time while the pipeline makes a batch.
        """
        if self.together is not None:
            return self.together.wait_share
        return None if self.device is None else max(0.0, 1 - self.device.mean / self.whole.mean)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers by name, for JSON."""
        ratios = self.R
        return {
            "R": {point: one.estimate for point, one in ratios.items()},
            "R_quartiles": {point: [one.low, one.high] for point, one in ratios.items()},
            "stages_s": {
                name: one.typical if name in ON_DEVICE else one.mean for name, one in self.stages.items()
            },
            "stages_quartiles_s": {name: one.quartiles for name, one in self.stages.items()},
            "upstream_s": {point: one.mean for point, one in self.upstream.items()},
            "downstream_s": self.downstream_s,
            "burst_batches": self.whole.burst_batches,
            "batches_s": self.whole.seconds[:SHOWN].tolist(),
            "update_s": None if self.device is None else self.device.typical,
            "step_s": self.together.step_s if self.together else None,
            "device_wait_share": self.device_wait_share,
            "batch_size": self.batch_size,
            "examples": self.examples,
            "example_bytes": dict(self.example_bytes),
        }


def profile_loader(
    loader: Iterable[Any],
    step: Callable[[Any], Any] | None = None,
    *,
    update_s: float | None = None,
    augment: Timed | None = None,
    collate: Timed | None = None,
    seconds: float = SECONDS,
) -> Profile:
    """Measure a loader of any kind, and the step that trains on its batches.

    Takes some 4 times `seconds`. The loader is iterated pass after pass, so that the start of a pass counts
    as often as it comes. With neither `step` nor `update_s`, R stays unknown.

    Args:
        loader: gives batches, anew each time it is iterated.
        step: called with a batch; trains on it, transfer to the device included.
        update_s: seconds of an update, instead of a `step`.
        augment: what the loader augments with, where it was made with it: the time inside is known then.
        collate: likewise, what it makes batches with. With `collate` there is an R after augmentation, with
            both one before, too.
        seconds: what each part is timed for.

    Raises:
        LoaderError: the loader is empty or ends, or a timed function is never called. Errors of the loader
            and of the step pass through.
    """
    real_number(seconds, "profile_loader: seconds", 1e-3, "give seconds, more than 0")
    functions = {"augment": augment, "collate": collate}
    inside = {name: one for name, one in functions.items() if one is not None}
    before: dict[str, float] = {}
    kept: list[Any] = []
    coming = _keeping(endless(loader), kept)
    whole = durations(
        coming, seconds, begin=lambda: before.update({name: one.seconds for name, one in inside.items()})
    )
    for name, one in inside.items():
        if not one.calls:
            raise LoaderError(
                f"The function {name} was never called while the loader ran; let the loader be made with it, "
                "and not before it has its clock."
            )
    # workers do their work side by side
    at_once = max(1, getattr(loader, "num_workers", 0)) * len(whole.seconds)
    took = {name: (one.seconds - before[name]) / at_once for name, one in inside.items()}
    taken, upstream, host = _apart(whole, took)
    stages = taken
    device = None
    together = None
    if step is not None:
        device = durations(repeated(step, kept), seconds)
        together = at_work(coming, step, seconds)
    elif update_s is not None:
        update_s = real_number(update_s, "profile_loader: update_s", 1e-12, "give seconds, more than 0")
        device = Durations(np.full(SEGMENTS, update_s))
    if device is not None:
        stages = {**taken, "update": device}
    examples, size = measured_bytes(kept[0])
    bytes_each = dict.fromkeys(upstream, size // max(1, examples))
    there_are = _length(getattr(loader, "dataset", None))
    return Profile(examples, there_are, bytes_each, stages, upstream, host, device, together)


def at_work(batches: Iterator[Any], use: Callable[[Any], Any], seconds: float) -> Together:
    """The pipeline and its consumer together, for about so many seconds."""

    def used() -> Iterator[float]:
        for start, batch in _asked(batches):
            waited = time.perf_counter() - start
            use(batch)
            finish()
            yield waited

    running = used()
    warm(running, seconds)
    waits: list[float] = []
    taken = moments(map(waits.append, running), seconds, _KEPT)
    spent = taken[-1] - taken[0]
    return Together(spent / len(waits), sum(waits) / spent)


def endless(loader: Iterable[Any]) -> Iterator[Any]:
    """The batches of a loader, pass after pass; `LoaderError` if a pass has none."""
    total = before = 0
    while True:
        for batch in loader:
            total += 1
            yield batch
        if total == before:
            gave = f"ended after {total} batches and cannot be read again" if total else "gives no batches"
            raise LoaderError(
                f"The loader {gave}; give one that has some each time it is iterated, such as a DataLoader."
            )
        before = total


def measured_bytes(batch: Any) -> tuple[int, int]:
    """How many examples a batch has, and the bytes of all arrays and tensors in it; 0 for what has none."""
    if isinstance(batch, Mapping):
        batch = list(batch.values())
    if isinstance(batch, tuple | list):
        parts = [measured_bytes(part) for part in batch]
        return next((n for n, _ in parts if n), 0), sum(size for _, size in parts)
    return rows(batch) or 0, int(getattr(batch, "nbytes", 0))


def _length(dataset: Any) -> int | None:
    """How many examples a loader's data set has, where it says so."""
    try:
        return len(dataset)
    except TypeError:
        return None


def _apart(
    whole: Durations, took: Mapping[str, float]
) -> tuple[dict[str, Durations], dict[str, Durations], dict[str, float]]:
    """Stages, upstream and host time by insertion point, as far as the functions inside allow."""
    augment, collate = took.get("augment"), took.get("collate")
    of_whole = {"after_batching": (0.0, 0.0)}
    stages = {name: whole.times(min(1.0, one / whole.mean)) for name, one in took.items()}
    if collate is not None:
        of_whole["after_augmentation"] = collate, collate
        stages["batch"] = stages.pop("collate")
        if augment is not None:
            of_whole["before_augmentation"] = augment + collate, augment + collate
    points = [point for point in INSERTION_POINTS if point in of_whole]
    upstream = {point: whole.times(max(0.0, 1 - of_whole[point][0] / whole.mean)) for point in points}
    host = {point: of_whole[point][1] for point in points}
    rest = whole.times(max(0.0, 1 - sum(took.values()) / whole.mean))
    name = "read" if len(took) == 2 else "loader"
    return {name: rest, **stages}, upstream, host


def _asked(batches: Iterator[Any]) -> Iterator[tuple[float, Any]]:
    """Each batch with the moment at which it was asked for."""
    while True:
        start = time.perf_counter()
        yield start, next(batches)


def _keeping(batches: Iterable[Any], kept: list[Any]) -> Iterator[Any]:
    """The batches; the first ones are kept."""
    for batch in batches:
        if len(kept) < _KEPT:
            kept.append(batch)
        yield batch
