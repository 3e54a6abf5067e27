"""Input pipelines with data echoing: exact order, exact accounting, exact resume."""

from pipelines.augment import Augmentation, Compose, RandomCrop, RandomFlip, RandomShift
from pipelines.batch import Batch
from pipelines.draws import Draws
from pipelines.echo import INSERTION_POINTS, EchoSpec
from pipelines.indexed import Pipeline
from pipelines.ledger import Ledger
from pipelines.wrappers import echo_batches, echo_examples

__all__ = [
    "INSERTION_POINTS",
    "Augmentation",
    "Batch",
    "Compose",
    "Draws",
    "EchoSpec",
    "Ledger",
    "Pipeline",
    "RandomCrop",
    "RandomFlip",
    "RandomShift",
    "echo_batches",
    "echo_examples",
]
