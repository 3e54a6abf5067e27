"""Image classification."""

from __future__ import annotations

from study.workloads.card import CLASSIFICATION_METAPARAMETERS, CLASSIFICATION_METRICS, WorkloadCard

CARDS: tuple[WorkloadCard, ...] = (
    WorkloadCard(
        name="digits_convnet",
        factory="study.workloads.digits:DigitsConvnet",
        summary="scikit-learn's 8x8 digits (1,400 / 397), random shift, a conv net of 14k weights",
        train_examples=1400,
        metrics=CLASSIFICATION_METRICS,
        metaparameters=CLASSIFICATION_METAPARAMETERS,
    ),
)
