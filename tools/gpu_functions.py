"""Formulas and inputs of tools/gpu_ops.py: `...64` is a golden for float64, the others are what torch does, `make_...` makes inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

Function = Callable[..., Any]  # a tensor, or a tuple of them
Shapes = Sequence[Sequence[int]]


def attention64(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> tuple[torch.Tensor, ...]:
    """The float64 golden of flash_attention, head by head."""
    out, lse = torch.zeros_like(q), torch.full(q.shape[:3], -math.inf, dtype=q.dtype, device=q.device)
    for head in range(q.shape[1]):
        kv = head * k.shape[1] // q.shape[1]
        scores = q[:, head] @ k[:, kv].mT * (scale or q.shape[-1] ** -0.5)
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores[0], dtype=torch.bool).triu(1), -math.inf)
        out[:, head], lse[:, head] = scores.softmax(-1) @ v[:, kv], scores.logsumexp(-1)
    return out, lse


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float, causal: bool) -> torch.Tensor:
    """What torch has for flash_attention."""
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale or None, enable_gqa=k.shape[1] != q.shape[1])


def gelu64(x: torch.Tensor) -> torch.Tensor:
    """The float64 golden of gelu."""
    complement: torch.Tensor = torch.special.erfc(-x * math.sqrt(0.5))
    return x * complement / 2


def rms_norm64(x: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, ...]:
    """The float64 golden of rms_norm."""
    rstd = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return x * rstd * weight, rstd


def add_rms_norm64(x1: torch.Tensor, x2: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, ...]:
    """The float64 golden of add_rms_norm."""
    return (*rms_norm64(x1 + x2, weight, eps), x1 + x2)


def add_rms_norm(x1: torch.Tensor, x2: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor | None, ...]:
    """What torch has for add_rms_norm."""
    x = x1 + x2
    return F.rms_norm(x, weight.shape, weight, eps), None, x


def sort(x: torch.Tensor, descending: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """What torch has for sort."""
    values, indices = torch.sort(x, stable=True, dim=-1, descending=descending)
    return values, indices


def topk(x: torch.Tensor, k: int, largest: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """The golden of topk: equal elements have no order in torch.topk, so it is a stable sort."""
    values, indices = torch.sort(x, stable=True, dim=-1, descending=largest)
    return values[..., :k], indices[..., :k]


def swiglu(x: torch.Tensor) -> torch.Tensor:
    """What torch has for swiglu."""
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


def geglu(x: torch.Tensor) -> torch.Tensor:
    """What torch has for geglu."""
    a, b = x.chunk(2, -1)
    return F.gelu(a) * b


def geglu64(x: torch.Tensor) -> torch.Tensor:
    """The float64 golden of geglu."""
    a, b = x.chunk(2, -1)
    return gelu64(a) * b


def backward(forward: Function) -> Function:
    """The gradient of a function of one tensor, as torch computes it, for (grad_y, x)."""

    def run(grad_y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(forward(leaf), leaf, grad_y)[0]

    return run


def rope64(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool) -> torch.Tensor:
    """The float64 golden of rope."""
    return x * cos[:, None] + rotated(x, interleaved) * sin[:, None]


def rope_backward64(grad: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, interleaved: bool) -> torch.Tensor:
    """The float64 golden of rope_backward."""
    return grad * cos[:, None] - rotated(grad * sin[:, None], interleaved)


def rotated(x: torch.Tensor, interleaved: bool) -> torch.Tensor:
    """(-b, a) for the halves (a, b) of the last dim, or for neighbours."""
    if interleaved:
        return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def quantize(x: torch.Tensor, scale: torch.Tensor, zero_point: int) -> torch.Tensor:
    """What torch has for quantize."""
    return torch.clamp(torch.round(x.float() / scale) + zero_point, -128, 127).to(torch.int8)


def quantize_per_token(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """What torch has for quantize_per_token."""
    scale = x.float().abs().amax(-1, keepdim=True) / 127 if x.shape[-1] else x.float().sum(-1, keepdim=True)
    return torch.round(x.float() / scale).to(torch.int8), scale


def quantize_per_token64(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The float64 golden of quantize_per_token."""
    scale = x.abs().amax(-1, keepdim=True) / 127 if x.shape[-1] else x.sum(-1, keepdim=True)
    return torch.where(scale > 0, x / scale, 0), scale


def dequantize(x: torch.Tensor, scale: torch.Tensor, zero_point: int = 0) -> torch.Tensor:
    """What torch has for dequantize."""
    return (x.to(scale.dtype) - zero_point) * scale


