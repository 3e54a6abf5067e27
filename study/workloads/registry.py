"""What is known of every workload without loading it: cheap enough for `plan`, `status` and editors.

The workload itself (data, model, loss) is imported from its card's `factory` only where a trial runs.
"""

from __future__ import annotations

from collections.abc import Mapping

from study.errors import UserError
from study.nearest import did_you_mean
from study.workloads.card import Metric, WorkloadCard
from study.workloads.cards import detection, images, text
from study.workloads.own import own_card
from study.workloads.reference import is_own

__all__ = ["WORKLOADS", "Metric", "WorkloadCard", "workload_card"]

WORKLOADS: Mapping[str, WorkloadCard] = {
    card.name: card for card in (*images.CARDS, *text.CARDS, *detection.CARDS)
}


def workload_card(name: str) -> WorkloadCard:
    """The card of a workload of ours or, by its file, of a user's own.

    Raises:
        UserError: there is none; with the nearest name.
    """
    if is_own(name):
        return own_card(name)
    if name not in WORKLOADS:
        raise UserError(f"There is no workload '{name}'; {did_you_mean(name, WORKLOADS)}")
    return WORKLOADS[name]
