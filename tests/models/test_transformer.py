"""The language model against the formulas of its paper, and the mask against what it is to hide."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from models import transformer_lm
from models.transformer import sinusoids

torch.set_num_threads(1)

SMALL = {"context": 12, "width": 16, "depth": 2, "heads": 4, "feed_forward": 24}


def small(vocabulary=31, **changes) -> nn.Module:
    torch.manual_seed(5)
    return transformer_lm(vocabulary, **{**SMALL, **changes})


def some_tokens(*shape) -> torch.Tensor:
    return torch.randint(0, 31, shape, generator=torch.Generator().manual_seed(7))


@pytest.mark.parametrize("training", [True, False])
@settings(max_examples=30)
@given(changed=st.integers(1, 11), token=st.integers(0, 30))
def test_a_token_never_sees_the_future(training, changed, token):
    model = small().train(training)
    tokens = some_tokens(3, 12)
    other = tokens.clone()
    other[:, changed:] = (tokens[:, changed:] + 1 + token) % 31
    with torch.no_grad():
        before, after = model(tokens), model(other)
    assert torch.equal(before[:, :changed], after[:, :changed])
    if token < 30:  # then the tokens really are others
        assert not torch.equal(before[:, changed], after[:, changed])


def test_every_token_sees_the_whole_past():
    model, tokens = small(), some_tokens(1, 12)
    other = tokens.clone()
    other[0, 0] = (other[0, 0] + 1) % 31
    assert ((model(tokens) - model(other)).abs().amax(2) > 0).all()


@settings(max_examples=30)
@given(padding=st.integers(0, 30), length=st.integers(1, 11))
def test_padding_behind_a_text_changes_nothing_within_it(padding, length):
    model = small().eval()
    tokens = some_tokens(2, 12)
    padded = tokens.clone()
    padded[:, length:] = padding
    with torch.no_grad():
        alone, behind = model(tokens[:, :length]), model(padded)[:, :length]
    assert torch.allclose(alone, behind, atol=1e-5)


@pytest.mark.parametrize("tied", [True, False])
@settings(max_examples=30)
@given(
    vocabulary=st.integers(1, 40),
    width=st.sampled_from([4, 8, 12]),
    depth=st.integers(1, 3),
    feed_forward=st.integers(1, 20),
)
def test_parameters_are_counted_by_the_formula(tied, vocabulary, width, depth, feed_forward):
    model = small(vocabulary, width=width, depth=depth, feed_forward=feed_forward, tied=tied)
    attention = 4 * (width * width + width)
    two_layers = 2 * width * feed_forward + feed_forward + width
    norms = 2 * 2 * width
    expected = depth * (attention + two_layers + norms) + 2 * width + vocabulary * width * (2 - tied)
    assert expected == depth * (
        4 * width**2 + 2 * width * feed_forward + feed_forward + 9 * width
    ) + 2 * width + vocabulary * width * (2 - tied)
    assert sum(weights.numel() for weights in model.parameters()) == expected


def test_the_base_size_is_the_default():
    with torch.device("meta"):
        model = transformer_lm(32_000, context=64)
    assert sum(weights.numel() for weights in model.parameters()) == 6 * 3_152_384 + 2 * 512 + 32_000 * 512


def by_hand(model: nn.Module, tokens: torch.Tensor, heads: int) -> torch.Tensor:
    """The model of one text, in float64, position by position and head by head, from its weights alone."""
    weights = {name: value.double() for name, value in model.state_dict().items()}
    width = weights["embedding.weight"].shape[1]
    size = width // heads

    def norm(x, name):
        x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
        return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def linear(x, name, joint="."):
        return x @ weights[f"{name}{joint}weight"].T + weights[f"{name}{joint}bias"]

    x = weights["embedding.weight"][tokens] * width**0.5
    for place in range(len(tokens)):
        for column in range(width):
            angle = place / 10_000 ** ((column - column % 2) / width)
            x[place, column] += math.cos(angle) if column % 2 else math.sin(angle)
    for i in range(len(model.layers)):
        layer = f"layers.{i}"
        q, k, v = linear(norm(x, f"{layer}.norm1"), f"{layer}.self_attn.in_proj", "_").chunk(3, dim=-1)
        mixed = torch.zeros_like(x)
        for head in range(heads):
            part = slice(head * size, (head + 1) * size)
            for place in range(len(tokens)):
                scores = k[: place + 1, part] @ q[place, part] / size**0.5
                mixed[place, part] = scores.softmax(0) @ v[: place + 1, part]
        x = x + linear(mixed, f"{layer}.self_attn.out_proj")
        hidden = linear(norm(x, f"{layer}.norm2"), f"{layer}.linear1").clamp(min=0)
        x = x + linear(hidden, f"{layer}.linear2")
    return norm(x, "norm") @ weights["output.weight"].T


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_logits_are_those_of_the_formulas(training, tied):
    model = small(tied=tied).train(training)
    tokens = some_tokens(2, 9)
    with torch.no_grad():
        logits = model(tokens)
    for ours, text in zip(logits, tokens, strict=True):
        assert torch.allclose(ours.double(), by_hand(model, text, heads=4), atol=1e-5)


def test_positions_are_sines_and_cosines_of_the_paper():
    table = sinusoids(50, 8)
    for place in range(50):
        for pair in range(4):
            angle = place / 10_000 ** (2 * pair / 8)
            assert table[place, 2 * pair].item() == pytest.approx(math.sin(angle), abs=1e-5)
            assert table[place, 2 * pair + 1].item() == pytest.approx(math.cos(angle), abs=1e-5)


def test_the_same_seed_gives_the_same_model_and_another_seed_another():
    tokens = some_tokens(2, 12)
    torch.manual_seed(5)
    first = small()(tokens)
    assert torch.equal(first, small()(tokens))
    torch.manual_seed(6)
    assert not torch.equal(first, transformer_lm(31, **SMALL)(tokens))


def test_layers_do_not_begin_as_copies_of_each_other():
    first, second = small().layers
    assert not torch.equal(first.linear1.weight, second.linear1.weight)


def test_an_untrained_model_is_undecided_and_a_tied_one_expects_its_last_token_again():
    tokens = torch.randint(0, 1000, (32, 17), generator=torch.Generator().manual_seed(1))
    losses = {}
    for tied in (True, False):
        torch.manual_seed(0)
        model = transformer_lm(1000, context=16, width=64, depth=2, heads=4, feed_forward=128, tied=tied)
        logits = model(tokens[:, :-1])
        assert logits.var().item() == pytest.approx(1, rel=0.1)
        losses[tied] = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).item()
        repeats = (logits.argmax(2) == tokens[:, :-1]).double().mean()
        assert repeats > 0.9 if tied else repeats < 0.1
    # logits of unit variance cost half a nat more than equal ones
    assert losses[False] == pytest.approx(math.log(1000) + 0.5, abs=0.1)
    assert losses[True] > losses[False]


def test_a_model_with_a_tied_output_has_one_table_and_trains_it():
    model = small()
    assert model.output.weight is model.embedding.weight
    model(some_tokens(2, 12)).logsumexp(2).sum().backward()
    assert all(weights.grad is not None and weights.grad.abs().sum() > 0 for weights in model.parameters())


def test_dropout_acts_in_training_alone():
    model, tokens = small(dropout=0.5), some_tokens(2, 12)
    assert not torch.equal(model(tokens), model(tokens))
    model.eval()
    assert torch.equal(model(tokens), model(tokens))


def test_it_runs_in_bfloat16_with_a_mask_that_still_holds():
    model, tokens = small(), some_tokens(2, 12)
    other = tokens.clone()
    other[:, 6:] = 0
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        before, after = model(tokens), model(other)
    assert before.dtype is torch.bfloat16
    assert torch.equal(before[:, :6], after[:, :6])
    assert torch.allclose(before.float(), model(tokens), atol=0.1)


def test_texts_longer_than_the_context_are_refused():
    with pytest.raises(ValueError, match="texts of 13 tokens are longer than the context of 12"):
        small()(some_tokens(1, 13))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"depth": 0}, "depth is 0; give a whole number above 0"),
        ({"context": -1}, "context is -1"),
        ({"width": 18}, "width is 18; give an even multiple of the number of heads, 4"),
        ({"width": 9, "heads": 3}, "width is 9; give an even multiple"),
    ],
)
def test_impossible_sizes_are_refused(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        small(**change)
