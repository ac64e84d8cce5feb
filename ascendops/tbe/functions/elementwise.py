"""Arithmetic on whole tensors and on a tensor and a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ascendops.errors import TbeParameterError
from ascendops.tbe.functions.base import computed, dsl, finished, scalar, tensor
from ascendops.tbe.graph import Tensor, caller, same_shape

if TYPE_CHECKING:
    pass

_MODES = ("high_performance", "high_precision")


def _unary(function: str, x: Any, **attrs: Any) -> Tensor:
    given = tensor(function, x)
    dtype, (operand,) = computed(function, given)
    return finished(Tensor(function, dtype, operand.shape, [operand], attrs), given)


def _binary(function: str, lhs: Any, rhs: Any, **attrs: Any) -> Tensor:
    left, right = tensor(function, lhs), tensor(function, rhs, "second")
    same_shape(function, left, right)
    dtype, operands = computed(function, left, right)
    return finished(Tensor(function, dtype, left.shape, operands, attrs), left)


def _with_number(function: str, x: Any, value: Any) -> Tensor:
    return _unary(function, x, scalar=scalar(function, value))


def _ternary(function: str, *values: Any) -> Tensor:
    given = [tensor(function, value, position) for value, position in zip(values, ("first", "second", "third"), strict=True)]
    same_shape(function, given[0], given[1])
    same_shape(function, given[0], given[2])
    dtype, operands = computed(function, *given)
    return finished(Tensor(function, dtype, operands[0].shape, operands), given[0])


def _mode(function: str, mode: str) -> None:
    if mode not in _MODES:
        raise TbeParameterError(f"impl_mode of tbe.dsl.{function} cannot be {mode!r}", where=caller(), help=f"use one of: {', '.join(_MODES)}")


@dsl
def vadd(lhs: Any, rhs: Any) -> Tensor:
    """Lhs + rhs."""
    return _binary("vadd", lhs, rhs)


@dsl
def vsub(lhs: Any, rhs: Any) -> Tensor:
    """Lhs - rhs."""
    return _binary("vsub", lhs, rhs)


@dsl
def vmul(lhs: Any, rhs: Any) -> Tensor:
    """Lhs * rhs."""
    return _binary("vmul", lhs, rhs)


@dsl
def vdiv(lhs: Any, rhs: Any) -> Tensor:
    """Lhs / rhs."""
    return _binary("vdiv", lhs, rhs)


@dsl
def vmod(lhs: Any, rhs: Any) -> Tensor:
    """Lhs - floor(lhs / rhs) * rhs."""
    return _binary("vmod", lhs, rhs)


@dsl
def vmax(lhs: Any, rhs: Any) -> Tensor:
    """The larger of both."""
    return _binary("vmax", lhs, rhs)


@dsl
def vmin(lhs: Any, rhs: Any) -> Tensor:
    """The smaller of both."""
    return _binary("vmin", lhs, rhs)


@dsl
def vand(lhs: Any, rhs: Any) -> Tensor:
    """Lhs & rhs, bit by bit."""
    return _binary("vand", lhs, rhs)


@dsl
def vor(lhs: Any, rhs: Any) -> Tensor:
    """Lhs | rhs, bit by bit."""
    return _binary("vor", lhs, rhs)


@dsl
def vgcd(lhs: Any, rhs: Any) -> Tensor:
    """The greatest common divisor."""
    return _binary("vgcd", lhs, rhs)


@dsl
def vaddrelu(lhs: Any, rhs: Any) -> Tensor:
    """max(lhs + rhs, 0)."""
    return _binary("vaddrelu", lhs, rhs)


@dsl
def vsubrelu(lhs: Any, rhs: Any) -> Tensor:
    """max(lhs - rhs, 0)."""
    return _binary("vsubrelu", lhs, rhs)


@dsl
def vadds(raw_tensor: Any, scalar: Any) -> Tensor:
    """X + a number."""
    return _with_number("vadds", raw_tensor, scalar)


@dsl
def vmuls(raw_tensor: Any, scalar: Any) -> Tensor:
    """X * a number."""
    return _with_number("vmuls", raw_tensor, scalar)


@dsl
def vmaxs(raw_tensor: Any, scalar: Any) -> Tensor:
    """The larger of x and a number."""
    return _with_number("vmaxs", raw_tensor, scalar)


@dsl
def vmins(raw_tensor: Any, scalar: Any) -> Tensor:
    """The smaller of x and a number."""
    return _with_number("vmins", raw_tensor, scalar)


@dsl
def vexp(raw_tensor: Any) -> Tensor:
    """E to the power of x."""
    return _unary("vexp", raw_tensor)


@dsl
def vabs(raw_tensor: Any) -> Tensor:
    """|x|."""
    return _unary("vabs", raw_tensor)


@dsl
def vnot(raw_tensor: Any) -> Tensor:
    """~x, bit by bit."""
    return _unary("vnot", raw_tensor)


@dsl
def vrelu(raw_tensor: Any) -> Tensor:
    """max(x, 0)."""
    return _unary("vrelu", raw_tensor)


@dsl
def vtanh(raw_tensor: Any) -> Tensor:
    """tanh(x)."""
    return _unary("vtanh", raw_tensor)


@dsl
def vsigmoid(raw_tensor: Any) -> Tensor:
    """1 / (1 + e^-x)."""
    return _unary("vsigmoid", raw_tensor)


@dsl
def vsignbit(raw_tensor: Any) -> Tensor:
    """1 where the sign bit is set, else 0."""
    return _unary("vsignbit", raw_tensor)


@dsl
def vrec(raw_tensor: Any, impl_mode: str = "high_performance") -> Tensor:
    """1 / x; the device's instruction is an approximation in high_performance, the twin divides."""
    _mode("vrec", impl_mode)
    return _unary("vrec", raw_tensor)


