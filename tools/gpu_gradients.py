"""Gradients of operators with several inputs, for tools/gpu_ops.py: goldens for float64, what torch has, and inputs."""

from __future__ import annotations

from typing import Any

import torch

from tools.gpu_functions import Shapes, attention, attention64, seeded


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


def attention_backward(grad: torch.Tensor, _grad_lse: Any, q: Any, k: Any, v: Any, _out: Any, _lse: Any, scale: float, causal: bool) -> Any:
    """What torch has for flash_attention_backward without a gradient of lse: autograd, which runs the forward pass first."""
    q, k, v = leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    return torch.autograd.grad(attention(q, k, v, scale, causal), leaves, grad)


def attention_backward64(grad: Any, grad_lse: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, scale: float, causal: bool) -> Any:
    """The float64 golden of flash_attention_backward, head by head."""
    factor = scale or q.shape[-1] ** -0.5
    grads = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    for head in range(q.shape[1]):
        kv = head * k.shape[1] // q.shape[1]
        p = torch.exp(q[:, head] @ k[:, kv].mT * factor - lse[:, head, :, None])
        p = p.tril() if causal else p
        delta = (out[:, head] * grad[:, head]).sum(-1) - grad_lse[:, head]
        s = p * (grad[:, head] @ v[:, kv].mT - delta[..., None]) * factor
        grads[0][:, head] = s @ k[:, kv]
        grads[1][:, kv] += s.mT @ q[:, head]
        grads[2][:, kv] += p.mT @ grad[:, head]
    return grads


def make_attention_backward(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Seeded gradient, queries, keys and values, with what attention without a mask makes of them; no gradient of lse."""
    q, k, v = (seeded((*shape, i)[:-1], dtype) / 3 for i, shape in enumerate(shapes))
    out, lse = attention64(q.double(), k.double(), v.double(), 0.0, False)
    return [seeded(shapes[0], dtype) / 3, torch.zeros_like(lse, dtype=torch.float32), q, k, v, out.to(dtype), lse.float()]
