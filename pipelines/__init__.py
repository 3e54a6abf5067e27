"""Input pipelines with data echoing: exact order, exact accounting, exact resume."""

from pipelines.augment import Augmentation, Compose, RandomCrop, RandomFlip, RandomShift
from pipelines.batch import Batch
from pipelines.draws import Draws
from pipelines.echo import INSERTION_POINTS, EchoSpec
from pipelines.held import ChangedInPlaceError
from pipelines.ledger import Ledger
from pipelines.pace import SourceClock, throttle
from pipelines.pipeline import Pipeline
from pipelines.prefetch import Prefetch
from pipelines.shards import ShardSource, TarSource
from pipelines.sources import DatasetSource, MapSource, MemorySource, SourceError, StreamSource
from pipelines.trace import Trace
from pipelines.wrappers import echo_batches, echo_examples

__all__ = [
    "INSERTION_POINTS",
    "Augmentation",
    "Batch",
    "ChangedInPlaceError",
    "Compose",
    "DatasetSource",
    "Draws",
    "EchoSpec",
    "Ledger",
    "MapSource",
    "MemorySource",
    "Pipeline",
    "Prefetch",
    "RandomCrop",
    "RandomFlip",
    "RandomShift",
    "ShardSource",
    "SourceClock",
    "SourceError",
    "StreamSource",
    "TarSource",
    "Trace",
    "echo_batches",
    "echo_examples",
    "throttle",
]
