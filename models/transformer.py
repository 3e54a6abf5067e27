"""A decoder-only Transformer language model."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


def transformer_lm(
    vocabulary: int,
    *,
    context: int,
    width: int = 512,
    depth: int = 6,
    heads: int = 8,
    feed_forward: int = 2048,
    dropout: float = 0.0,
    tied: bool = True,
) -> TransformerLM:
    """A causal Transformer of the base size of Vaswani et al. (arXiv 1706.03762, table 3), decoder only.

    Input: int64 token ids [batch, length], `length` at most `context`, ids below `vocabulary`.
    Output: logits [batch, length, vocabulary]; those at a position depend on the tokens up to it, so that
    padding behind a text changes nothing within it.

    Each of the `depth` layers is PyTorch's `TransformerEncoderLayer` under a causal mask, with normalisation
    before each part (pre-norm: it trains under plain SGD without a warm-up) and once more at the end.
    Positions are the paper's sinusoids, added to embeddings scaled by sqrt(width). `tied` lets the embedding
    be the output layer as well. The parameters number `depth * (4 * width**2 + 2 * width * feed_forward +
    feed_forward + 9 * width) + 2 * width + vocabulary * width`, the last term twice if not tied.

    Initialisation: embeddings and output layer normal with deviation width**-0.5, so that first logits have
    about unit variance; the layers PyTorch's default. It draws from torch's global generator, as dropout.
    A tied model begins by expecting each token once more, as its output layer finds the token's own embedding
    again, which is costly in a wide one (first loss 16 nats at width 512); one not tied begins undecided.

    Raises:
        ValueError: a size is not a whole number above 0, or `width` is odd or no multiple of `heads`.
    """
    sizes = {
        "vocabulary": vocabulary,
        "context": context,
        "width": width,
        "depth": depth,
        "heads": heads,
        "feed_forward": feed_forward,
    }
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"transformer_lm: {name} is {size}; give a whole number above 0.")
    if width % heads or width % 2:
        raise ValueError(
            f"transformer_lm: width is {width}; give an even multiple of the number of heads, {heads}."
        )
    layers = [
        nn.TransformerEncoderLayer(width, heads, feed_forward, dropout, batch_first=True, norm_first=True)
        for _ in range(depth)
    ]
    return TransformerLM(layers, nn.Embedding(vocabulary, width), context, dropout, tied)


class TransformerLM(nn.Module):
    """See `transformer_lm`, which makes it."""

    positions: Tensor
    mask: Tensor

    def __init__(
        self,
        layers: list[nn.TransformerEncoderLayer],
        embedding: nn.Embedding,
        context: int,
        dropout: float,
        tied: bool,
    ) -> None:
        super().__init__()
        vocabulary, width = embedding.weight.shape
        self.embedding = embedding
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, vocabulary, bias=False)
        self.dropout = nn.Dropout(dropout)
        nn.init.normal_(embedding.weight, std=width**-0.5)
        if tied:
            self.output.weight = embedding.weight
        else:
            nn.init.normal_(self.output.weight, std=width**-0.5)
        # Neither is learned, and both follow from the sizes.
        self.register_buffer("positions", sinusoids(context, width), persistent=False)
        mask = nn.Transformer.generate_square_subsequent_mask(context)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits [batch, length, vocabulary] of the token after each position.

        Raises:
            ValueError: the texts are longer than the context.
        """
        context, width = self.positions.shape
        length = tokens.shape[1]
        if length > context:
            raise ValueError(
                f"TransformerLM: texts of {length} tokens are longer than the context of {context}; cut "
                "them, or make the model with a larger context."
            )
        x = self.dropout(self.embedding(tokens) * math.sqrt(width) + self.positions[:length])
        mask = self.mask[:length, :length]
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        logits: Tensor = self.output(self.norm(x))
        return logits


def sinusoids(context: int, width: int) -> Tensor:
    """Vaswani et al.'s position signals [context, width]: sines in even columns, cosines in odd ones.

    Column pair i turns with wavelength 2 pi * 10000**(2 i / width) positions.
    """
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000) / width))
    angles = torch.arange(context)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