@dsl
def vlog(raw_tensor: Any, impl_mode: str = "high_performance") -> Tensor:
    """ln(x)."""
    _mode("vlog", impl_mode)
    return _unary("vlog", raw_tensor)


@dsl
def vsqrt(raw_tensor: Any, impl_mode: str = "high_performance") -> Tensor:
    """sqrt(x)."""
    _mode("vsqrt", impl_mode)
    return _unary("vsqrt", raw_tensor)


@dsl
def vrsqrt(raw_tensor: Any, impl_mode: str = "high_performance") -> Tensor:
    """1 / sqrt(x)."""
    _mode("vrsqrt", impl_mode)
    return _unary("vrsqrt", raw_tensor)


@dsl
def vlrelu(raw_tensor: Any, alpha: Any = 0) -> Tensor:
    """X where x > 0, else alpha * x."""
    return _unary("vlrelu", raw_tensor, scalar=scalar("vlrelu", alpha))


@dsl
def powi(raw_tensor: Any, power: Any) -> Tensor:
    """X to a whole power."""
    return _unary("powi", raw_tensor, scalar=scalar("powi", power))


@dsl
def clip(data: Any, max_value: Any, min_value: Any) -> Tensor:
    """min(max(x, min_value), max_value)."""
    return _unary("clip", data, low=scalar("clip", min_value, "third"), high=scalar("clip", max_value))


@dsl
def vaxpy(lhs: Any, rhs: Any, scalar_: Any) -> Tensor:
    """A number * lhs + rhs."""
    return _binary("vaxpy", lhs, rhs, scalar=scalar("vaxpy", scalar_, "third"))


@dsl
def vmla(tensor_0: Any, tensor_1: Any, tensor_2: Any) -> Tensor:
    """tensor_0 * tensor_1 + tensor_2, rounded once."""
    return _ternary("vmla", tensor_0, tensor_1, tensor_2)


@dsl
def vmadd(tensor_0: Any, tensor_1: Any, tensor_2: Any) -> Tensor:
    """tensor_0 * tensor_2 + tensor_1, rounded once."""
    return _ternary("vmadd", tensor_0, tensor_1, tensor_2)


@dsl
def vmaddrelu(tensor_0: Any, tensor_1: Any, tensor_2: Any) -> Tensor:
    """max(tensor_0 * tensor_2 + tensor_1, 0), rounded once."""
    return _ternary("vmaddrelu", tensor_0, tensor_1, tensor_2)