def cross_entropy(x: torch.Tensor, target: torch.Tensor, ignore_index: int) -> torch.Tensor:
    """What torch has for cross_entropy."""
    return F.cross_entropy(x, target, ignore_index=ignore_index, reduction="none").float()


def cross_entropy64(x: torch.Tensor, target: torch.Tensor, ignore_index: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The float64 golden of cross_entropy."""
    return F.cross_entropy(x, target, ignore_index=ignore_index, reduction="none"), torch.logsumexp(x, -1)


def cross_entropy_backward(
    grad: torch.Tensor, x: torch.Tensor, target: torch.Tensor, lse: torch.Tensor, ignore_index: int
) -> torch.Tensor:
    """What torch has for cross_entropy_backward."""
    hot = torch.arange(x.shape[-1], device=x.device) == target[:, None]
    slope = torch.exp(x - lse[:, None]) - hot.to(lse.dtype)
    return torch.where((target == ignore_index)[:, None], 0, slope * grad[:, None]).to(x.dtype)


def group_norm64(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor, num_groups: int, eps: float) -> tuple[torch.Tensor, ...]:
    """The float64 golden of group_norm."""
    groups = x.reshape(x.shape[0], num_groups, x.shape[1:].numel() // num_groups)
    mean = groups.mean(-1)
    rstd = torch.rsqrt(groups.var(-1, correction=0) + eps) if groups.numel() else mean
    return F.group_norm(x, num_groups, w, b, eps), mean, rstd


def seeded(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Random values on the GPU, the same in every run."""
    generator = torch.Generator("cuda").manual_seed(sum(shape) + 1)
    if dtype == torch.int8:
        return torch.randint(-128, 128, tuple(shape), device="cuda", generator=generator, dtype=dtype)
    return (torch.randn(tuple(shape), device="cuda", generator=generator) * 3).to(dtype)


def make_one_dtype(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Seeded inputs of one dtype, all different, without special values."""
    return [seeded((*shape, i)[:-1], dtype) * (1 + i / 4) for i, shape in enumerate(shapes)]


def make_quantize(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Seeded inputs of quantize operators."""
    return [seeded(shapes[0], dtype), torch.full((1,), 0.0371, device="cuda")]


def make_per_token(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Seeded inputs of per token operators."""
    return [seeded(shapes[0], dtype)]


def make_dequantize(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Seeded inputs of dequantize operators."""
    return [seeded(shapes[0], torch.int8), seeded(shapes[1], dtype)]


def make_classes(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Seeded inputs of classes operators."""
    rows, classes = shapes[0]
    target = torch.arange(rows, device="cuda") * 7919 % max(classes, 1)
    return [seeded(shapes[0], dtype), torch.where(target % 5 == 4, -1, target)]


def make_class_gradients(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Seeded inputs of class gradients operators."""
    x, target = make_classes(shapes, dtype)
    return [seeded(shapes[0][:1], torch.float32), x, target, torch.logsumexp(x.float(), -1)]


def softmax_backward64(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The float64 golden of softmax_backward."""
    return y * (grad - (grad * y).sum(-1, keepdim=True))


def log_softmax_backward64(grad: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The float64 golden of log_softmax_backward."""
    return grad - torch.exp(y) * grad.sum(-1, keepdim=True)


def silu_backward64(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The float64 golden of silu_backward."""
    s = torch.sigmoid(x)
    return grad * s * (1 + x * (1 - s))


def gelu_backward64(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """The float64 golden of gelu_backward."""
    slope: torch.Tensor = torch.special.erfc(-x * math.sqrt(0.5)) / 2 + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return grad * slope


def norm_backward64(grad: torch.Tensor, h: torch.Tensor, weight: torch.Tensor, rstd: torch.Tensor, center: bool) -> Any:
    """(grad_x, grad_weight) of a norm from its standardized input h."""
    g = grad * weight
    mean = g.mean(-1, keepdim=True) if center else 0
    grad_x = (g - mean - h * (g * h).mean(-1, keepdim=True)) * rstd
    return grad_x, (grad * h).reshape(-1, h.shape[-1]).sum(0)


def rms_norm_backward64(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, rstd: torch.Tensor) -> Any:
    """The float64 golden of rms_norm_backward."""
    return norm_backward64(grad, x * rstd, weight, rstd, center=False)


def rms_norm_backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, rstd: torch.Tensor) -> Any:
    """What torch has for rms_norm_backward."""
    return torch.ops.aten._fused_rms_norm_backward(grad, x, weight.shape, rstd, weight, [True, True])


def add_rms_norm_backward64(grad: torch.Tensor, more: torch.Tensor, *rest: torch.Tensor) -> Any:
    """The float64 golden of add_rms_norm_backward."""
    grad_x, grad_weight = rms_norm_backward64(grad, *rest)
    return grad_x + more, grad_weight


def add_rms_norm_backward(grad: torch.Tensor, more: torch.Tensor, *rest: torch.Tensor) -> Any:
    """What torch has for add_rms_norm_backward."""
    grad_x, grad_weight = rms_norm_backward(grad, *rest)
    return grad_x + more, grad_weight


def layer_norm_backward64(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
) -> Any:
    """The float64 golden of layer_norm_backward."""
    grads = norm_backward64(grad, (x - mean) * rstd, weight, rstd, center=True)
    return (*grads, grad.reshape(-1, x.shape[-1]).sum(0))


def layer_norm_backward(
    grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
) -> Any:
    """What torch has for layer_norm_backward."""
    return torch.ops.aten.native_layer_norm_backward(grad, x, weight.shape, mean, rstd, weight, weight, [True] * 3)


def make_norm_backward(shapes: Shapes, dtype: torch.dtype, *, rows: int, center: bool) -> list[torch.Tensor]:
    """Seeded inputs of norm backward operators."""
    made = [seeded((*shape, i)[:-1], dtype) * (1 + i / 4) for i, shape in enumerate(shapes[: rows + 1])]
    x = made[rows - 1].float()
    mean = x.mean(-1, keepdim=True) if x.shape[-1] and center else torch.zeros_like(x[..., :1])
    rstd = torch.rsqrt((x - mean).square().mean(-1, keepdim=True) + 1e-5)
    return [*made, mean, rstd] if center else [*made, rstd]


def make_gather(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """A tensor, indices along its last dim, and, if there is a third shape, what to add."""
    generator = torch.Generator("cuda").manual_seed(3)
    made = [torch.randn(tuple(shape), device="cuda", generator=generator).to(dtype) for shape in shapes]
    made[1] = torch.randint(max(shapes[0][-1], 1), tuple(shapes[1]), device="cuda", generator=generator)
    return made


def embedding_backward(grad: torch.Tensor, indices: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The gradient of the table, as torch computes it."""
    return torch.ops.aten.embedding_dense_backward(grad, indices, weight.shape[0], -1, False)  # type: ignore[no-any-return]


def make_embedding(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """A seeded table, and as many indices as `shapes` says."""
    table, count = shapes[0], shapes[1][0]
    return [seeded(table, dtype), torch.arange(count, device="cuda") * 7919 % table[0]]


def make_embedding_backward(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """A seeded gradient, indices that repeat, and the table."""
    weight, indices = make_embedding(shapes, dtype)
    return [seeded((indices.numel(), weight.shape[1]), dtype), indices, weight]


def dropout(x: torch.Tensor, p: float, seed: int, offset: int) -> torch.Tensor:
    """What torch does; the elements that it drops are others, so only its time can be compared."""
    del seed, offset
    return F.dropout(x, p)


def dropout64(x: torch.Tensor, p: float, seed: int, offset: int) -> torch.Tensor:
    """The float64 golden of dropout: Philox 4x32-10 in 64-bit integers, from products that stay below 2^63."""
    low = 0xFFFFFFFF
    blocks = (x.numel() + 1023) // 1024
    counter = torch.arange(256 * blocks, device=x.device)
    c = [counter, counter * 0, counter * 0 + (offset & low), counter * 0 + (offset >> 32 & low)]
    key = [seed & low, seed >> 32 & low]
    for _ in range(10):
        (h0, l0), (h1, l1) = wide_product(c[0], 0xD2511F53), wide_product(c[2], 0xCD9E8D57)
        c = [h1 ^ c[1] ^ key[0], l1, h0 ^ c[3] ^ key[1], l0]
        key = [key[0] + 0x9E3779B9 & low, key[1] + 0xBB67AE85 & low]
    bits = torch.stack([word.reshape(blocks, 256) for word in c], 1).reshape(-1)[: x.numel()] >> 8
    return torch.where(bits.reshape(x.shape) >= round(p * 2**24), x / (1 - p), 0.0)


def wide_product(x: torch.Tensor, factor: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(upper, lower) 32 bits of the product of 32-bit words that int64 tensors hold."""
    small, large = x * (factor & 0xFFFF), x * (factor >> 16)
    middle = (small >> 16) + large
    return middle >> 16, (middle & 0xFFFF) << 16 | small & 0xFFFF
