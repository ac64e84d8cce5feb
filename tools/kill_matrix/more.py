"""More operators of the kill matrix: elementwise functions, products of matrices, attention, scans, positions."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from tools.kill_matrix.subjects import (
    PAIRS,
    PLAIN,
    SQRT2,
    Subject,
    layer_norms,
    log_softmaxes,
    losses,
    maxima,
    rms_norms,
    softmaxes,
    sums,
    wide,
)  # fmt: skip


def gelus() -> Subject:
    """The subject gelus: what is right, honest variants and wrong ones."""
    return Subject(
        "gelu", F.gelu, PLAIN,
        {
            "erf": wide(lambda x: 0.5 * x * (1 + torch.erf(x / SQRT2))),
            "erfc": wide(lambda x: 0.5 * x * torch.erfc(-x / SQRT2)),
            "normal distribution": wide(lambda x: x * torch.special.ndtr(x)),
        },
        {
            "tanh form": wide(lambda x: F.gelu(x, approximate="tanh")),
            "sigmoid form": wide(lambda x: x * torch.sigmoid(1.702 * x)),
            "erf in half": lambda x: (0.5 * x.float() * (1 + torch.erf(x.float() / SQRT2).half().float())).to(x.dtype),
            "relu": wide(F.relu),
            "cut at 3": wide(lambda x: torch.where(x > 3, x, torch.where(x < -3, 0 * x, F.gelu(x)))),
        },
    )  # fmt: skip


def silus() -> Subject:
    """The subject silus: what is right, honest variants and wrong ones."""
    return Subject(
        "silu", F.silu, PLAIN,
        {"x * sigmoid": wide(lambda x: x * torch.sigmoid(x)), "x / (1 + e)": wide(lambda x: x / (1 + torch.exp(-x))),
         "tanh": wide(lambda x: torch.where(x > -4, 0.5 * x * (1 + torch.tanh(x / 2)), x / (1 + torch.exp(-x))))},
        {
            "hard swish": wide(F.hardswish),
            "beta 1.01": wide(lambda x: x * torch.sigmoid(1.01 * x)),
            "sigmoid in half": lambda x: (x.float() * torch.sigmoid(x.half()).half().float() * (1 + 2**-9)).to(x.dtype),
            "rough reciprocal": wide(lambda x: x * ((1 / (1 + torch.exp(-x))) * (1 - 2**-9))),
            "sign": wide(lambda x: F.silu(-x)),
        },
    )  # fmt: skip


def exps() -> Subject:
    """The subject exps: what is right, honest variants and wrong ones."""
    return Subject(
        "exp", torch.exp, PLAIN,
        {"exp2": wide(lambda x: torch.exp2(x.double() * math.log2(math.e)).float()), "square of exp(x / 2)": wide(lambda x: torch.exp(x / 2).square())},
        {
            "polynomial": wide(lambda x: (1 + x / 256).pow(256)),
            "in half": lambda x: torch.exp(x.half().float()).half().mul(1 + 2**-9).to(x.dtype),
            "rough log2 e": wide(lambda x: torch.exp2(x * 1.44)),
            "clamped": wide(lambda x: torch.exp(x.clamp(max=4))),
        },
    )  # fmt: skip


def adds() -> Subject:
    """The subject adds: what is right, honest variants and wrong ones."""
    return Subject(
        "add", lambda a, b: a + b, PAIRS, {"b first": wide(lambda a, b: b + a)},
        {
            "subtract": wide(lambda a, b: a - b),
            "b is row 0": wide(lambda a, b: a + (b[:1] if b.dim() > 1 else b[0])),
            "in half": lambda a, b: ((a.half() + b.half()).float() * (1 + 2**-9)).to(a.dtype),
            "b shifted": wide(lambda a, b: a + torch.roll(b, 1)),
            "saturates at 6": wide(lambda a, b: (a + b).clamp(-6, 6)),
        },
    )  # fmt: skip


def divs() -> Subject:
    """The subject divs: what is right, honest variants and wrong ones."""
    return Subject(
        "div", lambda a, b: a / b, PAIRS, {"reciprocal": wide(lambda a, b: a * (1 / b))},
        {
            "rough reciprocal": wide(lambda a, b: a * ((1 / b) * (1 + 2**-9))),
            "guard 1e-2": wide(lambda a, b: a / (b + 1e-2)),
            "truncated": wide(lambda a, b: torch.trunc(a / b)),
            "swapped": wide(lambda a, b: b / a),
        },
    )  # fmt: skip


def cumsums() -> Subject:
    """The subject cumsums: what is right, honest variants and wrong ones."""
    def chunked(x: Tensor) -> Tensor:
        total, parts = torch.zeros_like(x[..., :1]), []
        for chunk in x.split(64, -1):
            part = chunk.cumsum(-1) + total
            parts.append(part)
            total = part[..., -1:]
        return torch.cat(parts, -1)

    def lost(x: Tensor) -> Tensor:
        return torch.cat([c.cumsum(-1) for c in x.split(64, -1)], -1)

    return Subject(
        "cumsum", lambda x: x.cumsum(-1), [[(24, 513)], [(7, 2048)]], {"chunked": wide(chunked)},
        {
            "carry lost": wide(lost),
            "exclusive": wide(lambda x: x.cumsum(-1) - x),
            "float16": lambda x: torch.stack(_half_scan(x), -1).to(x.dtype),
            "along rows": wide(lambda x: x.cumsum(0)),
        },
    )  # fmt: skip


def _half_scan(x: Tensor) -> list[Tensor]:
    total, parts = torch.zeros_like(x[..., 0], dtype=torch.float16), []
    for part in x.half().unbind(-1):
        total = total + part
        parts.append(total.float())
    return parts


def matmuls() -> Subject:
    """The subject matmuls: what is right, honest variants and wrong ones."""
    def split(a: Tensor, b: Tensor) -> Tensor:
        return sum((a[:, i : i + 32] @ b[i : i + 32] for i in range(0, a.shape[1], 32)), torch.zeros(()))

    def half(a: Tensor, b: Tensor) -> Tensor:
        total = torch.zeros(a.shape[0], b.shape[1], dtype=torch.float16)
        for i in range(a.shape[1]):
            total = total + (a[:, i : i + 1].half() * b[i : i + 1].half())
        return total.float()

    def tf32(a: Tensor, b: Tensor) -> Tensor:
        cut = lambda t: (t.contiguous().view(torch.int32) & ~0x1FFF).view(torch.float32)  # noqa: E731
        return cut(a) @ cut(b)

    def outer(a: Tensor, b: Tensor) -> Tensor:
        total = torch.zeros(a.shape[0], b.shape[1])
        for i in range(a.shape[1]):
            total = torch.addcmul(total, a[:, i : i + 1], b[i : i + 1])
        return total

    return Subject(
        "matmul", lambda a, b: a @ b, [[(65, 300), (300, 48)], [(32, 1024), (1024, 64)]],
        {"split K": wide(split), "outer products": wide(outer), "transposed": wide(lambda a, b: (b.T @ a.T).T)},
        {
            "K tail dropped": wide(lambda a, b: a[:, :-4] @ b[:-4]),
            "float16 sum": wide(half),
            "TF32 or bf16 products": lambda a, b: (tf32(a.float(), b.float()).to(a.dtype) if a.dtype == torch.float32 else (a.float() @ b.float() * (1 - 2**-7)).to(a.dtype)),
            "first rows lost": wide(lambda a, b: torch.cat([torch.zeros(4, b.shape[1]), (a @ b)[4:]])),
            "last K twice": wide(lambda a, b: a @ b + a[:, -1:] @ b[-1:]),
            "b row 0 zero": wide(lambda a, b: a[:, 1:] @ b[1:]),
        },
    )  # fmt: skip


def attentions() -> Subject:
    """The subject attentions: what is right, honest variants and wrong ones."""
    def attend(
        q: Tensor, k: Tensor, v: Tensor, scale: float | None = None, cut: int = 0, round_p: torch.dtype | None = None
    ) -> Tensor:
        p = F.softmax(q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale), -1)
        p = p if round_p is None else p.to(round_p).float()
        return p[..., : p.shape[-1] - cut] @ v[..., : v.shape[-2] - cut, :]

    def flash(q: Tensor, k: Tensor, v: Tensor, dtype: torch.dtype | None = None) -> Tensor:
        scale = q.shape[-1] ** -0.5
        top, total, out = torch.full_like(q[..., :1], float("-inf")), torch.zeros_like(q[..., :1]), torch.zeros_like(q)
        for i in range(0, k.shape[-2], 32):
            s = q @ k[..., i : i + 32, :].mT * scale
            new = torch.maximum(top, s.amax(-1, keepdim=True))
            p = torch.exp(s - new)
            fade = torch.exp(top - new)
            total = total * fade + p.sum(-1, keepdim=True)
            out = out * fade + (p if dtype is None else p.to(dtype).float()) @ v[..., i : i + 32, :]
            top = new
        return out / total

    shape: list[tuple[int, ...]] = [(2, 3, 40, 64)] * 3
    return Subject(
        "attention", F.scaled_dot_product_attention, [shape, [(1, 2, 64, 48), (1, 2, 100, 48), (1, 2, 100, 48)]],
        {
            "by hand": wide(attend),
            "flash": wide(flash),
            "flash, P rounded": lambda q, k, v: flash(q.float(), k.float(), v.float(), q.dtype).to(q.dtype),
            "P rounded": lambda q, k, v: attend(q.float(), k.float(), v.float(), round_p=q.dtype).to(q.dtype),
        },
        {
            "no scale": wide(lambda q, k, v: attend(q, k, v, 1.0)),
            "last key lost": wide(lambda q, k, v: attend(q, k, v, cut=1)),
            "scale 1/d": wide(lambda q, k, v: attend(q, k, v, 1 / q.shape[-1])),
            "head 0 for all": wide(lambda q, k, v: attend(q, k[:, :1].expand_as(k), v)),
            "not rescaled": wide(lambda q, k, v: attend(q, k, v) * 0.99),
            "keys shifted": wide(lambda q, k, v: attend(q, torch.roll(k, 1, -2), v)),
        },
    )  # fmt: skip


def ropes() -> Subject:
    """The subject ropes: what is right, honest variants and wrong ones."""
    def turn(x: Tensor, c: Tensor, s: Tensor, sign: float = 1.0) -> Tensor:
        a, b = x.chunk(2, -1)
        return torch.cat([a * c - sign * b * s, b * c + sign * a * s], -1)

    return Subject(
        "rope", turn, [[(24, 192), (24, 96), (24, 96)], [(65, 64), (65, 32), (65, 32)]],
        {"fp32": wide(turn), "op by op": turn},
        {
            "other way": wide(lambda x, c, s: turn(x, c, s, -1.0)),
            "halves swapped": wide(lambda x, c, s: torch.cat(turn(x, c, s).chunk(2, -1)[::-1], -1)),
            "second half as it was": wide(lambda x, c, s: torch.cat([turn(x, c, s).chunk(2, -1)[0], x.chunk(2, -1)[1]], -1)),
            "position off by one": wide(lambda x, c, s: turn(x, torch.roll(c, 1, 0), torch.roll(s, 1, 0))),
        },
    )  # fmt: skip


SUBJECTS = [
    softmaxes(), log_softmaxes(), layer_norms(), rms_norms(), sums(), maxima(), losses(), gelus(), silus(), exps(), adds(), divs(),
    cumsums(), matmuls(), attentions(), ropes(),
]  # fmt: skip
