"""What the store knows of a study's trials; MLflow, slow to load, is left out while there is no store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from study.folder import ResultsFolder
from study.result import Outcome, Rank


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """What the store knows of a trial.

    `diverged_at` is where a diverged one was found so (`study.counting.Ended`); `evaluated` is False for one
    that has no evaluation at all. `metaparameters` are those it ran with. `workload_source` is the digest of
    a user's own workload's file.
    """

    run_id: str
    outcome: Outcome | None
    rank: Rank | None
    slot_s: float
    training_s: float
    warm: bool
    workload_source: str | None = None
    diverged_at: Rank | None = None
    evaluated: bool = True
    error: str = ""
    metaparameters: Mapping[str, float] = field(default_factory=dict)


def read_stored(results: ResultsFolder, study: str) -> dict[str, StoredTrial]:
    """What the store of a results folder knows of a study, by trial id; `UserError` if it is damaged."""
    if not results.database.exists():
        return {}
    from study.store import open_store
    from study.tracking import stored_trials

    return stored_trials(open_store(results.tracking_uri), study)


def has_result(stored: StoredTrial | None) -> bool:
    """True if a trial need not run (again)."""
    return stored is not None and stored.outcome is not None and stored.outcome.is_result
