"""Vocabularies of word pieces, trained on the data themselves and kept under the data root.

Source of the method: byte-pair encoding, Sennrich et al., arXiv 1508.07909, on bytes (Radford et al. 2019),
as in the `tokenizers` library. Every text can be encoded, in any language; there is no unknown piece.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from study.data.root import data_folder
from study.errors import UserError

Tokens = NDArray[np.int32]

SMALLEST = 257
"""Tokens that every vocabulary has: the end of a text, and a piece for each byte."""


class Vocabulary:
    """Words in pieces, by number."""

    end = 0
    """The token that stands before and behind a text."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def __repr__(self) -> str:
        return f"Vocabulary({self.size}, {self.digest})"

    @property
    def size(self) -> int:
        """How many tokens there are, the end among them."""
        return int(self._tokenizer.get_vocab_size())

    @cached_property
    def digest(self) -> str:
        """16 hexadecimal digits that depend on the tokens and on how texts are parted into them."""
        return _digest(self._tokenizer.to_str())

    def encode(self, text: str) -> Tokens:
        """The tokens [pieces] of a text, without its end."""
        return np.asarray(self._tokenizer.encode(text, add_special_tokens=False).ids, dtype=np.int32)

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of such tokens."""
        return str(self._tokenizer.decode(list(tokens)))


def train_vocabulary(texts: Iterable[str], size: int) -> Vocabulary:
    """The vocabulary of at most `size` tokens that comes out of these texts; the same every time.

    Raises:
        ValueError: `size` leaves no room for all bytes.
    """
    if size < SMALLEST:
        raise ValueError(f"train_vocabulary: size is {size}; give at least {SMALLEST}.")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<|end|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return Vocabulary(tokenizer)


def kept_vocabulary(texts: Sequence[str], size: int) -> Vocabulary:
    """`train_vocabulary`, once for the same texts and size: the vocabulary is kept under the data root.

    Several processes may ask at the same time; each finds a whole vocabulary, and all find the same.

    Raises:
        ValueError: `size` leaves no room for all bytes.
        UserError: nothing can be written under the data root.
    """
    file = data_folder("vocabularies") / f"{_digest(str(size), *texts)}.json"
    try:
        return Vocabulary(Tokenizer.from_str(file.read_text(encoding="utf-8")))
    except Exception:  # not there, or damaged (the library raises bare exceptions): it is made anew
        vocabulary = train_vocabulary(texts, size)
        _keep(file, vocabulary._tokenizer.to_str().encode())
        return vocabulary


def kept_tokens(texts: Sequence[str], vocabulary: Vocabulary) -> list[Tokens]:
    """The tokens of each text, computed once for the same texts and vocabulary, and kept as the latter is."""
    file = data_folder("vocabularies") / f"{vocabulary.digest}-{_digest(*texts)}.npz"
    try:
        with np.load(file) as kept:
            return np.split(kept["tokens"], kept["ends"][:-1])
    except Exception:  # as above
        tokens = [vocabulary.encode(text) for text in texts]
        content = io.BytesIO()
        np.savez(content, tokens=np.concatenate(tokens), ends=np.cumsum([len(part) for part in tokens]))
        _keep(file, content.getvalue())
        return tokens


def _digest(*texts: str) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for text in texts:
        content = text.encode()
        digest.update(len(content).to_bytes(8, "big"))
        digest.update(content)
    return digest.hexdigest()


def _keep(file: Path, content: bytes) -> None:
    """Put the content into the file in one step, whoever else does the same."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
            part.write(content)
        os.replace(part.name, file)
    except OSError as error:
        raise UserError(
            f"Cannot write {file} ({error.strerror}); make the folder writable, or name another data root "
            "with ECHOSTUDY_DATA."
        ) from error
