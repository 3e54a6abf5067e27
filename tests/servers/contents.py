"""What an MLflow store holds of the small digits study, counted by kind."""

from collections import Counter
from dataclasses import dataclass

from servers.studies import SMALL, SPEC

from study.entry import OUTCOME, TRIAL_ID
from study.plan import make_plan
from study.spec import load_spec
from study.store import open_store
from study.tracking import runs_of_kind

KINDS = ("study", "search", "trial")


@dataclass(frozen=True)
class Contents:
    """Runs of each kind, statuses of all runs, and each trial's outcomes (one, if all is well)."""

    runs: dict[str, int]
    statuses: set[str]
    outcomes: dict[str, list[str]]


def contents(uri: str, name: str = "digits") -> Contents:
    """What the store at `uri` holds."""
    client = open_store(uri)
    found = {kind: list(runs_of_kind(client, name, kind)) for kind in KINDS}
    outcomes: dict[str, list[str]] = {}
    for run in found["trial"]:
        outcomes.setdefault(run.data.tags[TRIAL_ID], []).append(run.data.tags.get(OUTCOME, "none"))
    return Contents(
        {kind: len(runs) for kind, runs in found.items()},
        {run.info.status for runs in found.values() for run in runs},
        outcomes,
    )


def assert_complete(uri: str, settings: list[str] = SMALL) -> None:
    """Every trial of the plan is there once, with a result, and nothing is left open."""
    spec = load_spec(SPEC, settings)
    plan = make_plan(spec)
    held = contents(uri, spec.name)
    assert held.runs == {"study": 1, "search": len(plan.searches), "trial": len(plan.trials)}, held.runs
    assert set(held.outcomes) == {trial.id for trial in plan.trials}
    counts = Counter(outcome for outcomes in held.outcomes.values() for outcome in outcomes)
    assert not {"none", "crashed", "out_of_memory"} & set(counts), counts
    assert held.statuses == {"FINISHED"}
