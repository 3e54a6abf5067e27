"""Object detection."""

from __future__ import annotations

from study.workloads.card import Metric, WorkloadCard

METRICS = {
    "valid_map": Metric(higher_is_better=True, low=0, high=1),
    "valid_map50": Metric(higher_is_better=True, low=0, high=1),
}

METAPARAMETERS = (
    "learning_rate",
    "momentum",
    "weight_decay",
    "warmup_updates",
    "decay_every",
    "decay_factor",
)
"""What every `study.workloads.detection.DetectionWorkload` understands."""

CARDS: tuple[WorkloadCard, ...] = (
    WorkloadCard(
        name="scenes_ssd",
        factory="study.workloads.scenes:ScenesSsd",
        summary="composed scenes of Fashion-MNIST objects (4,000 / 150), crop, flip, SSD of 201k weights",
        train_examples=4000,
        metrics=METRICS,
        metaparameters=METAPARAMETERS,
        options=("channels_last",),
        data_set="fashion_mnist",
    ),
    WorkloadCard(
        name="coco_ssd",
        factory="study.workloads.coco:CocoSsd",
        summary="COCO 2017 (118,287 / 5,000), colours, crop and flip, SSD 300 on VGG-16",
        train_examples=None,
        metrics=METRICS,
        metaparameters=METAPARAMETERS,
        options=("channels_last", "on_error"),  # no autocast: boxes would be whole pixels off in bfloat16
        data_set="coco",
        target_note="recalled",
    ),
)
