"""Timed trials: a trial again, on the wall clock, behind a source that is held to a pace."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from study.fields import Count, Group, Values


class TimingSpec(Group):
    """How the winners of the searches are timed, under `measure: time`.

    `burst`: so many examples come out of the source at once, after the time of all of them. `adaptive`: time
    adaptive echoing, too, with the largest echo factor as its ceiling.
    """

    burst: Values[Count] = Field((1,), examples=["[1]"])
    adaptive: bool = Field(False, examples=["true"])


@dataclass(frozen=True, slots=True)
class Timing:
    """What a timed trial is held to.

    Attributes:
        R: a batch of fresh examples takes the source so many times as long as an update
            (`pipelines.throttle`); 0 = as fast as they come.
        burst: examples that come at once.
        adaptive: repeats only where nothing fresh is ready, at most as often as the condition's echo factor.
        update_s: seconds of an update, as measured before; what is to run does not depend on it.
    """

    R: float
    burst: int = 1
    adaptive: bool = False
    update_s: float = 0.0

    @property
    def label(self) -> str:
        """Readable, as in MLflow: `R=4 burst=512`."""
        return f"R={self.R:g}" + (f" burst={self.burst}" if self.burst > 1 else "")
