"""What layer_norm means, in double precision: y[i, j] = (x[i, j] - mean[i]) * rstd[i] * weight[j] + bias[j], rstd[i] = 1 / sqrt(variance of row i + eps)."""

import torch


def golden(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float
) -> tuple[torch.Tensor, ...]:
    """The results for float64 tensors."""
    mean = x.sum(-1, keepdim=True) / max(x.shape[-1], 1)  # 0 for a row without columns, as in torch
    centered = x - mean
    rstd = torch.rsqrt(centered.square().mean(-1, keepdim=True) + eps)
    return centered * rstd * weight + bias, mean, rstd


def layer_norm_backward(
    grad_y: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, ...]:
    """The results for float64 tensors."""
    g, h = grad_y * weight, (x - mean) * rstd
    grad_x = (g - g.mean(-1, keepdim=True) - h * (g * h).mean(-1, keepdim=True)) * rstd
    columns = x.shape[-1]
    return grad_x, (grad_y * h).reshape(x.shape[:-1].numel(), columns).sum(0), grad_y.reshape(x.shape[:-1].numel(), columns).sum(0)
