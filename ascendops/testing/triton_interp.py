"""Triton's interpreter made right for bfloat16, and autotune made to work without a GPU.

The interpreter keeps bfloat16 as the 16-bit patterns and computes on those: sums, products and dots of bfloat16 are garbage, and
float32 -> bfloat16 truncates instead of rounding to nearest even. `activate` replaces the builder's operations by ones that widen
bfloat16 to float32, compute, and round back. It checks that everything it replaces is there, and refuses other versions.
"""

from __future__ import annotations

import atexit
import functools
import gc
import os
import sys
from collections.abc import Callable
from typing import Any

from ascendops.errors import TritonUnsupported
from ascendops.testing import triton_fast

OLDEST = (3, 7)
_REPLACED = (
    "binary_op", "unary_op", "ternary_op", "create_fma", "create_rsqrt", "create_erf", "create_idiv", "create_clampf",
    "create_dot", "cast_impl", "create_fp_to_fp",
)  # fmt: skip
_active = False


def activate() -> None:
    """Turns the interpreter on for this process, repaired; calling it again does nothing.

    Raises:
        TritonUnsupported: triton is missing, too old, of an unknown build, or was imported without the interpreter.
    """
    global _active
    if _active:
        return
    if "triton" in sys.modules and not sys.modules["triton"].knobs.runtime.interpret:
        raise TritonUnsupported(
            "triton was imported before the interpreter was turned on", help="run references in their own process"
        )
    os.environ["TRITON_INTERPRET"] = "1"
    collects = gc.isenabled()
    gc.disable()  # a collection looks through all of torch
    try:
        import triton
        from triton.runtime import autotuner, interpreter
    except ImportError as error:
        raise TritonUnsupported(
            f"triton cannot be imported: {error}", help="pip install triton (Linux only)"
        ) from error
    finally:
        if collects:
            gc.enable()
    version = tuple(int(part) for part in triton.__version__.split("+")[0].split(".")[:2])
    builder = interpreter.InterpreterBuilder
    lacking = [name for name in _REPLACED if not hasattr(builder, name)]
    if version < OLDEST or lacking:
        why = f"it lacks {', '.join(lacking)}" if lacking else "its interpreter fails with current numpy"
        raise TritonUnsupported(
            f"triton {triton.__version__} is not supported on the CPU",
            why=why,
            help=f"install triton {OLDEST[0]}.{OLDEST[1]} or later",
        )
    triton_fast.apply(interpreter)
    _repair(interpreter)
    _first_config(autotuner)
    gc.freeze()  # later collections look at what kernels make, not through torch and triton
    atexit.register(gc.unfreeze)  # triton looks for what is left over at the end
    _active = True


def _first_config(autotuner: Any) -> None:
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        config = self.configs[0]
        named = {**dict(zip(self.arg_names, args, strict=False)), **kwargs, **config.all_kwargs()}
        for hook in (self.pre_hook, config.pre_hook):
            if hook is not None:
                hook(named)
        return self.fn.run(*args, **{**kwargs, **config.all_kwargs()})

    autotuner.Autotuner.run = run


