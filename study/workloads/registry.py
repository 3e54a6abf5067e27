"""What is known of every workload without loading it: cheap enough for `plan`, `status` and editors.

The workload itself (data, model, loss) is imported from its card's `factory` only where a trial runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from study.errors import UserError
from study.nearest import did_you_mean
from study.workloads.card import Metric, WorkloadCard
from study.workloads.cards import detection, images, text

__all__ = ["WORKLOADS", "Metric", "WorkloadCard", "workload_card"]

WORKLOADS: Mapping[str, WorkloadCard] = {
    card.name: card for card in (*images.CARDS, *text.CARDS, *detection.CARDS)
}


def workload_card(name: str) -> WorkloadCard:
    """The card of a workload; `UserError` with the nearest name if there is none."""
    if name not in WORKLOADS:
        raise UserError(f"There is no workload '{name}'; {did_you_mean(name, WORKLOADS)}")
    return WORKLOADS[name]
