"""From texts to training examples: tokens [length], and for each the token after it [length].

A text is read as `end, piece, piece, ..., end`. Where there is no token after it the target is `NO_TARGET`,
which PyTorch's cross entropy leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from pipelines import ShardSource
from study.data.text import Record, TextError, json_documents, sentences
from study.data.text_vocabulary import Tokens, Vocabulary

NO_TARGET = -100

Pair = tuple[Tensor, Tensor]


def example(tokens: Tokens, length: int) -> Pair:
    """Inputs and targets, int64 [length] each, of at most `length` + 1 tokens; padded behind."""
    inputs = np.zeros(length, dtype=np.int64)
    targets = np.full(length, NO_TARGET, dtype=np.int64)
    steps = len(tokens) - 1
    inputs[:steps] = tokens[:-1]
    targets[:steps] = tokens[1:]
    return torch.from_numpy(inputs), torch.from_numpy(targets)


def whole_windows(tokens: Tokens, length: int) -> Tokens:
    """[windows, `length` + 1] from the front of the tokens; what does not fill a window is left over.

    Windows share one token with the next, so that every token but the first is predicted exactly once.
    """
    windows = (len(tokens) - 1) // length
    if windows < 1:
        return np.empty((0, length + 1), dtype=tokens.dtype)
    return np.lib.stride_tricks.sliding_window_view(tokens, length + 1)[::length]


def windows(texts: Iterable[Tokens], length: int, end: int) -> Iterator[Tokens]:
    """Windows over the texts one after the other, `end` before, between and behind them.

    The last window may be shorter, so that none of the texts is lost.
    """
    ending = np.array([end], dtype=np.int32)
    waiting = ending
    for text in texts:
        waiting = np.concatenate([waiting, text, ending])
        whole = whole_windows(waiting, length)
        yield from whole
        waiting = waiting[len(whole) * length :]
    if len(waiting) > 1:
        yield waiting


def packed(texts: Iterable[Tokens], length: int, end: int) -> Pair:
    """The whole ones of those windows as inputs and targets, int64 [windows, length] each."""
    ending = np.array([end], dtype=np.int32)
    parts = [part for text in texts for part in (text, ending)]
    whole = torch.from_numpy(whole_windows(np.concatenate([ending, *parts]), length).astype(np.int64))
    return whole[:, :-1].contiguous(), whole[:, 1:].contiguous()


class Cut(Protocol):
    """How a shard is cut into examples: calls of the functions it gives make them, in turn."""

    def __call__(self, shard: Path) -> Iterator[Callable[[], Pair]]:
        """The examples of a shard; see `ShardSource.examples`."""
        ...


@dataclass(frozen=True)
class OneSentence:
    """An example a sentence, a line each: cut behind its first `length` tokens, or padded."""

    vocabulary: Vocabulary
    length: int

    def __call__(self, shard: Path) -> Iterator[Callable[[], Pair]]:
        """See `Cut`."""
        return (partial(self._example, sentence) for sentence in sentences(shard))

    def _example(self, sentence: Record) -> Pair:
        if isinstance(sentence, TextError):
            raise sentence
        end = self.vocabulary.end
        tokens = np.array([end, *self.vocabulary.encode(sentence), end], dtype=np.int32)
        return example(tokens[: self.length + 1], self.length)


@dataclass(frozen=True)
class PackedWindows:
    """Windows of `length` tokens over the JSON documents of a shard; see `windows`.

    Where one window ends depends on the tokens before it, so going past examples costs their encoding.
    """

    vocabulary: Vocabulary
    length: int

    def __call__(self, shard: Path) -> Iterator[Callable[[], Pair]]:
        """See `Cut`."""
        damage: list[TextError] = []
        for window in windows(self._encoded(shard, damage), self.length, self.vocabulary.end):
            yield from (partial(_raise, error) for error in damage)
            damage.clear()
            yield partial(example, window, self.length)
        yield from (partial(_raise, error) for error in damage)

    def _encoded(self, shard: Path, damage: list[TextError]) -> Iterator[Tokens]:
        """The documents that can be read; of the others, why not, goes into `damage`."""
        for document in json_documents(shard):
            if isinstance(document, TextError):
                damage.append(document)
            else:
                yield self.vocabulary.encode(document)


class TextShards(ShardSource):
    """Shards of text, streamed: see `ShardSource`; `cut` says what an example is."""

    def __init__(
        self, shards: Iterable[Path], cut: Cut, *, shuffle_buffer: int = 0, on_error: str = "raise"
    ) -> None:
        super().__init__([*shards], f"text shards ({cut})", shuffle_buffer=shuffle_buffer, on_error=on_error)
        self._cut = cut

    def examples(self, shard: str) -> Iterator[Callable[[], Pair]]:
        """See `ShardSource`."""
        return self._cut(Path(shard))


def _raise(error: TextError) -> Pair:
    raise error
