"""Where to echo, how often and with how large a buffer: from a profile, and from what a study has measured.

The model is that of Choi et al., arXiv 1907.05550, section 2 (`analysis.tables.modelled_time`): up to e = R
repeats cost no time, so that echoing saves between nothing, where they teach nothing, and a factor e, where
they teach as much as fresh examples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

import pandas as pd

from analysis.advice import CHOSEN_AFTER, fastest, shown_to_save, time_to_expect
from analysis.figures.style import insertion_name
from study.sizes import size_words

MEMORY_BYTES = 10**9
"""What an echo buffer may take, unless told otherwise."""

NEAR = 0.9
"""An earlier insertion point is preferred if its R is at least this share of the largest: later ones repeat
more of the work, and teach less."""

BURST = 1.5
"""Batches that come at once, from which on they are said to."""

APART = 1.2
"""Times that are so many times each other differ: a step's and the longer of pipeline and update, whose work
then does not overlap; the average and the middle half of a measurement, which was then disturbed."""


@dataclass(frozen=True, slots=True)
class Placement:
    """What to do.

    Attributes:
        decision: `unknown` where R is.
        insertion_point: None unless the decision is to echo.
        echo_factor: 1 unless it is.
        echo_buffer: in examples.
        speed_up: times less time to the target, low and high.
        basis: `model`, or the name of the study that the range comes from.
        sentences: the same in words, with what to mind.
    """

    decision: Literal["echo", "do not echo", "unknown"]
    insertion_point: str | None
    echo_factor: float
    echo_buffer: int
    speed_up: tuple[float, float]
    basis: str
    sentences: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values by name, for JSON."""
        return asdict(self)


def placement(
    profile: Mapping[str, Any],
    memory_bytes: int = MEMORY_BYTES,
    study: str = "",
    ratios: pd.DataFrame | None = None,
) -> Placement:
    """The advice for a profile (`pipelines.Profile.as_dict`).

    Args:
        profile: what was measured.
        memory_bytes: what the echo buffer may take.
        study: the name of a study, with its
        ratios: the table of `analysis.tables.stored_ratios`; then what repeats are worth is not modelled but
            measured, as far as it has a condition with echoing at an insertion point whose R is known.
    """
    by_point: Mapping[str, float] = profile["R"]
    minding = tuple(_to_mind(profile))
    if not by_point:
        batch_ms = 1000 * profile["upstream_s"]["after_batching"]
        said = f"R is unknown without an update: a batch takes {batch_ms:.3g} ms to make, so that echoing may"
        said += " pay where an update takes less."
        return Placement("unknown", None, 1.0, 0, (1.0, 1.0), "model", (said, *minding))
    largest = max(by_point, key=lambda point: by_point[point])
    factor = rounded_down(by_point[largest])
    if factor <= 1:
        said = f"Do not echo: R is {by_point[largest]:.2f} at most ({insertion_name(largest)}), so that the "
        said += "pipeline keeps up with the device."
        return Placement("do not echo", None, 1.0, 0, (1.0, 1.0), "model", (said, *minding))
    found = None
    if ratios is not None:
        found = _by_study(profile, memory_bytes, study, ratios)
    if found is None:
        found = _by_model(profile, memory_bytes)
        if ratios is not None:
            nothing = (
                f"The study {study} has no echoing at these points, within this memory, beside its baseline."
            )
            minding = (nothing, *minding)
    said_after = (*_spread(profile, found.insertion_point or largest), *minding)
    return Placement(**{**asdict(found), "sentences": (*found.sentences, *said_after)})


def measured_sentences(profile: Mapping[str, Any]) -> Iterator[str]:
    """What the measurement shows: the longest stage, who waits, and bursts whose pauses outlast an update."""
    stages: Mapping[str, float] = profile["stages_s"]
    longest = max(stages, key=lambda name: stages[name])
    yield f"The longest stage is {longest}: {1000 * stages[longest]:.3g} ms a batch."
    at_once, update_s = profile["burst_batches"], profile["update_s"] or 0.0
    if at_once >= BURST and at_once * profile["upstream_s"]["after_batching"] > update_s:
        yield f"Batches come in bursts: about {at_once:.2g} at once, then a pause."
    share = profile["device_wait_share"]
    if share is not None:
        step = f", a step takes {1000 * profile['step_s']:.3g} ms" if profile["step_s"] else ""
        yield f"The device waits for {100 * share:.0f}% of the time{step}."


def rounded_down(value: float) -> float:
    """To two digits: no more than what was measured allows."""
    if value <= 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.floor(value / unit + 1e-9) * unit, 10)


