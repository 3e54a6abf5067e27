"""Optimizers that workloads share."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn


def nesterov(model: nn.Module, metaparameters: Mapping[str, float]) -> torch.optim.Optimizer:
    """SGD with Nesterov momentum (plain SGD where momentum is 0 or not given)."""
    return _sgd(model, metaparameters, nesterov=True)


def heavy_ball(model: nn.Module, metaparameters: Mapping[str, float]) -> torch.optim.Optimizer:
    """SGD with classical momentum (plain SGD where momentum is 0 or not given)."""
    return _sgd(model, metaparameters, nesterov=False)


def _sgd(model: nn.Module, metaparameters: Mapping[str, float], *, nesterov: bool) -> torch.optim.Optimizer:
    momentum = metaparameters.get("momentum", 0.0)
    return torch.optim.SGD(
        model.parameters(),
        lr=metaparameters["learning_rate"],
        momentum=momentum,
        weight_decay=metaparameters.get("weight_decay", 0.0),
        nesterov=nesterov and momentum > 0,
        fused=True,
    )
