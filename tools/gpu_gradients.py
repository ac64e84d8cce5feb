"""Gradients of operators with several inputs, for tools/gpu_ops.py: goldens for float64, what torch has, and inputs."""

from __future__ import annotations

from typing import Any

import torch

from tools.gpu_functions import Shapes, seeded


def group_norm_backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor) -> Any:
    """What torch has for group_norm_backward."""
    samples, channels, groups = x.shape[0], x.shape[1], mean.shape[1]
    spatial = x.shape[2:].numel()
    statistics = mean.to(x.dtype), rstd.to(x.dtype)
    return torch.ops.aten.native_group_norm_backward(grad, x, *statistics, weight, samples, channels, spatial, groups, [True] * 3)


def group_norm_backward64(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor) -> Any:
    """The float64 golden of group_norm_backward."""
    groups = (*mean.shape, x.shape[1:].numel() // mean.shape[1])
    rest = [dim for dim in range(x.dim()) if dim != 1]
    h = (x.reshape(groups) - mean[..., None]) * rstd[..., None]
    g = (grad * weight.reshape(1, -1, *[1] * (x.dim() - 2))).reshape(groups)
    grad_x = (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True)) * rstd[..., None]
    return grad_x.reshape(x.shape), (grad * h.reshape(x.shape)).sum(rest), grad.sum(rest)


def make_group_norm_backward(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Seeded gradient, input and weight, with the statistics of 4 groups."""
    x = seeded(shapes[0], dtype) * 1.25
    groups = x.float().reshape(x.shape[0], 4, x.shape[1:].numel() // 4)
    mean = groups.mean(-1)
    rstd = torch.rsqrt((groups - mean[..., None]).square().mean(-1) + 1e-5)
    return [seeded(shapes[0], dtype), x, seeded(shapes[1], dtype), mean, rstd]
