"""What the store is to hold of a run, as plain values: what tags, params and metrics are called.

The names are an interface: notebooks and other tools read them. An entry knows all that is to be written of a
trial or a search, so that it can wait in the journal (`study.journal`) for a store that does not answer, also
when the study file has changed since.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from study.plan import Search
from study.record import TrialRecord
from study.result import Outcome, Rank
from study.specmodel import RESERVED_NAMES
from study.stored import StoredTrial

KIND = "echostudy.kind"
TRIAL_ID = "echostudy.trial_id"
SEARCH_ID = "echostudy.search_id"
CONDITION_ID = "echostudy.condition_id"
OUTCOME = "echostudy.outcome"
ERROR = "echostudy.error"
PROTOCOL = "echostudy.protocol_version"
WORKLOAD_SOURCE = "echostudy.workload_source_sha256"
"""Of a trial of a user's own workload: the digest of the file whose code it ran."""

MAX_CURVE_POINTS = 200
NOT_CURVES = {"fresh_examples", "buffer_examples"}
"""The step itself, and a constant that is logged once: every curve costs time and room."""


@dataclass(frozen=True, slots=True)
class SearchFacts:
    """A search as the store names it; the trials' runs lie under its run."""

    id: str
    name: str
    condition_id: str
    params: Mapping[str, str]

    @classmethod
    def of(cls, search: Search) -> SearchFacts:
        """What the store is to know of a planned search."""
        condition, timing = search.condition, search.timing
        timed = {"R": f"{timing.R:g}", "burst": timing.burst, "adaptive": timing.adaptive} if timing else {}
        params = {
            "workload": condition.workload,
            "batch_size": condition.batch_size,
            "echo_factor": f"{condition.echo_factor:g}",
            "insertion_point": condition.insertion_point,
            "echo_buffer": condition.echo_buffer,
            "repeat": search.repeat,
            **timed,
        }
        return cls(search.id, search.label, search.condition_id, _texts(params))


@dataclass(frozen=True, slots=True)
class Entry:
    """What is to be written of the run of a trial, or of its search (where `trial_id` is None).

    `metrics` are (name, value, step); `time_ms` is when the run ended, in milliseconds since 1970, and
    `duration_ms` how long it took. `replaces`: an earlier result of the trial makes way.
    """

    time_ms: int
    duration_ms: int
    search: SearchFacts
    trial_id: str | None
    name: str
    status: str
    params: Mapping[str, str]
    tags: Mapping[str, str]
    metrics: tuple[tuple[str, float, int], ...]
    replaces: bool = False

    def as_line(self) -> str:
        """One line of JSON, from which `from_line` makes the same entry again, to the last digit."""
        return json.dumps(asdict(self), separators=(",", ":"))

    @classmethod
    def from_line(cls, line: str) -> Entry:
        """The entry of a line; `ValueError`, `TypeError` or `KeyError` if it is none."""
        values: Any = json.loads(line)
        if not isinstance(values, dict):
            raise ValueError("not an entry")
        search = SearchFacts(**values.pop("search"))
        metrics = tuple((str(name), float(value), int(step)) for name, value, step in values.pop("metrics"))
        return cls(search=search, metrics=metrics, **values)

    @property
    def stored(self) -> StoredTrial:
        """A trial's entry as `read_stored` will give it once it has been written."""
        last = {name: value for name, value, _ in self.metrics}
        return stored_from("", self.tags, last, self.params)


def trial_entry(record: TrialRecord, workload_source: str | None, *, replaces: bool = False) -> Entry:
    """A finished trial: its params, its curve and its outcome, or a crash's last line."""
    assert record.outcome is not None
    trial, crashed = record.trial, not record.outcome.is_result
    tags = {OUTCOME: record.outcome.value} | ({ERROR: record.error} if record.error else {})
    if workload_source:
        tags[WORKLOAD_SOURCE] = workload_source
    final = [(name, value, 0) for name, value in record.final_metrics().items()]
    search = SearchFacts.of(trial.search)
    return Entry(
        time_ms=_now_ms(),
        duration_ms=round(1000 * record.slot_s),
        search=search,
        trial_id=trial.id,
        name=f"point {trial.point}: {search.name}",
        status=final_status(record.outcome),
        params={**search.params, **_texts({"point": trial.point, **trial.metaparameters})},
        tags=tags,
        metrics=() if crashed else (*_curve(record), *final),
        replaces=replaces,
    )


def search_entry(search: Search, best: Rank | None, *, finished: bool) -> Entry:
    """How a search stands; `finished` once all its trials have a result."""
    metrics: dict[str, float] = {}
    if finished:
        metrics["reached"] = float(best is not None)
    if finished and best is not None:
        metrics |= {
            "fresh_examples_to_target": best.fresh_examples,
            "updates_to_target": float(best.updates),
            "best_point": float(best.point),
        }
    return Entry(
        time_ms=_now_ms(),
        duration_ms=0,
        search=SearchFacts.of(search),
        trial_id=None,
        name=search.label,
        status="FINISHED" if finished else "KILLED",
        params={},
        tags={},
        metrics=tuple((name, value, 0) for name, value in metrics.items()),
    )


def stored_from(
    run_id: str, tags: Mapping[str, str], metrics: Mapping[str, float], params: Mapping[str, str]
) -> StoredTrial:
    """What the tags, last metrics and params of a trial's run say of it."""

    def rank_from(place: str) -> Rank | None:
        if f"fresh_examples_{place}" not in metrics:
            return None
        point = int(params["point"])
        return Rank(metrics[f"fresh_examples_{place}"], int(metrics[f"updates_{place}"]), point)

    return StoredTrial(
        run_id=run_id,
        outcome=Outcome(tags[OUTCOME]) if OUTCOME in tags else None,
        rank=rank_from("to_target"),
        slot_s=metrics.get("slot_s", 0.0),
        training_s=metrics.get("training_s", 0.0),
        warm=bool(metrics.get("warm", 0.0)),
        workload_source=tags.get(WORKLOAD_SOURCE),
        diverged_at=rank_from("at_divergence"),
        evaluated="examples_consumed" in metrics,
        error=tags.get(ERROR, ""),
        metaparameters={name: float(text) for name, text in params.items() if name not in RESERVED_NAMES},
    )


def final_status(outcome: Outcome | None) -> str:
    """MLflow's run status: FINISHED for a result, FAILED for a crash, KILLED for what was cut off."""
    if outcome is None:
        return "KILLED"
    return "FINISHED" if outcome.is_result else "FAILED"


def _curve(record: TrialRecord) -> list[tuple[str, float, int]]:
    """The curve with step = fresh examples, thinned evenly to `MAX_CURVE_POINTS`; its end is kept."""
    stride = -(-len(record.evaluations) // MAX_CURVE_POINTS) or 1
    kept = record.evaluations[::-1][::stride][::-1]
    return [
        (key, float(value), round(one.fresh_examples))
        for one in kept
        for key, value in one.values.items()
        if key not in NOT_CURVES
    ]


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {key: str(value) for key, value in values.items()}


def _now_ms() -> int:
    return int(time.time() * 1000)
