"""Input pipelines with data echoing: exact order, exact accounting, exact resume."""

from pipelines.augment import Augmentation, Compose, RandomCrop, RandomFlip, RandomShift
from pipelines.batch import Batch
from pipelines.dissect import profile_pipeline
from pipelines.draws import Draws
from pipelines.echo import INSERTION_POINTS, EchoSpec
from pipelines.held import ChangedInPlaceError
from pipelines.ledger import Ledger
from pipelines.pace import SourceClock, throttle
from pipelines.pipeline import Pipeline
from pipelines.prefetch import Prefetch
from pipelines.profile import Profile, profile_loader
from pipelines.shards import ShardSource, TarSource
from pipelines.sources import DatasetSource, MapSource, MemorySource, SourceError, StreamSource
from pipelines.stopwatch import Timed
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
    "Profile",
    "RandomCrop",
    "RandomFlip",
    "RandomShift",
    "ShardSource",
    "SourceClock",
    "SourceError",
    "StreamSource",
    "TarSource",
    "Timed",
    "Trace",
    "echo_batches",
    "echo_examples",
    "profile_loader",
    "profile_pipeline",
    "throttle",
]
