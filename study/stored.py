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
    """What is known of a study's trials, by trial id: from the store, and from the journal what waits for it.

    `UserError` if the store is damaged or does not answer.
    """
    stored: dict[str, StoredTrial] = {}
    if results.server is not None or results.database.exists():
        from study.store import open_store
        from study.tracking import stored_trials

        stored = stored_trials(open_store(results.tracking_uri), study)
    if results.journal(study).exists():
        from study.journal import read_journal

        waiting = {one.trial_id: one for one in read_journal(results.journal(study)) if one.trial_id}
        stored |= {
            trial_id: entry.stored
            for trial_id, entry in waiting.items()
            if entry.replaces or not has_result(stored.get(trial_id))
        }
    return stored


def has_result(stored: StoredTrial | None) -> bool:
    """True if a trial need not run (again)."""
    return stored is not None and stored.outcome is not None and stored.outcome.is_result
