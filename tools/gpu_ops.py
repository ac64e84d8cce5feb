"""What tools/record_gpu.py tries: torch's own operator, attributes and shapes for each reference of cuda_reference/."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F

Function = Callable[..., torch.Tensor]
Shapes = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Op:
    """How one reference is tried: torch's own operator, its attributes, and shapes for errors and for time."""

    torch: Function
    inputs: int = 1
    attrs: dict[str, Any] = field(default_factory=dict)
    positive: bool = False
    golden: Function | None = None
    small: Sequence[Shapes] = (((1,),), ((1025,),), ((3, 0),), ((1023, 1025),))
    large: Sequence[Shapes] = (((8192, 8192),),)


def _gelu64(x: torch.Tensor) -> torch.Tensor:
    complement: torch.Tensor = torch.special.erfc(-x * math.sqrt(0.5))
    return x * complement / 2


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
}
REDUCTIONS = frozenset({"sum", "mean", "max", "min", "amax", "amin"})


def attrs_of(name: str) -> Sequence[dict[str, Any]]:
    """The attribute sets to try."""
    return _REDUCED if name in REDUCTIONS else (OPS[name].attrs,)


def small_shapes(name: str) -> Sequence[Shapes]:
    """The shapes for errors; a maximum of nothing does not exist."""
    nothing_fits = name not in REDUCTIONS or name in ("sum", "mean")
    return [shapes for shapes in OPS[name].small if nothing_fits or 0 not in shapes[0]]
