"""What tools/record_gpu.py tries: torch's own operator, attributes and shapes for each reference of cuda_reference/."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F

Function = Callable[..., Any]  # a tensor, or a tuple of them
Shapes = Sequence[Sequence[int]]
Make = Callable[[Shapes, torch.dtype], list[torch.Tensor]]


@dataclass(frozen=True)
class Op:
    """How one reference is tried: torch's own operator, its attributes, and shapes for errors and for time.

    `golden` is a float64 formula where torch's operator is not one (or returns less); `make` makes inputs that are not all of one dtype.
    """

    torch: Function
    inputs: int = 1
    attrs: dict[str, Any] = field(default_factory=dict)
    positive: bool = False
    golden: Function | None = None
    make: Make | None = None
    small: Sequence[Shapes] = (((1,),), ((1025,),), ((3, 0),), ((1023, 1025),))
    large: Sequence[Shapes] = (((8192, 8192),),)


def _gelu64(x: torch.Tensor) -> torch.Tensor:
    complement: torch.Tensor = torch.special.erfc(-x * math.sqrt(0.5))
    return x * complement / 2


def _rms_norm64(x: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, ...]:
    rstd = torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return x * rstd * weight, rstd


def _add_rms_norm64(x1: torch.Tensor, x2: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor, ...]:
    return (*_rms_norm64(x1 + x2, weight, eps), x1 + x2)


def _add_rms_norm(x1: torch.Tensor, x2: torch.Tensor, weight: torch.Tensor, eps: float) -> tuple[torch.Tensor | None, ...]:
    x = x1 + x2
    return F.rms_norm(x, weight.shape, weight, eps), None, x


def _swiglu(x: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return F.silu(a) * b


def _geglu(x: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return F.gelu(a) * b


def _geglu64(x: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return _gelu64(a) * b


def _backward(forward: Function) -> Function:
    """The gradient of a function of one tensor, as torch computes it, for (grad_y, x)."""

    def run(grad_y: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        leaf = x.detach().requires_grad_()
        return torch.autograd.grad(forward(leaf), leaf, grad_y)[0]

    return run


def _norm(parameters: int, tensors: int = 1, **more: Any) -> dict[str, Any]:
    def shapes(*all_rows: tuple[int, ...]) -> Sequence[Shapes]:
        return tuple((*[rows] * tensors, *[rows[-1:]] * parameters) for rows in all_rows)

    small = shapes((7, 1), (5, 17), (33, 1025), (3, 50003), (0, 5), (2100, 3))
    return {"inputs": tensors + parameters, "small": small, "large": shapes((4096, 4096), (8192, 7168), (64, 50000)), **more}


_GATED_SMALL = (((7, 2),), ((5, 34),), ((33, 2050),), ((0, 6),), ((2100, 6),))
_GATED_LARGE = (((8192, 8192),), ((4096, 28672),))


def _with_gradient(shapes: Sequence[Shapes]) -> Sequence[Shapes]:
    """The shape of the gradient of a gated activation before that of its input."""
    return tuple(((*one[0][:-1], one[0][-1] // 2), one[0]) for one in shapes)


_ROWS = (((7, 1),), ((5, 17),), ((33, 1025),), ((3, 100003),), ((0, 5),), ((2100, 3),))
_REDUCED = ({"dim": -1, "keepdim": False}, {"dim": 0, "keepdim": True})
_PAIR: Sequence[Shapes] = (
    ((1025,), (1025,)),
    ((), (513,)),
    ((33, 127), (127,)),
    ((33, 1), (1, 31)),
    ((2, 7, 5), (2, 1, 5)),
)
_PAIR_LARGE = (((8192, 8192), (8192, 8192)), ((8192, 8192), (8192,)), ((8192, 8192), (8192, 1)))
_SOFTMAX_LARGE = (((256, 2048),), ((4096, 4096),), ((8192, 8192),), ((64, 100003),))


def _binary(function: Function) -> Op:
    return Op(function, 2, small=_PAIR, large=_PAIR_LARGE)


def _same(function: Function, **more: Any) -> Op:
    return Op(function, 2, small=_twice(Op.small), large=_twice(Op.large), **more)


def _twice(shapes: Sequence[Shapes]) -> Sequence[Shapes]:
    return tuple((one[0], one[0]) for one in shapes)


OPS: dict[str, Op] = {
    "abs": Op(torch.abs),
    "neg": Op(torch.neg),
    "square": Op(torch.square),
    "exp": Op(torch.exp),
    "log": Op(torch.log, positive=True),
    "sqrt": Op(torch.sqrt, positive=True),
    "rsqrt": Op(torch.rsqrt, positive=True),
    "reciprocal": Op(torch.reciprocal),
    "relu": Op(torch.relu),
    "sigmoid": Op(torch.sigmoid),
    "silu": Op(F.silu),
    "tanh": Op(torch.tanh),
    "gelu": Op(F.gelu, golden=_gelu64),
    "leaky_relu": Op(F.leaky_relu, attrs={"negative_slope": 0.2}),
    "clamp": Op(torch.clamp, attrs={"min": -1.5, "max": 2.25}),
    "scale_shift": Op(lambda x, alpha, beta: alpha * x + beta, attrs={"alpha": -1.75, "beta": 0.5}),
    "axpy": _same(lambda x1, x2, alpha: torch.add(x1, x2, alpha=alpha), attrs={"alpha": -1.75}),
    "squared_difference": _same(lambda x1, x2: (x1 - x2).square()),
    "silu_mul": _same(lambda x1, x2: F.silu(x1) * x2),
    "add": _binary(torch.add),
    "sub": _binary(torch.sub),
    "mul": _binary(torch.mul),
    "div": _binary(torch.div),
    "maximum": _binary(torch.maximum),
    "minimum": _binary(torch.minimum),
    "sum": Op(torch.sum, small=_ROWS),
    "mean": Op(torch.mean, small=_ROWS),
    "max": Op(torch.amax, small=_ROWS),
    "min": Op(torch.amin, small=_ROWS),
    "amax": Op(torch.amax, small=_ROWS),
    "amin": Op(torch.amin, small=_ROWS),
    "softmax": Op(lambda x: torch.softmax(x, -1), small=_ROWS, large=_SOFTMAX_LARGE),
    "log_softmax": Op(lambda x: torch.log_softmax(x, -1), small=_ROWS, large=_SOFTMAX_LARGE),
    "rms_norm": Op(lambda x, w, eps: F.rms_norm(x, w.shape, w, eps), attrs={"eps": 1e-6}, golden=_rms_norm64, **_norm(1)),
    "layer_norm": Op(lambda x, w, b, eps: torch.native_layer_norm(x, w.shape, w, b, eps), attrs={"eps": 1e-5}, **_norm(2)),
    "add_rms_norm": Op(_add_rms_norm, attrs={"eps": 1e-6}, golden=_add_rms_norm64, **_norm(1, tensors=2)),
    "swiglu": Op(_swiglu, small=_GATED_SMALL, large=_GATED_LARGE),
    "geglu": Op(_geglu, golden=_geglu64, small=_GATED_SMALL, large=_GATED_LARGE),
    "swiglu_backward": Op(
        _backward(_swiglu), 2, small=_with_gradient(_GATED_SMALL), large=_with_gradient(_GATED_LARGE)
    ),
    "geglu_backward": Op(
        _backward(_geglu), 2, golden=_backward(_geglu64),
        small=_with_gradient(_GATED_SMALL), large=_with_gradient(_GATED_LARGE),
    ),
}  # fmt: skip
REDUCTIONS = frozenset({"sum", "mean", "max", "min", "amax", "amin"})


def attrs_of(name: str) -> Sequence[dict[str, Any]]:
    """The attribute sets to try."""
    return _REDUCED if name in REDUCTIONS else (OPS[name].attrs,)


def small_shapes(name: str) -> Sequence[Shapes]:
    """The shapes for errors; a maximum of nothing does not exist."""
    nothing_fits = name not in REDUCTIONS or name in ("sum", "mean")
    return [shapes for shapes in OPS[name].small if nothing_fits or 0 not in shapes[0]]
