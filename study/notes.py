"""What is worth knowing of a study before it runs, and no error: one sentence each."""

from __future__ import annotations

from collections.abc import Mapping

from study.plan import Plan
from study.stored import StoredTrial
from study.workloads.reference import own_file, source_digest, workload_name
from study.workloads.registry import workload_card

BOTH_SIDES = {"before_augmentation", "after_augmentation"}


def study_notes(plan: Plan, stored: Mapping[str, StoredTrial]) -> list[str]:
    """Whose code will run, whether it has changed since, and which conditions coincide."""
    notes = (_own_code(plan), _changed_code(plan, stored), _no_augmentation(plan))
    return [note for note in notes if note]


def _own_code(plan: Plan) -> str:
    file = own_file(plan.spec.workload)
    return f"Workload {workload_name(plan.spec.workload)}: the code in {file} is run." if file else ""


def _changed_code(plan: Plan, stored: Mapping[str, StoredTrial]) -> str:
    """Ids do not depend on a file's content: a comment would throw results away, an edit is to be told."""
    digest = source_digest(plan.spec.workload)
    known = [stored[trial.id] for trial in plan.trials if trial.id in stored] if stored else []
    others = sum(one.workload_source not in (None, digest) for one in known)
    if digest is None or not others:
        return ""
    name = workload_name(plan.spec.workload).partition(":")[0]
    return (
        f"Warning: {name} has changed since {others} of the {len(known)} stored trials ran; "
        "if that changes results, give the study another name or --results."
    )


def _no_augmentation(plan: Plan) -> str:
    card = workload_card(plan.spec.workload)
    asked = {condition.insertion_point for condition in plan.conditions}
    if card.augments or not asked >= BOTH_SIDES:
        return ""
    return (
        f"{card.name} has no augmentation: echoing before and after it is the same, and the conditions "
        "before_augmentation and after_augmentation will have identical results."
    )
