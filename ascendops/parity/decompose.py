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
COPIES = MOVES - _names("dropout fold index_put scatter item tolist")  # these may also add, scale, or hand values to Python
RING = _names("add radd iadd sub subtract rsub isub mul rmul imul multiply square prod cumprod addcmul sum nansum cumsum trace")
JUMPS = _names(
    """floor ceil round trunc fix frac sign sgn heaviside eq ne lt le gt ge floor_divide floordiv remainder fmod mod int
    long short char byte bool argmax argmin bucketize searchsorted histc one_hot unique"""
)
ROUNDINGS = _names("floor ceil round trunc fix floor_divide floordiv int char short byte")
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


def cross_entropy(
    input: torch.Tensor, target: torch.Tensor, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> torch.Tensor:  # fmt: skip
    """Negative log_softmax at the target, or weighted by target probabilities."""
    if weight is not None or label_smoothing or size_average is not None or reduce is not None or target.is_floating_point():
        return torch.nn.functional.cross_entropy(input, target, weight, size_average, ignore_index, reduce, reduction, label_smoothing)
    axis = 1 if input.dim() > 1 else 0
    kept = target != ignore_index
    picked = -torch.log_softmax(input, axis).gather(axis, torch.where(kept, target, 0).unsqueeze(axis)).squeeze(axis)
    losses = torch.where(kept, picked, torch.zeros_like(picked))
    if reduction == "none":
        return losses
    return losses.sum() if reduction == "sum" else losses.sum() / kept.sum()


def vector_norm(input: torch.Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> torch.Tensor:
    """sqrt(sum x^2); other orders as they are."""
    if ord not in (2, 2.0, None, "fro"):
        other: torch.Tensor = torch.linalg.vector_norm(input, ord, dim, keepdim, **kwargs)
        return other
    dims = tuple(range(input.dim())) if dim is None else dim
    return torch.sqrt((input * input).sum(dims, keepdim=keepdim))


def norm(input: torch.Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, **_: Any) -> torch.Tensor:
    """torch.norm as vector_norm."""
    return vector_norm(input, p if p in (None, "fro") else float(p), dim, keepdim)


def normalize(input: torch.Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, **_: Any) -> torch.Tensor:
    """x / max(|x|, eps)."""
    return input / vector_norm(input, p, dim, True).clamp_min(eps)


def cosine_similarity(x1: torch.Tensor, x2: torch.Tensor, dim: int = 1, eps: float = 1e-8) -> torch.Tensor:
    """x1 x2 / (|x1| |x2|)."""
    sizes = vector_norm(x1, 2, dim).clamp_min(eps) * vector_norm(x2, 2, dim).clamp_min(eps)
    return (x1 * x2).sum(dim) / sizes


def mse_loss(input: torch.Tensor, target: torch.Tensor, size_average: Any = None, reduce: Any = None, reduction: str = "mean", **options: Any) -> torch.Tensor:
    """(x - y)^2."""
    squares = (input - target) * (input - target)
    if any(option is not None for option in (size_average, reduce, *options.values())):
        return torch.nn.functional.mse_loss(input, target, size_average, reduce, reduction, **options)
    return squares if reduction == "none" else (squares.sum() if reduction == "sum" else squares.mean())


def binary_cross_entropy_with_logits(
    input: torch.Tensor, target: torch.Tensor, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    pos_weight: Any = None,
) -> torch.Tensor:  # fmt: skip
    """(1 - y) x + log(1 + e^-x)."""
    if any(option is not None for option in (weight, size_average, reduce, pos_weight)):
        return torch.nn.functional.binary_cross_entropy_with_logits(input, target, weight, size_average, reduce, reduction, pos_weight)
    losses = (1 - target) * input + (torch.clamp(-input, min=0) + torch.log1p(torch.exp(-input.abs())))
    return losses if reduction == "none" else (losses.sum() if reduction == "sum" else losses.mean())


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
    "linalg_vector_norm": vector_norm,
    "norm": norm,
    "normalize": normalize,
    "cosine_similarity": cosine_similarity,
    "mse_loss": mse_loss,
    "binary_cross_entropy_with_logits": binary_cross_entropy_with_logits,
    "scaled_dot_product_attention": attention,
}
