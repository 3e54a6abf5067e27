"""The small conv net, and standardisation in front of it."""

import pytest
import torch

from models import Standardise, convnet


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


def test_standardising_leaves_mean_0_and_deviation_1():
    images = torch.rand(50, 1, 8, 8) * 3 + 5
    result = Standardise(images.mean().item(), images.std().item())(images)
    assert result.mean().item() == pytest.approx(0, abs=1e-5)
    assert result.std().item() == pytest.approx(1, rel=1e-5)


def test_a_deviation_of_0_is_refused():
    with pytest.raises(ValueError, match="std is 0"):
        Standardise(1.0, 0.0)


def test_each_channel_can_have_numbers_of_its_own_and_bytes_become_floats():
    images = torch.randint(0, 256, (4, 3, 5, 6), dtype=torch.uint8)
    result = Standardise((1.0, 2.0, 3.0), (4.0, 5.0, 6.0))(images)
    assert result.dtype == torch.float32
    for channel in range(3):
        torch.testing.assert_close(
            result[:, channel], (images[:, channel].float() - (channel + 1)) / (channel + 4)
        )


def test_a_deviation_of_0_in_one_channel_is_refused():
    with pytest.raises(ValueError, match=r"std is \(1.0, 0.0\)"):
        Standardise((0.0, 0.0), (1.0, 0.0))
