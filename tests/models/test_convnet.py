"""The small conv net."""

import pytest
import torch

from models import convnet


def test_logits_have_a_row_an_image_and_a_column_a_class():
    assert convnet(image_size=8)(torch.zeros(5, 1, 8, 8)).shape == (5, 10)
    assert convnet(image_size=28, channels=3, num_classes=7)(torch.zeros(2, 3, 28, 28)).shape == (2, 7)


def test_weights_are_counted_as_by_hand():
    width = 16
    by_hand = (
        (9 * width + width)
        + (9 * width * 2 * width + 2 * width)
        + (2 * width * 2 * 2 * 4 * width + 4 * width)
        + (4 * width * 10 + 10)
    )
    assert sum(weights.numel() for weights in convnet(image_size=8, width=width).parameters()) == by_hand


def test_the_same_seed_gives_the_same_weights():
    nets = []
    for _ in range(2):
        torch.manual_seed(3)
        nets.append(convnet(image_size=8))
    for ours, theirs in zip(*(net.parameters() for net in nets), strict=True):
        assert torch.equal(ours, theirs)


def test_an_image_size_that_cannot_be_halved_twice_is_refused():
    with pytest.raises(ValueError, match="image_size must be a multiple of 4"):
        convnet(image_size=10)
