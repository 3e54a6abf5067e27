"""The paper's language models: Transformer base on LM1B and on Common Crawl, both streamed from shards.

The paper's vocabulary, text lengths, source shuffling and validation set are not known to us; those here are
the project's own. Its target, a cross entropy of 3.9, is recalled, and so is that it counts nats a token.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import ClassVar

import torch
from torch import nn

from models import transformer_lm
from pipelines import SourceError
from study.data.root import data_folder, require
from study.data.text import Record, json_documents, readable, sentences
from study.data.text_examples import Cut, OneSentence, PackedWindows, TextShards
from study.data.text_vocabulary import Vocabulary, kept_vocabulary
from study.errors import UserError
from study.workloads.options import WorkloadOptions
from study.workloads.text import LanguageModel

VOCABULARY = 32_000
VOCABULARY_CHARACTERS = 100_000_000
"""The vocabulary is trained on so many characters from the front of the training shards, by name."""


class ShardedText(LanguageModel):
    """Transformer base on shards of text; a subclass says where they lie and how they are read.

    Attributes:
        skipped: validation records that cannot be read and were left out, as `options.on_error: skip` asks
            for. The ledger counts those of the training stream.
    """

    name: ClassVar[str]
    length: ClassVar[int]
    shuffle_buffer: ClassVar[int]
    valid_examples: ClassVar[int]

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        train, valid = self.shards(require(data_folder(self.name), self.name))
        self._train = train
        texts = readable(chain.from_iterable(map(self.records, train)), options.on_error)
        self._vocabulary = kept_vocabulary(list(_first(texts, VOCABULARY_CHARACTERS)), VOCABULARY)
        self._cut = self.cut(self._vocabulary)
        self.skipped = 0
        self.valid = self._first_examples(valid)

    @abstractmethod
    def shards(self, folder: Path) -> tuple[list[Path], list[Path]]:
        """The shards for training and those for validation, in order; `UserError` if there are none."""

    @abstractmethod
    def records(self, shard: Path) -> Iterator[Record]:
        """The texts of a shard."""

    @abstractmethod
    def cut(self, vocabulary: Vocabulary) -> Cut:
        """What an example is."""

    def train_data(self) -> TextShards:
        """A stream of tokens and the tokens after them, int64 [length] each."""
        return TextShards(
            self._train, self._cut, shuffle_buffer=self.shuffle_buffer, on_error=self.options.on_error
        )

    def model(self) -> nn.Module:
        """Transformer base with an output layer of its own: with a full vocabulary, 51.7 million weights."""
        return transformer_lm(self._vocabulary.size, context=self.length, tied=False)

    def _first_examples(self, shards: list[Path]) -> tuple[torch.Tensor, torch.Tensor]:
        found = []
        for give in islice(chain.from_iterable(map(self._cut, shards)), self.valid_examples):
            try:
                found.append(give())
            except SourceError:
                if self.options.on_error != "skip":
                    raise
                self.skipped += 1
        if not found:
            raise UserError(
                f"{shards[0]} and what lies beside it hold no text to validate on; fetch it anew."
            )
        inputs, targets = zip(*found, strict=True)
        return torch.stack(inputs), torch.stack(targets)


class Lm1bTransformer(ShardedText):
    """The One Billion Word Benchmark (Chelba et al., arXiv 1312.3005); an example is one sentence.

    Longer sentences are cut behind 64 tokens, shorter ones padded. Validation: the first 4,096 sentences of
    the held-out shards but the first, `news.en.heldout-00000`, which is the benchmark's test set by custom.
    """

    name = "lm1b"
    length = 64
    shuffle_buffer = 65_536
    valid_examples = 4096

    def shards(self, folder: Path) -> tuple[list[Path], list[Path]]:
        """See `ShardedText`; as unpacked from the official archive, with or without its outermost folder."""
        train = _shards(folder, "training-monolingual.tokenized.shuffled/news.en-*")
        heldout = _shards(folder, "heldout-monolingual.tokenized.shuffled/news.en.heldout-*")
        valid = [shard for shard in heldout if not shard.name.startswith("news.en.heldout-00000")]
        if not valid:
            raise UserError(
                f"{heldout[0].parent} holds the benchmark's test set alone; put the other shards, "
                "news.en.heldout-00001-of-00050 and so on, there."
            )
        return train, valid

    def records(self, shard: Path) -> Iterator[Record]:
        """See `ShardedText`."""
        return sentences(shard)

    def cut(self, vocabulary: Vocabulary) -> Cut:
        """See `ShardedText`."""
        return OneSentence(vocabulary, self.length)


class CommonCrawlTransformer(ShardedText):
    """C4's pages of Common Crawl (Raffel et al., arXiv 1910.10683); an example is a window of 128 tokens.

    Validation: the first 1,024 windows of the shards with `validation` in their names. The paper's own
    Common Crawl corpus is not public; this is another one.
    """

    name = "common_crawl"
    length = 128
    shuffle_buffer = 16_384
    valid_examples = 1024

    def shards(self, folder: Path) -> tuple[list[Path], list[Path]]:
        """See `ShardedText`."""
        found = _shards(folder, "*.json.gz")
        train = [shard for shard in found if "validation" not in shard.name]
        valid = [shard for shard in found if "validation" in shard.name]
        if not train or not valid:
            missing = "training" if valid else "validation"
            raise UserError(
                f"{folder} holds no {missing} shards; put c4-train.*.json.gz and c4-validation.*.json.gz "
                f"there, or run 'echostudy data fetch {self.name}'."
            )
        return train, valid

    def records(self, shard: Path) -> Iterator[Record]:
        """See `ShardedText`."""
        return json_documents(shard)

    def cut(self, vocabulary: Vocabulary) -> Cut:
        """See `ShardedText`."""
        return PackedWindows(vocabulary, self.length)


def _shards(folder: Path, pattern: str) -> list[Path]:
    """The files of that pattern in the folder, or in one folder within it."""
    found = sorted(folder.glob(pattern)) or sorted(folder.glob(f"*/{pattern}"))
    if not found:
        raise UserError(
            f"{folder} holds no {pattern}; run 'echostudy data fetch {folder.name}', or put the official "
            "files there."
        )
    return found


def _first(texts: Iterable[str], characters: int) -> Iterator[str]:
    """Whole texts from the front, until there are so many characters."""
    for text in texts:
        if characters <= 0:
            return
        yield text
        characters -= len(text)
