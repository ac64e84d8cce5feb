"""Reductions and scans with a combine function of their own, on whole slices of a block instead of element by element.

The order is the interpreter's, from the first element of the axis to the last, so the bits are too. A combine function that branches on
its values, or changes their dtype, is left to the interpreter's own loop.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Iterator
from typing import Any

NEEDS = (
    "interpreter.ReduceOps.generic_reduce", "interpreter.ReduceOps.unravel", "interpreter.ScanOps.generic_scan",
    "interpreter.ReduceScanOpInterface.to_tensor", "interpreter.InterpreterError", "tl.tensor",
)  # fmt: skip


class _Unfit(BaseException):
    """The combine function cannot take blocks; no kernel's `except Exception` may keep this from `_fold`."""


def whole_slices(interpreter: Any, tl: Any) -> None:
    """Replaces the loops of `tl.reduce` and `tl.associative_scan` over single elements."""
    reduce, scan = interpreter.ReduceOps.generic_reduce, interpreter.ScanOps.generic_scan
    failures = (_Unfit, TypeError, ValueError, AssertionError, interpreter.InterpreterError)

    def folded(self: Any, input: Any) -> Any:
        try:
            with _no_branches(tl.tensor):
                return _reduce(self, tl, input)
        except failures:
            return reduce(self, input)

    def scanned(self: Any, input: Any) -> Any:
        try:
            with _no_branches(tl.tensor):
                return _scan(self, tl, input)
        except failures:
            return scan(self, input)

    interpreter.ReduceOps.generic_reduce, interpreter.ScanOps.generic_scan = folded, scanned


@contextlib.contextmanager
def _no_branches(tensor: Any) -> Iterator[None]:
    ask = tensor.__bool__

    def refuse(self: Any) -> bool:
        if self.handle.data.size > 1:
            raise _Unfit
        return bool(ask(self))

    tensor.__bool__ = refuse
    try:
        yield
    finally:
        tensor.__bool__ = ask


def _reduce(self: Any, tl: Any, input: Any) -> list[Any]:
    import numpy as np

    whole = self.axis is None
    rank = len(input[0].handle.data.shape)
    args, axis = self.unravel(input, self.axis)
    axis = operator.index(axis) % len(args[0].handle.data.shape)
    *_, last = _fold(self, tl, args, axis)

    def pack(data: Any) -> Any:
        if self.keep_dims:
            return np.asarray(data).reshape((1,) * rank) if whole else np.expand_dims(data, axis)
        return data.item() if whole else data

    return [self.to_tensor(pack(data), arg.dtype) for data, arg in zip(last, args, strict=True)]


def _scan(self: Any, tl: Any, input: Any) -> list[Any]:
    import numpy as np

    axis = operator.index(self.axis) % len(input[0].handle.data.shape)
    steps = zip(*_fold(self, tl, input, axis), strict=True)
    return [self.to_tensor(np.stack(parts, axis=axis), arg.dtype) for parts, arg in zip(steps, input, strict=True)]


def _fold(self: Any, tl: Any, input: Any, axis: int) -> Iterator[list[Any]]:
    """The slices after each step along the axis, one per input."""
    import numpy as np

    moved = [np.ascontiguousarray(np.moveaxis(arg.handle.data, axis, 0)) for arg in input]
    settle = _settler(tl, moved, input)
    slices = [part[0] for part in moved]
    yield slices
    for step in range(1, len(moved[0])):
        before = (self.to_tensor(part, arg.dtype) for part, arg in zip(slices, input, strict=True))
        after = (self.to_tensor(part[step], arg.dtype) for part, arg in zip(moved, input, strict=True))
        combined = self.combine_fn.fn(*before, *after)
        slices = settle(combined if isinstance(combined, tuple) else (combined,))
        yield slices


def _settler(tl: Any, moved: list[Any], input: Any) -> Callable[[tuple[Any, ...]], list[Any]]:
    import numpy as np

    def settle(combined: tuple[Any, ...]) -> list[Any]:
        slices = []
        for result, data, arg in zip(combined, moved, input, strict=True):
            if not isinstance(result, tl.tensor) or result.dtype != arg.dtype or result.handle.data.dtype != data.dtype:
                raise _Unfit
            shape = data.shape[1:]
            slices.append(np.broadcast_to(result.handle.data, shape) if shape else result.handle.data.reshape(-1)[0])
        return slices

    return settle
