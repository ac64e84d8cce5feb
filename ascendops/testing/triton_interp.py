"""Triton's interpreter made right for bfloat16, and autotune made to work without a GPU.

The interpreter keeps bfloat16 as the 16-bit patterns and computes on those: sums, products and dots of bfloat16 are garbage, and
float32 -> bfloat16 truncates instead of rounding to nearest even. `activate` replaces the builder's operations by ones that widen
bfloat16 to float32, compute, and round back. It checks that everything it replaces is there, and refuses other versions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from ascendops.errors import TritonUnsupported

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
    try:
        import triton
        from triton.runtime import autotuner, interpreter
    except ImportError as error:
        raise TritonUnsupported(
            f"triton cannot be imported: {error}", help="pip install triton (Linux only)"
        ) from error
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
    _repair(interpreter)
    _first_config(autotuner)
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


def _repair(interpreter: Any) -> None:
    import numpy as np
    import triton.language as tl

    handle = interpreter.TensorHandle
    builder = interpreter.InterpreterBuilder

    def is_bf16(item: Any) -> bool:
        return isinstance(item, handle) and item.dtype.scalar == tl.bfloat16

    def widen(item: Any) -> Any:
        if not is_bf16(item):
            return item
        return handle((item.data.astype(np.uint32) << 16).view(np.float32), tl.float32)

    def narrow(data: Any) -> Any:
        return handle(_to_bf16_bits(np.asarray(data, dtype=np.float32)), tl.bfloat16)

    def finish(result: Any, bf16: bool) -> Any:
        if bf16 and isinstance(result, handle) and result.data.dtype == np.float32:
            return narrow(result.data)
        return result

    def through_float32(original: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not any(is_bf16(arg) for arg in args):
                return original(self, *args, **kwargs)
            result = original(self, *(widen(arg) for arg in args), **kwargs)
            return finish(result, any(is_bf16(arg) for arg in args))

        return method

    def binary_op(self: Any, lhs: Any, rhs: Any, op: Any) -> Any:
        if not (is_bf16(lhs) or is_bf16(rhs)):
            return originals["binary_op"](self, lhs, rhs, op)
        data = op(widen(lhs).data, widen(rhs).data)
        return handle(data, tl.bfloat16) if data.dtype == np.bool_ else narrow(data)

    def ternary_op(self: Any, lhs: Any, rhs: Any, other: Any, op: Any) -> Any:
        if op is np.where or not is_bf16(other):  # a select moves bit patterns
            return originals["ternary_op"](self, lhs, rhs, other, op)
        return narrow(op(widen(lhs).data, widen(rhs).data, widen(other).data))

    def create_dot(self: Any, a: Any, b: Any, d: Any, *rest: Any) -> Any:
        return finish(originals["create_dot"](self, widen(a), widen(b), widen(d), *rest), is_bf16(d))

    def cast(self: Any, src: Any, dst_type: Any) -> Any:
        source, target = src.dtype.scalar, dst_type.scalar
        if source == target:
            return src
        if source == tl.bfloat16:
            wide = widen(src)
            return wide if target == tl.float32 else originals["cast_impl"](self, wide, dst_type)
        if target == tl.bfloat16:
            data = src.data
            if source == tl.float64:  # one rounding, not two: to odd in float32 first
                data = _round_to_odd(data)
            return narrow(data.astype(np.float32))
        return originals["cast_impl"](self, src, dst_type)

    def create_fp_to_fp(self: Any, src: Any, dst_type: Any, rounding_mode: Any) -> Any:
        if tl.bfloat16 in (src.dtype.scalar, dst_type.scalar) and not _is_fp8(src.dtype.scalar, dst_type.scalar):
            return cast(self, src, dst_type)
        return originals["create_fp_to_fp"](self, src, dst_type, rounding_mode)

    originals = {name: getattr(builder, name) for name in _REPLACED}
    for name in ("unary_op", "create_fma", "create_rsqrt", "create_erf", "create_idiv", "create_clampf"):
        setattr(builder, name, through_float32(originals[name]))
    builder.binary_op, builder.ternary_op, builder.create_dot = binary_op, ternary_op, create_dot
    builder.cast_impl, builder.create_fp_to_fp = cast, create_fp_to_fp
    _repair_reductions(interpreter, widen, narrow)


def _repair_reductions(interpreter: Any, widen: Callable[[Any], Any], narrow: Callable[[Any], Any]) -> None:
    import numpy as np
    import triton.language as tl

    def to_tensor(self: Any, ret: Any, dtype: Any) -> Any:
        data = np.asarray(ret)
        if dtype.scalar == tl.bfloat16 and data.dtype == np.float32:
            ret = narrow(data).data if data.shape else narrow(data.reshape(1)).data[0]
        return original_to_tensor(self, ret, dtype)

    def wide_input(original: Callable[..., Any]) -> Callable[..., Any]:
        def method(self: Any, item: Any, *args: Any, **kwargs: Any) -> Any:
            first = item[0] if isinstance(item, tuple) else item
            if first.dtype.scalar != tl.bfloat16:
                return original(self, item, *args, **kwargs)
            shadow = tl.core.tensor(widen(first.handle), first.type)
            return original(self, (shadow, *item[1:]) if isinstance(item, tuple) else shadow, *args, **kwargs)

        return method

    base = interpreter.ReduceScanOpInterface
    original_to_tensor = base.to_tensor
    base.to_tensor = to_tensor
    for cls, names in ((interpreter.ReduceOps, ("sum", "min_max")), (interpreter.ScanOps, ("cumsum", "cumprod"))):
        for name in names:
            setattr(cls, name, wide_input(getattr(cls, name)))


def _is_fp8(*types: Any) -> bool:
    return any(kind.is_fp8() for kind in types)


def _to_bf16_bits(data: Any) -> Any:
    """float32 values as bfloat16 bit patterns (uint16), rounded to nearest even; nan stays a quiet nan."""
    import numpy as np

    bits = np.ascontiguousarray(data).view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(data), (bits >> np.uint32(16)) | np.uint32(0x40), rounded).astype(np.uint16)


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
