"""Torch functions by what they do to numbers, and composite ones as the steps that kernels take."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


MOVES = _names(
    """abs neg negative relu relu6 clamp clip clamp_min clamp_max maximum minimum max min amax amin where masked_fill sort
    topk gather index_select take take_along_dim scatter index_put index_copy cat concat concatenate stack split chunk
    unbind narrow select view view_as reshape flatten unflatten permute transpose t swapaxes movedim squeeze unsqueeze
    expand expand_as broadcast_to repeat repeat_interleave tile roll flip contiguous clone detach copy to double float
    half bfloat16 type type_as sign sgn signbit copysign floor ceil round trunc fix eq ne lt le gt ge isnan isinf
    isfinite logical_and logical_or logical_not any all argmax argmin argsort size dim numel item tolist shape stride
    new_zeros new_ones new_full new_empty zeros_like ones_like full_like empty_like tril triu diagonal diag pad dropout
    one_hot embedding unfold fold pixel_shuffle hardtanh threshold kthvalue median mode cummax cummin unique nonzero
    count_nonzero fill zero set as_strided view_as_real view_as_complex real imag conj"""
)
JUMPS = _names(
    """floor ceil round trunc fix frac sign sgn heaviside eq ne lt le gt ge floor_divide floordiv remainder fmod mod int
    long short char byte bool argmax argmin bucketize searchsorted histc one_hot unique"""
)
REDUCTIONS = _names("""sum mean nansum nanmean cumsum trace""")
CONTRACTIONS = _names(
    """matmul rmatmul mm bmm mv dot vdot inner addmm baddbmm addbmm addmv einsum linear conv1d conv2d conv3d
    conv_transpose1d conv_transpose2d tensordot bilinear"""
)
SMOOTH = _names(
    """exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan atan2 erf erfc erfinv sigmoid rsqrt sqrt
    reciprocal pow lgamma digamma ndtr softplus gelu silu mish elu selu celu logsigmoid hardswish hardsigmoid"""
)
SELECTS = _names("""argmax argmin argsort sort topk max min kthvalue median mode cummax cummin""")
SIGNED_ZERO = _names(
    """abs neg negative copysign atan2 arctan2 clone contiguous copy cat concat concatenate stack view reshape flatten
    permute transpose t squeeze unsqueeze expand roll flip gather index_select narrow select getitem where to double
    float detach cpu"""
)


def softmax(input: torch.Tensor, dim: int = -1, *_: Any, **__: Any) -> torch.Tensor:
    """e^(x - max) / sum."""
    powers = torch.exp(input - input.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


def softmin(input: torch.Tensor, dim: int = -1, *_: Any, **__: Any) -> torch.Tensor:
    """softmax(-x)."""
    return softmax(-input, dim)


def log_softmax(input: torch.Tensor, dim: int = -1, *_: Any, **__: Any) -> torch.Tensor:
    """(x - max) - log(sum e^(x - max))."""
    shifted = input - input.amax(dim, keepdim=True)
    return shifted - torch.log(torch.exp(shifted).sum(dim, keepdim=True))


def logsumexp(input: torch.Tensor, dim: Any = -1, keepdim: bool = False, **_: Any) -> torch.Tensor:
    """max + log(sum e^(x - max))."""
    top = input.amax(dim, keepdim=True)
    top = torch.where(torch.isfinite(top), top, torch.zeros_like(top))
    total = torch.log(torch.exp(input - top).sum(dim, keepdim=True)) + top
    return total if keepdim else total.sum(dim)


def _spread(input: torch.Tensor, dims: Any, correction: float) -> tuple[torch.Tensor, torch.Tensor]:
    centred = input - input.mean(dims, keepdim=True)
    count = input.numel() / max(1, centred.square().mean(dims).numel())
    return centred, (centred * centred).sum(dims, keepdim=True) / max(count - correction, 0.0)


def var(
    input: torch.Tensor,
    dim: Any = None,
    *args: Any,
    correction: Any = 1,
    unbiased: Any = None,
    keepdim: Any = False,
    **_: Any,
) -> torch.Tensor:
    """Mean square of x - mean."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if args:
        unbiased, keepdim = (*args, keepdim)[:2]
    if unbiased is not None:
        correction = 1 if unbiased else 0
    dims = tuple(range(input.dim())) if dim is None else dim
    result = _spread(input, dims, 1 if correction is None else correction)[1]
    return result if keepdim else result.sum(dims)