def _by_model(profile: Mapping[str, Any], memory_bytes: int) -> Placement:
    """The earliest point with about the largest R, and e = R there."""
    by_point: Mapping[str, float] = profile["R"]
    point = next(one for one in by_point if by_point[one] >= NEAR * max(by_point.values()))
    factor = rounded_down(by_point[point])
    buffer, why = _buffer(profile, point, memory_bytes)
    words = f"buffer = {buffer:,} examples" if buffer else "without a buffer"
    low, high = _modelled(by_point[point], factor)
    expected = (
        f"Expect {low:.2g}x to {high:.2g}x less time to the target (modelled): {high:.2g}x if repeats teach "
        f"as much as fresh examples, {low:.2g}x if they teach nothing, for up to e = R they cost no time."
    )
    return Placement(
        "echo",
        point,
        factor,
        buffer,
        (low, high),
        "model",
        (
            f"Echo {insertion_name(point)}, e = {factor:g}, {words} ({why}).",
            expected,
            "What repeats are worth to a model, only a study tells: run one, and profile again with --study.",
        ),
    )


def _by_study(
    profile: Mapping[str, Any], memory_bytes: int, study: str, ratios: pd.DataFrame
) -> Placement | None:
    """The study's condition with the shortest modelled time at the measured R; None if it has none."""
    by_point: Mapping[str, float] = profile["R"]
    sizes = profile["example_bytes"]
    echoed = ratios[ratios["insertion_point"].isin(list(by_point)) & ratios["ratio_to_baseline"].notna()]
    each = echoed["insertion_point"].map(lambda point: sizes.get(point, 0))
    fitting = echoed[echoed["echo_buffer"] * each <= memory_bytes]
    if fitting.empty:
        return None
    best = fastest(shown_to_save(fitting), by_point)
    if best is None:
        said = f"Do not echo to save time: no condition of the study {study} is shown to be faster at this R."
        return Placement("do not echo", None, 1.0, 0, (1.0, 1.0), study, (said,))
    point, factor = str(best["insertion_point"]), float(best["echo_factor"])
    low, high = _modelled(by_point[point], factor)
    sentences = [f"By the study {study}, echo {time_to_expect(best)}"]
    sentences.append(f"Without its measurements the model would say {low:.2g}x to {high:.2g}x.")
    if (most := float(fitting["echo_factor"].max())) < rounded_down(by_point[point]):
        sentences.append(
            f"It has tried no e above {most:g}, and R is {by_point[point]:.2g}: more may do better."
        )
    if best["batch_size"] != profile["batch_size"]:
        sentences.append(f"It trained on batches of {best['batch_size']:,}, not {profile['batch_size']:,}.")
    if len(fitting) > 1:
        sentences.append(CHOSEN_AFTER)
    speed_up = float(best["speed_up_low"]), float(best["speed_up_high"])
    return Placement("echo", point, factor, int(best["echo_buffer"]), speed_up, study, tuple(sentences))


def _modelled(ratio: float, factor: float) -> tuple[float, float]:
    """Times less time to the target: if repeats teach nothing, and if as much as fresh examples."""
    pace = max(ratio, 1.0) / max(ratio, factor)
    return pace, pace * factor


def _buffer(profile: Mapping[str, Any], point: str, memory_bytes: int) -> tuple[int, str]:
    """How many examples an echo buffer of that memory holds, no more than there are; and why so many."""
    each, batch_size = profile["example_bytes"].get(point, 0), profile["batch_size"]
    if not each or not batch_size:
        return 0, "how large an example is could not be told"
    holds = int(rounded_down(memory_bytes // each))
    if holds < (batch_size if point == "after_batching" else 1):
        return 0, f"{size_words(memory_bytes)} would hold too little"
    there_are = profile["examples"]
    buffer = min(holds, there_are) if there_are else holds
    filling = buffer / batch_size * profile["upstream_s"][point]
    all_of_them = ", all there are" if buffer == there_are else ""
    return buffer, f"{size_words(buffer * each)}{all_of_them}; to fill it first takes {_duration(filling)}"


def _spread(profile: Mapping[str, Any], point: str) -> Iterator[str]:
    """That R is uncertain where it is."""
    ratio, (low, high) = profile["R"][point], profile["R_quartiles"][point]
    if low <= 1 < ratio or not low / APART < ratio < high * APART:
        yield (
            f"R is uncertain: {ratio:.2f} on average, {low:.2f} to {high:.2f} in the middle half of the "
            "measurement; measure longer with --seconds."
        )


def _to_mind(profile: Mapping[str, Any]) -> Iterator[str]:
    """What stands against the model, or the measurement: that the parts do not make up the whole."""
    step_s, update_s = profile["step_s"], profile["update_s"]
    if step_s is None or update_s is None:
        return
    upstream_s = profile["upstream_s"]["after_batching"]
    both, longer = upstream_s + update_s, max(upstream_s, update_s)
    if step_s > APART * both:
        yield (
            f"A step takes {1000 * step_s:.3g} ms, more than pipeline and update one after the other "
            f"({1000 * both:.3g} ms): the machine was busy, or they hinder each other; measure again."
        )
    elif step_s > APART * longer:
        yield (
            f"A step takes {1000 * step_s:.3g} ms, though the longer of pipeline and update takes "
            f"{1000 * longer:.3g} ms: they hardly work side by side, as R supposes. Let the pipeline read "
            "ahead (workers, prefetching), with processors of its own, first."
        )


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.3g} min" if seconds >= 100 else f"{seconds:.2g} s"
