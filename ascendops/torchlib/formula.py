"""Gradient formulas of op.toml evaluated on tensors: each function of the language is the torch function of its name."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import torch
import torch.nn.functional

if TYPE_CHECKING:
    from ascendops.spec.formula import Formula

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
}  # fmt: skip
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def _size(tensor: torch.Tensor, dim: int) -> Any:
    return tensor.shape[dim]


def _numel(tensor: torch.Tensor) -> Any:
    return tensor.numel()


def rows(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor` as a matrix: all dims but the last are one."""
    return tensor.reshape(tensor.shape[:-1].numel(), tensor.shape[-1])


def silu_backward(grad: torch.Tensor, tensor: torch.Tensor) -> torch.Tensor:
    """The gradient of silu; torch's own function of this name has no derivative itself."""
    s = torch.sigmoid(tensor)
    return grad * s * (1 + tensor * (1 - s))


def _expand_as(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return tensor.expand_as(like)


def _reshape_as(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return tensor.reshape(like.shape)


def _cast_as(tensor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return tensor.to(like.dtype)


def _reduce(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    def reduce(tensor: torch.Tensor, dim: Any = None, keepdim: bool = False) -> torch.Tensor:
        dims = list(range(tensor.dim())) if dim is None or dim == [] or dim == () else dim
        return function(tensor, dims, keepdim)

    return reduce


def _clamp(tensor: torch.Tensor, low: Any, high: Any) -> torch.Tensor:
    return torch.clamp(tensor, low, high)


def _flip(tensor: torch.Tensor, dims: Any) -> torch.Tensor:
    return torch.flip(tensor, [dims] if isinstance(dims, int) else list(dims))


def _unpermute(tensor: torch.Tensor, dims: Any) -> torch.Tensor:
    places = {dim % max(tensor.dim(), 1): place for place, dim in enumerate(dims)}
    return tensor.permute([places[dim] for dim in range(tensor.dim())])


def _gather(tensor: torch.Tensor, dim: int, index: torch.Tensor) -> torch.Tensor:
    return torch.gather(tensor, dim, index.long())


def _scatter(tensor: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return torch.scatter(tensor, dim, index.long(), source)


def _scatter_add(tensor: torch.Tensor, dim: int, index: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    return torch.scatter_add(tensor, dim, index.long(), source)


def _convolution_backward(place: int) -> Callable[..., torch.Tensor]:
    def backward(grad: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, stride: Any, padding: Any, dilation: Any, groups: int) -> torch.Tensor:
        wanted = [place == i for i in range(3)]
        found = torch.ops.aten.convolution_backward(grad, x, weight, None, list(stride), list(padding), list(dilation), False, [0, 0], groups, wanted)
        return cast(torch.Tensor, found[place])

    return backward


def unreduce(tensor: torch.Tensor, like: torch.Tensor, dim: Any, keepdim: bool = False) -> torch.Tensor:
    """`tensor` with the dims put back that a reduction of `like` over `dim` removed, expanded to the shape of `like`."""
    rank = like.dim()
    if not keepdim and rank:
        every = range(rank) if dim is None or (isinstance(dim, (list, tuple)) and not dim) else [dim] if isinstance(dim, int) else dim
        for one in sorted(each % rank for each in every):
            tensor = tensor.unsqueeze(one)
    return tensor.expand(like.shape)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "size": _size, "numel": _numel, "expand_as": _expand_as, "reshape_as": _reshape_as, "cast_as": _cast_as, "clamp": _clamp, "flip": _flip,
    "conv2d_grad_x": _convolution_backward(0), "conv2d_grad_weight": _convolution_backward(1),
    "gather": _gather, "scatter": _scatter, "scatter_add": _scatter_add, "unpermute": _unpermute, "unreduce": unreduce, "rows": rows, "silu_backward": silu_backward, "gelu_backward": torch.ops.aten.gelu_backward,
    "sum": _reduce(torch.sum), "mean": _reduce(torch.mean), "amax": _reduce(torch.amax), "amin": _reduce(torch.amin),
    "silu": torch.nn.functional.silu, "softplus": torch.nn.functional.softplus, "relu": torch.relu,
}  # fmt: skip


def evaluate(formula: Formula, values: Mapping[str, Any], found: dict[str, Any] | None = None) -> Any:
    """The value of a checked formula for these tensors and attributes.

    Results of functions are kept in `found`: formulas that share it compute what they have in common once.
    """
    return _Evaluator(values, {} if found is None else found).value(formula.tree)


class _Evaluator:
    def __init__(self, values: Mapping[str, Any], found: dict[str, Any]) -> None:
        self.values, self.found = values, found

    def value(self, node: ast.expr) -> Any:
        """The value of one node."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.values[node.id]
            case ast.BinOp():
                return _BINARY[type(node.op)](self.value(node.left), self.value(node.right))
            case ast.UnaryOp(op=ast.Not()):
                return not self.value(node.operand)
            case ast.UnaryOp():
                return -self.value(node.operand)
            case ast.Compare():
                return _COMPARE[type(node.ops[0])](self.value(node.left), self.value(node.comparators[0]))
            case ast.IfExp():
                return self.value(node.body if self.value(node.test) else node.orelse)
            case ast.List():
                return [self.value(item) for item in node.elts]
            case ast.Call():
                return self.call(node)
        raise AssertionError(f"unchecked node {ast.dump(node)}")

    def call(self, node: ast.Call) -> Any:
        text = ast.unparse(node)
        if text not in self.found:
            name = cast(ast.Name, node.func).id
            function: Callable[..., Any] = _SPECIAL[name] if name in _SPECIAL else getattr(torch, name)
            self.found[text] = function(*(self.value(arg) for arg in node.args))
        return self.found[text]


class Like(NamedTuple):
    """What a gradient has in common with its input, where the input's elements are not needed."""

    shape: torch.Size
    dtype: torch.dtype
    device: torch.device


def fit(gradient: Any, like: torch.Tensor | Like) -> torch.Tensor:
    """A gradient in the shape and dtype of its input: summed over the dims along which the input was broadcast."""
    if not isinstance(gradient, torch.Tensor):
        return torch.full(like.shape, gradient, dtype=like.dtype, device=like.device)
    extra = gradient.dim() - len(like.shape)
    if extra > 0:
        gradient = gradient.sum(list(range(extra)))
    grown = [dim for dim, (a, b) in enumerate(zip(gradient.shape, like.shape, strict=False)) if b == 1 and a != 1]
    if grown:
        gradient = gradient.sum(grown, keepdim=True)
    fitted: torch.Tensor = gradient.expand(like.shape).to(like.dtype)
    return fitted
