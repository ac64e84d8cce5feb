"""The operators of the kill matrix: golden, cases, honest and wrong implementations, all in float32 unless they say otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

Function = Callable[..., Any]
Shapes = Sequence[Sequence[tuple[int, ...]]]


@dataclass
class Subject:
    """One operator. `shapes` are those of its tensors, per case; `honest` and `wrong` take the inputs and return the output."""

    name: str
    golden: Function
    shapes: Shapes
    honest: dict[str, Function] = field(default_factory=dict)
    wrong: dict[str, Function] = field(default_factory=dict)
    labels: tuple[int, int] | None = None  # (number of classes, position of the target argument)


def wide(function: Function) -> Function:
    """The function computed in float32 and rounded once."""

    def kernel(*tensors: Tensor) -> Tensor:
        out = function(*[t.float() if t.is_floating_point() else t for t in tensors])
        return out.to(tensors[0].dtype)

    return kernel


ROWS: Shapes = [[(24, 513)], [(7, 2048)], [(96, 100)]]
PLAIN: Shapes = [[(24, 513)], [(4097,)]]
PAIRS: Shapes = [[(24, 513), (24, 513)], [(4097,), (4097,)]]


def half_sum(x: Tensor, dim: int = -1) -> Tensor:
    """A sum whose accumulator is float16."""
    total = torch.zeros_like(x.select(dim, 0), dtype=torch.float16)
    for part in x.half().unbind(dim):
        total = total + part
    return total.float()


def running_sum(x: Tensor) -> Tensor:
    """A sum over the last dim, one element after the other, in float32."""
    total = torch.zeros_like(x[..., 0])
    for part in x.unbind(-1):
        total = total + part
    return total


def online_softmax(x: Tensor) -> Tensor:
    """Chunks of 64 with a running maximum and a rescaled running sum."""
    top = torch.full_like(x[..., :1], float("-inf"))
    total = torch.zeros_like(top)
    for chunk in x.split(64, -1):
        new = torch.maximum(top, chunk.amax(-1, keepdim=True))
        total = total * torch.exp(top - new) + torch.exp(chunk - new).sum(-1, keepdim=True)
        top = new
    return torch.exp(x - top) / total


def exp2_softmax(x: Tensor) -> Tensor:
    """softmax by powers of 2."""
    powers = torch.exp2((x - x.amax(-1, keepdim=True)) * 1.4426950408889634)
    return powers / powers.sum(-1, keepdim=True)


def softmax_by(x: Tensor, top: Tensor, total: Callable[[Tensor], Tensor]) -> Tensor:
    """softmax with another maximum or another sum."""
    powers = torch.exp(x - top)
    return powers / total(powers)


def _kept(powers: Tensor) -> Tensor:
    return powers.sum(-1, keepdim=True)


def softmaxes() -> Subject:
    """The subject softmaxes: what is right, honest variants and wrong ones."""
    def top(x: Tensor) -> Tensor:
        return x.amax(-1, keepdim=True)

    pad = lambda x: torch.exp(-top(x)) * 3  # noqa: E731
    return Subject(
        "softmax", lambda x: F.softmax(x, -1), ROWS,
        {
            "online": wide(online_softmax),
            "exp2": wide(exp2_softmax),
            "running sum": wide(lambda x: softmax_by(x, top(x), lambda p: running_sum(p)[..., None])),
            "reciprocal": wide(lambda x: torch.exp(x - top(x)) * (1 / torch.exp(x - top(x)).sum(-1, keepdim=True))),
            "rounded powers": lambda x: (torch.exp(x.float() - top(x.float())).to(x.dtype).float() / _kept(torch.exp(x.float() - top(x.float())))).to(x.dtype),
        },
        {
            "skips the last": wide(lambda x: softmax_by(x, top(x), lambda p: p[..., :-1].sum(-1, keepdim=True))),
            "pads with exp(0)": wide(lambda x: torch.exp(x - top(x)) / (_kept(torch.exp(x - top(x))) + pad(x))),
            "drops a tail of 8": wide(lambda x: softmax_by(x, top(x), lambda p: p[..., :-8].sum(-1, keepdim=True))),
            "float16 sum": wide(lambda x: softmax_by(x, top(x), lambda p: half_sum(p * 8)[..., None] / 8)),
            "no maximum in half": lambda x: (torch.exp(x.half()) / torch.exp(x.half()).float().sum(-1, keepdim=True)).to(x.dtype),
            "maximum of the first half": wide(lambda x: torch.exp(x - x[..., : x.shape[-1] // 2].amax(-1, keepdim=True)) / _kept(torch.exp(x - top(x)))),
            "over the wrong axis": wide(lambda x: F.softmax(x, 0)),
        },
    )  # fmt: skip


def log_softmaxes() -> Subject:
    """The subject log_softmaxes: what is right, honest variants and wrong ones."""
    def parts(x: Tensor) -> tuple[Tensor, Tensor]:
        shifted = x - x.amax(-1, keepdim=True)
        return shifted, torch.exp(shifted)

    return Subject(
        "log_softmax", lambda x: F.log_softmax(x, -1), ROWS,
        {
            "shift then log": wide(lambda x: parts(x)[0] - parts(x)[1].sum(-1, keepdim=True).log()),
            "x - (max + log)": wide(lambda x: x - (parts(x)[1].sum(-1, keepdim=True).log() + x.amax(-1, keepdim=True))),
            "rounded shift": lambda x: ((x - x.amax(-1, keepdim=True)).float() - torch.exp((x - x.amax(-1, keepdim=True)).float()).sum(-1, keepdim=True).log().to(x.dtype).float()).to(x.dtype),
            "log of softmax, guarded": wide(lambda x: torch.where(F.softmax(x, -1) > 1e-4, F.softmax(x, -1).log(), parts(x)[0] - _kept(parts(x)[1]).log())),
        },
        {
            "skips the last": wide(lambda x: parts(x)[0] - parts(x)[1][..., :-1].sum(-1, keepdim=True).log()),
            "one pad lane": wide(lambda x: parts(x)[0] - (_kept(parts(x)[1]) + torch.exp(-x.amax(-1, keepdim=True))).log()),
            "no maximum in half": lambda x: (x.float() - torch.exp(x.half()).half().float().sum(-1, keepdim=True).half().log().float()).to(x.dtype),
            "log2 for log": wide(lambda x: parts(x)[0] - _kept(parts(x)[1]).log2()),
            "float16 sum": wide(lambda x: parts(x)[0] - half_sum(parts(x)[1] * 8)[..., None].div(8).log()),
        },
    )  # fmt: skip


def norm(x: Tensor, w: Tensor, b: Tensor, eps: float = 1e-5, correction: int = 0) -> Tensor:
    """layer_norm with a choice of eps and correction."""
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt(x.var(-1, keepdim=True, correction=correction) + eps) * w + b


def layer_norms() -> Subject:
    """The subject layer_norms: what is right, honest variants and wrong ones."""
    def one_pass(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        n = x.shape[-1]
        total, squares = torch.zeros_like(x[..., :1]), torch.zeros_like(x[..., :1])
        base = x[..., :1]
        for chunk in (x - base).split(128, -1):
            total, squares = total + chunk.sum(-1, keepdim=True), squares + chunk.square().sum(-1, keepdim=True)
        mean = total / n
        return (x - base - mean) * torch.rsqrt(squares / n - mean.square() + 1e-5) * w + b

    shapes = [[(24, 513), (513,), (513,)], [(7, 2048), (2048,), (2048,)], [(96, 100), (100,), (100,)]]
    return Subject(
        "layer_norm", lambda x, w, b: F.layer_norm(x, x.shape[-1:], w, b), shapes,
        {
            "two passes": wide(norm),
            "shifted one pass": wide(one_pass),
            "running sums": wide(lambda x, w, b: (x - running_sum(x)[..., None] / x.shape[-1]) / torch.sqrt(running_sum((x - x.mean(-1, keepdim=True)).square())[..., None] / x.shape[-1] + 1e-5) * w + b),
            "rounded normal": lambda x, w, b: (norm(x.float(), torch.ones(()), torch.zeros(())).to(x.dtype).float() * w.float() + b.float()).to(x.dtype),
            "op by op": lambda x, w, b: (x - x.float().mean(-1, keepdim=True).to(x.dtype)) * torch.rsqrt(x.float().var(-1, keepdim=True, correction=0) + 1e-5).to(x.dtype) * w + b,
        },
        {
            "n - 1": wide(lambda x, w, b: norm(x, w, b, correction=1)),
            "eps 1e-2": wide(lambda x, w, b: norm(x, w, b, 1e-2)),
            "eps outside the root": wide(lambda x, w, b: (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True, correction=0) + 1e-2) * w + b),
            "mean without the tail": wide(lambda x, w, b: (x - x[..., :-8].mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True, correction=0) + 1e-5) * w + b),
            "mean divided by the padded n": wide(lambda x, w, b: (x - x.sum(-1, keepdim=True) / (-(-x.shape[-1] // 128) * 128 + 64)) * torch.rsqrt(x.var(-1, keepdim=True, correction=0) + 1e-5) * w + b),
            "no bias": wide(lambda x, w, b: norm(x, w, b * 0)),
            "weight of row 0": wide(lambda x, w, b: norm(x, w[:1], b)),
            "float16 squares": wide(lambda x, w, b: (x - x.mean(-1, keepdim=True)) * torch.rsqrt(half_sum((x - x.mean(-1, keepdim=True)).square())[..., None] / x.shape[-1] + 1e-5) * w + b),
        },
    )  # fmt: skip


def rms_norms() -> Subject:
    """The subject rms_norms: what is right, honest variants and wrong ones."""
    def rms(x: Tensor, w: Tensor, eps: float = 1e-6, n: int | None = None) -> Tensor:
        return x * torch.rsqrt(x.square().sum(-1, keepdim=True) / (n or x.shape[-1]) + eps) * w

    shapes = [[(24, 513), (513,)], [(7, 2048), (2048,)], [(96, 100), (100,)]]
    return Subject(
        "rms_norm", lambda x, w: F.rms_norm(x, x.shape[-1:], w, 1e-6), shapes,
        {
            "by hand": wide(rms),
            "divide by the root": wide(lambda x, w: x / torch.sqrt(x.square().mean(-1, keepdim=True) + 1e-6) * w),
            "running sum": wide(lambda x, w: x * torch.rsqrt(running_sum(x.square())[..., None] / x.shape[-1] + 1e-6) * w),
            "rounded before the weight": lambda x, w: rms(x.float(), torch.ones(())).to(x.dtype) * w,
        },
        {
            "eps 1e-1": wide(lambda x, w: rms(x, w, 1e-1)),
            "n - 1": wide(lambda x, w: rms(x, w, n=x.shape[-1] - 1)),
            "tail of 8 missing": wide(lambda x, w: x * torch.rsqrt(x[..., :-8].square().sum(-1, keepdim=True) / x.shape[-1] + 1e-6) * w),
            "float16 squares": wide(lambda x, w: x * torch.rsqrt(half_sum(x.square())[..., None] / x.shape[-1] + 1e-6) * w),
            "weight + 1": wide(lambda x, w: rms(x, w + 1)),
            "no root": wide(lambda x, w: x / (x.square().mean(-1, keepdim=True) + 1e-6) * w),
        },
    )  # fmt: skip


def sums() -> Subject:
    """The subject sums: what is right, honest variants and wrong ones."""
    return Subject(
        "sum", lambda x: x.sum(-1), ROWS,
        {
            "running": wide(running_sum),
            "backwards": wide(lambda x: running_sum(x.flip(-1))),
            "chunks of 128": wide(lambda x: torch.stack([c.sum(-1) for c in x.split(128, -1)], -1).sum(-1)),
            "pairwise": wide(lambda x: F.pad(x, (0, 4096 - x.shape[-1])).reshape(*x.shape[:-1], 64, 64).sum(-1).sum(-1)),
        },
        {
            "float16": wide(half_sum),
            "skips the last": wide(lambda x: x[..., :-1].sum(-1)),
            "drops a tail of 8": wide(lambda x: x[..., :-8].sum(-1)),
            "last twice": wide(lambda x: x.sum(-1) + x[..., -1]),
            "whole blocks only": wide(lambda x: x[..., : max(64, x.shape[-1] // 64 * 64 - 64)].sum(-1)),
            "absolute": wide(lambda x: x.abs().sum(-1)),
        },
    )  # fmt: skip


def maxima() -> Subject:
    """The subject maxima: what is right, honest variants and wrong ones."""
    return Subject(
        "max", lambda x: x.amax(-1), ROWS,
        {"sorted": wide(lambda x: x.sort(-1).values[..., -1]), "halves": wide(lambda x: torch.maximum(x[..., ::2].amax(-1), x[..., 1::2].amax(-1)))},
        {
            "starts at 0": wide(lambda x: x.amax(-1).clamp(min=0)),
            "skips the last": wide(lambda x: x[..., :-1].amax(-1)),
            "drops a tail of 8": wide(lambda x: x[..., :-8].amax(-1)),
            "minimum": wide(lambda x: x.amin(-1)),
            "magnitudes": wide(lambda x: x.abs().amax(-1)),
        },
    )  # fmt: skip


def losses() -> Subject:
    """The subject losses: what is right, honest variants and wrong ones."""
    def loss(x: Tensor, t: Tensor) -> Tensor:
        return -(F.log_softmax(x, -1)).gather(-1, t[:, None])[:, 0]

    return Subject(
        "cross_entropy", lambda x, t: F.cross_entropy(x, t, reduction="none"), [[(300, 513), (300,)], [(200, 100), (200,)]],
        {
            "gather": wide(loss),
            "logsumexp": wide(lambda x, t: x.logsumexp(-1) - x.gather(-1, t[:, None])[:, 0]),
            "running": wide(lambda x, t: running_sum(torch.exp(x - x.amax(-1, keepdim=True))).log() + x.amax(-1) - x.gather(-1, t[:, None])[:, 0]),
        },
        {
            "next class": wide(lambda x, t: loss(x, (t + 1) % x.shape[-1])),
            "skips the last class": wide(lambda x, t: x[..., :-1].logsumexp(-1) - x.gather(-1, t[:, None])[:, 0]),
            "label smoothing": wide(lambda x, t: F.cross_entropy(x, t, reduction="none", label_smoothing=0.01)),
            "no maximum in half": lambda x, t: (torch.exp(x.half()).float().sum(-1).half().log().float() - x.float().gather(-1, t[:, None])[:, 0]).to(x.dtype),
            "sign": wide(lambda x, t: -loss(x, t)),
        },
        labels=(100, 1),
    )  # fmt: skip


SQRT2 = math.sqrt(2)
