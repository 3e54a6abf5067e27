"""Language models: what they share, and the one for any folder of text files.

Metric: `valid_loss`, the mean cross entropy in nats of the next token, over all tokens of the validation set.
A token is a word piece, so losses of different vocabularies do not compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from models import transformer_lm
from study.data.root import ROOT_VARIABLE, data_folder, data_root
from study.data.text import documents, readable
from study.data.text_examples import NO_TARGET, Pair, packed
from study.data.text_vocabulary import kept_tokens, kept_vocabulary
from study.errors import UserError
from study.workloads.base import Workload
from study.workloads.optimizers import nesterov
from study.workloads.options import WorkloadOptions

_AT_ONCE = 64
"""Validation examples in memory as logits at one time."""


class LanguageModel(Workload):
    """Predict the next token. A subclass sets `valid` and says how to read the training data."""

    valid: Pair
    """Validation tokens and the tokens after them, int64 [examples, length] each."""

    def loss(self, model: nn.Module, inputs: Tensor, targets: Tensor) -> Tensor:
        """Mean cross entropy over the tokens that have a token after them, nats."""
        return nn.functional.cross_entropy(
            model(inputs).flatten(0, 1), targets.flatten(), ignore_index=NO_TARGET
        )

    def evaluate(self, model: nn.Module, device: torch.device) -> dict[str, float]:
        """`valid_loss`, a mean over tokens, so that batches of short texts weigh less."""
        was_training = model.training
        model.eval()
        total, tokens = 0.0, 0
        with torch.inference_mode():
            for first in range(0, len(self.valid[0]), _AT_ONCE):
                inputs, targets = (part[first : first + _AT_ONCE] for part in self.valid)
                known = int((targets != NO_TARGET).sum())
                total += self.loss(model, inputs.to(device), targets.to(device)).item() * known
                tokens += known
        model.train(was_training)
        return {"valid_loss": total / tokens}

    def optimizer(self, model: nn.Module, metaparameters: Mapping[str, float]) -> torch.optim.Optimizer:
        """Nesterov momentum at a constant learning rate, as in the paper."""
        return nesterov(model, metaparameters)


class TextTransformer(LanguageModel):
    """A small Transformer on windows of the `.txt` documents in a folder, each document a file.

    The folder is `text` under the data root, or else `addresses`, or else `bible`. Of the documents, in the
    order of their names, every tenth is for validation, from the fifth on; of fewer than five, the last. The
    vocabulary is trained on the others.

    Attributes:
        skipped: documents that cannot be read and were left out, as `options.on_error: skip` asks for.
    """

    FOLDERS = ("text", "addresses", "bible")
    VOCABULARY = 1024
    LENGTH = 32
    VALID_WINDOWS = 256
    """At most so many, evenly spread: 8,192 tokens, which cost about as much as four updates."""

    def __init__(self, options: WorkloadOptions = WorkloadOptions()) -> None:
        super().__init__(options)
        folder = _first_folder(self.FOLDERS)
        records = list(documents(folder))
        texts = list(readable(records, options.on_error))
        self.skipped = len(records) - len(texts)
        if len(texts) < 2:
            raise UserError(
                f"The folder {folder} holds {len(texts)} documents, too few to train on some and validate on "
                "others; put at least two .txt files there."
            )
        valid = texts[4::10] or texts[-1:]
        train = [text for i, text in enumerate(texts) if i % 10 != 4][: len(texts) - len(valid)]
        self._vocabulary = kept_vocabulary(train, self.VOCABULARY)
        self._train = self._windows(train, folder)
        inputs, targets = self._windows(valid, folder)
        chosen = np.unique(np.linspace(0, len(inputs) - 1, self.VALID_WINDOWS).round().astype(np.int64))
        self.valid = inputs[chosen], targets[chosen]

    def train_data(self) -> Pair:
        """Tokens and the tokens after them, int64 [windows, 32] each."""
        return self._train

    def model(self) -> nn.Module:
        """Two layers of width 64: 231,168 weights, 131,072 of them in embedding and output layer."""
        return transformer_lm(
            self._vocabulary.size,
            context=self.LENGTH,
            width=64,
            depth=2,
            heads=4,
            feed_forward=256,
            tied=False,
        )

    def _windows(self, texts: list[str], folder: Path) -> Pair:
        inputs, targets = packed(kept_tokens(texts, self._vocabulary), self.LENGTH, end=self._vocabulary.end)
        if not len(inputs):
            raise UserError(
                f"The folder {folder} holds less than the {self.LENGTH} tokens of one example to train on or "
                "to validate on; put more or longer documents there."
            )
        return inputs, targets


def _first_folder(names: tuple[str, ...]) -> Path:
    folders = [data_folder(name) for name in names]
    for folder in folders:
        if folder.is_dir():
            return folder
    raise UserError(
        f"There is no text to train on: {', '.join(names)} were looked for in {data_root()}; run "
        f"'echostudy data fetch addresses', put .txt documents of your own into {folders[0]}, or set "
        f"{ROOT_VARIABLE} to the folder that holds one of them."
    )