class _Bfloat16:
    """Widening and narrowing of the interpreter's handles, and the replaced builder methods as closures over the originals."""

    def __init__(self, interpreter: Any) -> None:
        import triton.language as tl

        self.handle = interpreter.TensorHandle
        self.tl = tl
        self.originals = {name: getattr(interpreter.InterpreterBuilder, name) for name in _REPLACED}

    def holds(self, item: Any) -> bool:
        """Whether the argument is a handle of bfloat16 values."""
        return isinstance(item, self.handle) and item.dtype.scalar.name == self.tl.bfloat16.name

    def widen(self, item: Any) -> Any:
        """A bfloat16 handle as float32; anything else as it is."""
        import numpy as np

        if not self.holds(item):
            return item
        bits = item.data.astype(np.uint32)
        bits <<= np.uint32(16)
        return self.handle(bits.view(np.float32), self.tl.float32)

    def narrow(self, data: Any) -> Any:
        """float values as a bfloat16 handle, rounded to nearest even."""
        import numpy as np

        return self.handle(_to_bf16_bits(np.asarray(data, dtype=np.float32)), self.tl.bfloat16)

    def through_float32(self, name: str) -> Callable[..., Any]:
        """The builder method `name`, on widened arguments; its float32 result is narrowed."""
        import numpy as np

        original = self.originals[name]

        def method(builder: Any, *args: Any, **kwargs: Any) -> Any:
            if not any(self.holds(arg) for arg in args):
                return original(builder, *args, **kwargs)
            result = original(builder, *(self.widen(arg) for arg in args), **kwargs)
            rounds = isinstance(result, self.handle) and result.data.dtype == np.float32
            return self.narrow(result.data) if rounds else result

        return method

    def binary_op(self) -> Callable[..., Any]:
        """Arithmetic in float32; what comparisons give is of dtype int1, not of their operands'."""

        def method(builder: Any, lhs: Any, rhs: Any, op: Any) -> Any:
            narrow = self.holds(lhs) or self.holds(rhs)
            result = None if narrow else self.originals["binary_op"](builder, lhs, rhs, op)
            data = op(self.widen(lhs).data, self.widen(rhs).data) if result is None else result.data
            if data.dtype.kind == "b":
                return self.handle(data, self.tl.int1)
            return self.narrow(data) if result is None else result

        return method

    def ternary_op(self) -> Callable[..., Any]:
        """clip and the like in float32; a select moves bit patterns and stays as it is."""
        import numpy as np

        def method(builder: Any, lhs: Any, rhs: Any, other: Any, op: Any) -> Any:
            if op is np.where or not self.holds(other):
                return self.originals["ternary_op"](builder, lhs, rhs, other, op)
            return self.narrow(op(self.widen(lhs).data, self.widen(rhs).data, self.widen(other).data))

        return method

    def create_dot(self) -> Callable[..., Any]:
        """Products of widened operands, accumulated in the accumulator's dtype."""

        def method(builder: Any, a: Any, b: Any, d: Any, *rest: Any) -> Any:
            result = self.originals["create_dot"](builder, self.widen(a), self.widen(b), self.widen(d), *rest)
            return self.narrow(result.data) if self.holds(d) else result

        return method

    def cast(self, builder: Any, src: Any, dst_type: Any) -> Any:
        """Any cast from or to bfloat16 rounds once; the others are the interpreter's."""
        import numpy as np

        source, target, tl = src.dtype.scalar, dst_type.scalar, self.tl
        if source == target:
            return src
        if source == tl.bfloat16:
            wide = self.widen(src)
            return wide if target == tl.float32 else self.originals["cast_impl"](builder, wide, dst_type)
        if target == tl.bfloat16:
            data = _round_to_odd(src.data) if source == tl.float64 else src.data
            return self.narrow(data.astype(np.float32))
        return self.originals["cast_impl"](builder, src, dst_type)

    def create_fp_to_fp(self) -> Callable[..., Any]:
        """`cast` where bfloat16 meets a wider type; fp8 keeps the interpreter's way."""

        def method(builder: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
            kinds = (src.dtype.scalar, dst_type.scalar)
            if self.tl.bfloat16 in kinds and not any(kind.is_fp8() for kind in kinds):
                return self.cast(builder, src, dst_type)
            return self.originals["create_fp_to_fp"](builder, src, dst_type, rounding_mode)

        return method


def _cast_impl(builder: Any, bf16: _Bfloat16, src: Any, dst_type: Any) -> Any:
    return bf16.cast(builder, src, dst_type)


def _repair(interpreter: Any) -> None:
    bf16 = _Bfloat16(interpreter)
    builder = interpreter.InterpreterBuilder
    for name in ("unary_op", "create_fma", "create_rsqrt", "create_erf", "create_idiv", "create_clampf"):
        setattr(builder, name, bf16.through_float32(name))
    builder.binary_op = bf16.binary_op()
    builder.ternary_op = bf16.ternary_op()
    builder.create_dot = bf16.create_dot()
    builder.cast_impl = functools.partialmethod(_cast_impl, bf16)
    builder.create_fp_to_fp = bf16.create_fp_to_fp()
    if not hasattr(builder, "get_bf16"):  # triton 3.7 has no bfloat16 constants but 0
        builder.get_bf16 = lambda _builder, value: bf16.narrow([value])
    _repair_reductions(interpreter, bf16)


def _repair_reductions(interpreter: Any, bf16: _Bfloat16) -> None:
    import numpy as np

    base = interpreter.ReduceScanOpInterface
    original_to_tensor = base.to_tensor

    def to_tensor(self: Any, ret: Any, dtype: Any) -> Any:
        data = np.asarray(ret)
        if dtype.scalar == bf16.tl.bfloat16 and data.dtype == np.float32:
            ret = bf16.narrow(data).data if data.shape else bf16.narrow(data.reshape(1)).data[0]
        return original_to_tensor(self, ret, dtype)

    def wide_input(original: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
            first = item[0] if isinstance(item, tuple) else item
            if first.dtype.scalar != bf16.tl.bfloat16:
                return original(self, item, *args, **kwargs)
            shadow = bf16.tl.core.tensor(bf16.widen(first.handle), first.type)
            return original(self, (shadow, *item[1:]) if isinstance(item, tuple) else shadow, *args, **kwargs)

        return method

    base.to_tensor = to_tensor
    for cls, names in ((interpreter.ReduceOps, ("sum", "min_max")), (interpreter.ScanOps, ("cumsum", "cumprod"))):
        for name in names:
            setattr(cls, name, wide_input(getattr(cls, name)))


def _to_bf16_bits(data: Any) -> Any:
    """float32 values as bfloat16 bit patterns (uint16), rounded to nearest even; nan stays a quiet nan."""
    import numpy as np

    values = np.ascontiguousarray(data)
    bits = values.view(np.uint32)
    rounded = bits >> np.uint32(16)
    rounded &= np.uint32(1)
    rounded += np.uint32(0x7FFF)
    rounded += bits
    rounded >>= np.uint32(16)
    narrow = rounded.astype(np.uint16)
    nan = np.isnan(values)
    if nan.any():
        narrow[nan] = (bits[nan] >> np.uint32(16)) | np.uint32(0x40)
    return narrow


def _round_to_odd(data: Any) -> Any:
    """float64 -> float32 such that rounding the result to bfloat16 rounds the float64 value correctly."""
    import numpy as np

    single = data.astype(np.float32)
    bits = single.view(np.uint32).copy()
    wide = single.astype(np.float64)
    beyond = np.isfinite(wide) & (np.abs(wide) > np.abs(data))
    bits = np.where(beyond, bits - np.uint32(1), bits)  # towards zero
    inexact = np.isfinite(data) & (bits.astype(np.uint32).view(np.float32).astype(np.float64) != data)
    return np.where(inexact, bits | np.uint32(1), bits).astype(np.uint32).view(np.float32)
