"""Residual networks: sizes, shortcuts against a slow reference, and equality with torchvision's ResNet-50."""

import pytest
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

from models import resnet8, resnet32, resnet50


def weights_in(net: nn.Module) -> int:
    return sum(weights.numel() for weights in net.parameters())


def images(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize(
    ("factory", "settings", "expected"),
    [
        (resnet32, {}, 464_154),
        (resnet8, {}, 75_290),
        (resnet8, {"in_channels": 1}, 75_290 - 2 * 9 * 16),
        (resnet32, {"num_classes": 100}, 464_154 + 90 * 65),
        (resnet50, {}, 25_557_032),
    ],
)
def test_weights_are_counted_as_published(factory, settings, expected):
    assert weights_in(factory(**settings)) == expected


def test_a_family_of_6n_plus_2_layers_has_that_many():
    for factory, layers in ((resnet8, 8), (resnet32, 32)):
        with_weights = [m for m in factory().modules() if isinstance(m, nn.Conv2d | nn.Linear)]
        assert len(with_weights) == layers


@pytest.mark.parametrize("size", [28, 32, 33])
def test_logits_have_a_row_an_image_and_a_column_a_class(size):
    assert resnet8(num_classes=7, in_channels=2)(images(3, 2, size, size)).shape == (3, 7)


def test_the_whole_network_equals_a_slow_one_with_option_a_shortcuts_by_loops():
    torch.manual_seed(0)
    net = resnet8().double()
    for module in net.modules():  # batch norms that do something
        if isinstance(module, nn.BatchNorm2d):
            nn.init.uniform_(module.weight, 0.5, 2)
            nn.init.uniform_(module.bias, -1, 1)
            nn.init.uniform_(module.running_mean, -1, 1)
            nn.init.uniform_(module.running_var, 0.5, 2)
    net.eval()
    x = images(2, 3, 9, 9).double()
    with torch.no_grad():
        torch.testing.assert_close(net(x), slow_resnet8(dict(net.state_dict()), x))


def slow_resnet8(state: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """He et al., section 4.2, from the equations: y = relu(norm(conv(relu(norm(conv(x))))) + shortcut(x))."""
    values = [value for name, value in state.items() if not name.endswith("num_batches_tracked")]

    def normed_convolution(x: torch.Tensor, stride: int) -> torch.Tensor:
        kernel, gamma, beta, mean, variance = (values.pop(0) for _ in range(5))
        x = F.conv2d(x, kernel, stride=stride, padding=1)
        m, v, g, b = (value[:, None, None] for value in (mean, variance, gamma, beta))
        return g * (x - m) / torch.sqrt(v + 1e-5) + b

    x = normed_convolution(x, 1).clamp(min=0)
    for width in (16, 32, 64):
        stride = 1 if width == x.shape[1] else 2
        y = normed_convolution(normed_convolution(x, stride).clamp(min=0), 1)
        for image in range(len(x)):
            for channel in range(x.shape[1]):
                for row in range(y.shape[2]):
                    for column in range(y.shape[3]):
                        y[image, channel, row, column] += x[image, channel, stride * row, stride * column]
        x = y.clamp(min=0)
    weight, bias = values
    return x.mean(dim=(2, 3)) @ weight.T + bias


def test_a_shortcut_that_widens_has_no_weights_and_adds_nothing_to_new_channels():
    block = resnet8()[4]
    x = images(2, 16, 8, 8)
    carried = block.shortcut(x)
    assert torch.equal(carried[:, :16], x[:, :, [0, 2, 4, 6]][..., [0, 2, 4, 6]])
    assert carried.shape == (2, 32, 4, 4)
    assert not carried[:, 16:].any()


@pytest.mark.parametrize("factory", [resnet8, resnet32])
def test_a_gradient_reaches_every_weight(factory):
    torch.manual_seed(0)
    net = factory()
    F.cross_entropy(net(images(4, 3, 32, 32)), torch.arange(4)).backward()
    for name, weights in net.named_parameters():
        assert weights.grad is not None
        assert weights.grad.abs().sum() > 0, name


def test_the_same_seed_gives_the_same_weights_and_another_others():
    def first_kernel(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return resnet8()[0].weight

    assert torch.equal(first_kernel(3), first_kernel(3))
    assert not torch.equal(first_kernel(3), first_kernel(4))


def test_kernels_begin_with_hes_deviation_for_the_fan_out():
    torch.manual_seed(0)
    kernel = resnet32()[-4].conv2.weight
    assert kernel.std().item() == pytest.approx((2 / (9 * 64)) ** 0.5, rel=0.02)
    assert kernel.mean().item() == pytest.approx(0, abs=1e-3)


def test_zero_gamma_makes_a_new_block_its_shortcut():
    x = images(2, 16, 8, 8)
    block = resnet8(zero_gamma=True)[3]
    assert torch.equal(block(x), x.clamp(min=0))
    assert not torch.equal(resnet8()[3](x), x.clamp(min=0))


def test_channels_last_changes_the_layout_and_not_the_logits():
    torch.manual_seed(0)
    net = resnet8().double().eval()
    x = images(2, 3, 32, 32).double()
    expected = net(x)
    net = net.to(memory_format=torch.channels_last)
    assert net[0].weight.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(net(x.to(memory_format=torch.channels_last)), expected)


def test_resnet50_gives_torchvisions_logits_for_the_same_weights():
    torch.manual_seed(0)
    ours, theirs = resnet50().eval(), torchvision.models.resnet50(weights=None).eval()
    theirs.load_state_dict(ours.state_dict())
    with torch.inference_mode():
        x = images(1, 3, 64, 64)
        assert torch.equal(ours(x), theirs(x))
        assert ours(x).shape == (1, 1000)
