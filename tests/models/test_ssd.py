"""SSD detectors: torchvision's outputs, and what the small one gives."""

from itertools import pairwise

import pytest
import torch
from torchvision.models.detection import ssd300_vgg16

from models import ssd300, ssd_small


def images(number: int, channels: int, size: int) -> list[torch.Tensor]:
    return list(torch.rand(number, channels, size, size, generator=torch.Generator().manual_seed(0)))


TARGETS = [
    {"boxes": torch.tensor([[4.0, 8, 30, 40], [50, 50, 90, 80]]), "labels": torch.tensor([1, 3])},
    {"boxes": torch.empty(0, 4), "labels": torch.empty(0, dtype=torch.int64)},
]


def test_ssd300_has_torchvisions_weights():
    with torch.device("meta"):
        assert sum(weights.numel() for weights in ssd300().parameters()) == 35_641_826


def test_ssd300_gives_what_torchvisions_gives_with_the_same_weights():
    ours = ssd300(num_classes=5)
    with torch.device("meta"):
        theirs = ssd300_vgg16(weights=None, weights_backbone=None, num_classes=5)
    theirs.load_state_dict(ours.state_dict(), assign=True)
    assert all(weights.requires_grad for weights in ours.parameters())
    shown = images(1, 3, 300)
    with torch.inference_mode():
        found, expected = ours.eval()(shown)[0], theirs.eval()(shown)[0]
    assert len(found["boxes"]) > 0
    for name in ("boxes", "scores", "labels"):
        assert torch.equal(found[name], expected[name])


def test_weights_of_the_small_one_are_counted_as_by_hand():
    width, boxes, classes = 16, 4, 11
    channels = [1, width, 2 * width, 4 * width, 8 * width]
    backbone = sum(9 * inputs * outputs + 2 * outputs for inputs, outputs in pairwise(channels))
    heads = sum((9 * inputs + 1) * boxes * (classes + 4) for inputs in channels[-2:])
    assert backbone + heads == 201_192
    small = ssd_small(num_classes=classes, width=width)
    assert sum(weights.numel() for weights in small.parameters()) == backbone + heads


def test_the_small_one_looks_at_every_eighth_and_sixteenth_pixel():
    small = ssd_small(num_classes=4, image_size=96, width=4).eval()
    seen = small.backbone(torch.zeros(2, 1, 96, 96))
    assert [tuple(one.shape) for one in seen.values()] == [(2, 16, 12, 12), (2, 32, 6, 6)]
    head = small.head(list(seen.values()))
    assert head["cls_logits"].shape == (2, 4 * (144 + 36), 4)
    assert head["bbox_regression"].shape == (2, 4 * (144 + 36), 4)


def test_the_small_one_learns_two_scenes_by_heart():
    torch.manual_seed(0)
    small = ssd_small(num_classes=4, width=8)
    optimizer = torch.optim.SGD(small.parameters(), lr=0.02, momentum=0.9)
    shown = images(2, 1, 96)
    for _ in range(40):
        optimizer.zero_grad()
        losses = small(shown, TARGETS)
        sum(losses.values()).backward()
        optimizer.step()
    found = small.eval()(shown)[0]
    best = {
        int(label): box for box, label in zip(found["boxes"].flip(0), found["labels"].flip(0), strict=True)
    }
    assert set(best) >= {1, 3}
    torch.testing.assert_close(best[1], TARGETS[0]["boxes"][0], atol=4, rtol=0)
    torch.testing.assert_close(best[3], TARGETS[0]["boxes"][1], atol=4, rtol=0)


def test_a_batch_without_any_box_has_a_loss_and_gradients():
    small = ssd_small(num_classes=4, width=4)
    losses = small(images(2, 1, 96), [TARGETS[1], TARGETS[1]])
    total = sum(losses.values())
    total.backward()
    assert total.item() == 0  # hard negatives are three a positive, and there is none
    assert all(weights.grad is not None for weights in small.head.parameters())


def test_the_same_seed_gives_the_same_weights():
    nets = []
    for _ in range(2):
        torch.manual_seed(3)
        nets.append(ssd_small(num_classes=3, width=4))
    for ours, theirs in zip(*(net.parameters() for net in nets), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("size", [0, -16, 100])
def test_a_size_that_cannot_be_halved_four_times_is_refused(size):
    with pytest.raises(ValueError, match="image_size must be a multiple of 16"):
        ssd_small(num_classes=3, image_size=size)
