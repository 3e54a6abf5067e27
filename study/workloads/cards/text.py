"""Language models."""

from __future__ import annotations

from study.workloads.card import WorkloadCard

CARDS: tuple[WorkloadCard, ...] = ()
