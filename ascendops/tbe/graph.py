"""What tbe.dsl calls build: symbolic sizes, constants and a graph of tensors."""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from ascendops.errors import TbeShapeError

HERE = Path(__file__).parent
_count = itertools.count()


class Dim:
    """A size that the operator's source does not know; the twin does: `value`. Equal only to itself, as tvm's are."""

    def __init__(self, value: int, name: str) -> None:
        self.value, self.name = value, name
        self.dtype = "int32"

    def __repr__(self) -> str:
        return self.name

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def _with(self, other: Any, mark: str, function: Callable[[int, int], int], *, swapped: bool = False) -> Dim:
        left, right = (other, self) if swapped else (self, other)
        return Dim(function(concrete(left), concrete(right)), f"({left}{mark}{right})")

    def __add__(self, other: Any) -> Dim:
        return self._with(other, " + ", operator.add)

    def __radd__(self, other: Any) -> Dim:
        return self._with(other, " + ", operator.add, swapped=True)

    def __sub__(self, other: Any) -> Dim:
        return self._with(other, " - ", operator.sub)

    def __rsub__(self, other: Any) -> Dim:
        return self._with(other, " - ", operator.sub, swapped=True)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, float):
            return Scalar(self, other)
        return self._with(other, " * ", operator.mul)

    def __rmul__(self, other: Any) -> Any:
        return self * other if isinstance(other, float) else self._with(other, " * ", operator.mul, swapped=True)

    def __floordiv__(self, other: Any) -> Dim:
        return self._with(other, " // ", operator.floordiv)

    def __mod__(self, other: Any) -> Dim:
        return self._with(other, " % ", operator.mod)

    def astype(self, dtype: str) -> Const:
        """The size as a number of a dtype."""
        return Const(float(self.value) if "float" in dtype else self.value, dtype)


class Const:
    """tvm.const: a number with a dtype."""

    def __init__(self, value: Any, dtype: str) -> None:
        self.value, self.dtype = value, dtype

    def __repr__(self) -> str:
        return f"{self.value}"

    def __neg__(self) -> Const:
        return Const(-self.value, self.dtype)

    def _with(self, other: Any, function: Callable[[Any, Any], Any], *, swapped: bool = False) -> Const:
        mine, its = self.value, number(other)
        return Const(function(its, mine) if swapped else function(mine, its), self.dtype)

    def __add__(self, other: Any) -> Const:
        return self._with(other, operator.add)

    def __sub__(self, other: Any) -> Const:
        return self._with(other, operator.sub)

    def __mul__(self, other: Any) -> Const:
        return self._with(other, operator.mul)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Const:
        return self._with(other, operator.sub, swapped=True)

    def __truediv__(self, other: Any) -> Const:
        return self._with(other, operator.truediv)

    def __rtruediv__(self, other: Any) -> Const:
        return self._with(other, operator.truediv, swapped=True)

    def astype(self, dtype: str) -> Const:
        """The number with another dtype."""
        return Const(self.value, dtype)


class Scalar(Const):
    """The product of a size and a number."""

    def __init__(self, dim: Dim, factor: float) -> None:
        super().__init__(dim.value * factor, "float32")


def concrete(size: Any) -> int:
    """The number that a size stands for."""
    return int(size.value) if isinstance(size, Dim | Const) else int(size)


def number(value: Any) -> Any:
    """The number of a constant, a size or a plain number."""
    return value.value if isinstance(value, Dim | Const) else value


class Op:
    """What tvm calls tensor.op."""

    def __init__(self, name: str, tag: str, attrs: Mapping[str, Any], inputs: Sequence[Tensor]) -> None:
        self.name, self.tag, self.attrs, self.input_tensors = name, tag, dict(attrs), list(inputs)


class Tensor:
    """A node of the graph.

    Attributes:
        kind: The function that makes it, `placeholder` for an input.
        dtype: TBE's name of the element type.
        shape: Sizes, each an int or a Dim.
        inputs: The nodes it is made of.
        attrs: The function's other arguments.
        where: `file:line` of the call in the operator's source.
    """

    def __init__(self, kind: str, dtype: str, shape: Sequence[Any], inputs: Sequence[Tensor] = (), attrs: Mapping[str, Any] | None = None, name: str = "") -> None:
        self.kind, self.dtype, self.shape = kind, dtype, list(shape)
        self.inputs, self.attrs = tuple(inputs), dict(attrs or {})
        self.name = name or f"{kind}_{next(_count)}"
        self.where = caller()
        self.op = Op(self.name, kind, self.attrs, inputs)

    def __repr__(self) -> str:
        return f"Tensor({self.name}: {self.dtype} {self.shape})"

    def __bool__(self) -> bool:
        return True

    @property
    def ndim(self) -> int:
        """Number of dims."""
        return len(self.shape)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(concrete(size) for size in self.shape)


def caller() -> str:
    """`file:line` of the innermost frame outside of this package: the operator's own line."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if HERE not in path.parents:
            return f"{path}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def same_shape(function: str, left: Tensor, right: Tensor) -> None:
    """Refuse two tensors of different shapes.

    Raises:
        TbeShapeError: They differ.
    """
    if left.sizes != right.sizes or left.ndim != right.ndim:
        raise TbeShapeError(
            f"tbe.dsl.{function} was given the shapes {left.shape} and {right.shape}", where=caller(),
            help="bring both to one shape with tbe.broadcast",
        )  # fmt: skip


def order(outputs: Sequence[Tensor]) -> Iterator[Tensor]:
    """Every node that the outputs need, inputs first."""
    done: set[int] = set()
    stack = [(node, False) for node in reversed(outputs)]
    while stack:
        node, ready = stack.pop()
        if id(node) in done:
            continue
        if ready:
            done.add(id(node))
            yield node
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(node.inputs))