def std(*args: Any, **kwargs: Any) -> torch.Tensor:
    """sqrt(var)."""
    return torch.sqrt(var(*args, **kwargs))


def layer_norm(
    input: torch.Tensor, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> torch.Tensor:
    """(x - mean) * rsqrt(var + eps) * weight + bias."""
    dims = tuple(range(-len(tuple(normalized_shape)), 0))
    centred, variance = _spread(input, dims, 0)
    return _affine(centred * torch.rsqrt(variance + eps), weight, bias)


def rms_norm(input: torch.Tensor, normalized_shape: Any, weight: Any = None, eps: Any = None) -> torch.Tensor:
    """x * rsqrt(mean x^2 + eps) * weight."""
    dims = tuple(range(-len(tuple(normalized_shape)), 0))
    floor = 2.0**-23 if eps is None else eps
    return _affine(input * torch.rsqrt((input * input).mean(dims, keepdim=True) + floor), weight, None)


def group_norm(
    input: torch.Tensor, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, *_: Any
) -> torch.Tensor:
    """layer_norm over groups of channels."""
    grouped = input.reshape(input.shape[0], num_groups, -1)
    centred, variance = _spread(grouped, -1, 0)
    normal = (centred * torch.rsqrt(variance + eps)).reshape(input.shape)
    channel = (1, -1, *[1] * (input.dim() - 2))
    return _affine(normal, *[None if p is None else p.reshape(channel) for p in (weight, bias)])


def _affine(x: torch.Tensor, weight: Any, bias: Any) -> torch.Tensor:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias


def gelu(input: torch.Tensor, approximate: str = "none") -> torch.Tensor:
    """x * (1 + erf(x / sqrt 2)) / 2, or with tanh."""
    if approximate == "tanh":
        cube = input * input * input
        return 0.5 * input * (1 + torch.tanh(math.sqrt(2 / math.pi) * (input + 0.044715 * cube)))
    return 0.5 * input * (1 + torch.erf(input * math.sqrt(0.5)))


def silu(input: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    """x / (1 + e^-x)."""
    return input / (1 + torch.exp(-input))


def sigmoid(input: torch.Tensor, **_: Any) -> torch.Tensor:
    """1 / (1 + e^-x)."""
    return 1 / (1 + torch.exp(-input))


def softplus(input: torch.Tensor, beta: float = 1, threshold: float = 20) -> torch.Tensor:
    """log(1 + e^(beta x)) / beta, x beyond the threshold."""
    scaled = input * beta
    return torch.where(scaled > threshold, input, torch.log1p(torch.exp(scaled.clamp(max=threshold))) / beta)


def cross_entropy(input: torch.Tensor, target: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """Negative log_softmax at the target."""
    axis = 1 if input.dim() > 1 else 0
    return torch.nn.functional.nll_loss(log_softmax(input, axis), target, *args, **kwargs)


def attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: Any = None, _dropout_p: float = 0.0,
    is_causal: bool = False, scale: Any = None, enable_gqa: bool = False,
) -> torch.Tensor:  # fmt: skip
    """softmax(q k^T scale + mask) v."""
    if enable_gqa:
        key, value = (t.repeat_interleave(query.shape[-3] // t.shape[-3], -3) for t in (key, value))
    scores = torch.matmul(query, key.transpose(-1, -2)) * (query.shape[-1] ** -0.5 if scale is None else scale)
    if is_causal:
        keep = torch.ones(query.shape[-2], key.shape[-2], dtype=torch.bool).tril()
        scores = scores.masked_fill(~keep, float("-inf"))
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, float("-inf")) if attn_mask.dtype == torch.bool else scores + attn_mask
    return torch.matmul(softmax(scores, -1), value)


DECOMPOSED: dict[str, Callable[..., Any]] = {
    "softmax": softmax,
    "softmin": softmin,
    "log_softmax": log_softmax,
    "logsumexp": logsumexp,
    "var": var,
    "std": std,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
    "group_norm": group_norm,
    "gelu": gelu,
    "silu": silu,
    "sigmoid": sigmoid,
    "softplus": softplus,
    "cross_entropy": cross_entropy,
    "scaled_dot_product_attention": attention,
}
