"""Triton's interpreter made cheap: what it works out again for every operation is remembered, and work whose result is dropped is left out.

Every speed-up gives the bits that the interpreter gives without it. Each names the internals that it needs: where a version of triton lacks
one of them, that speed-up is left out, and only that one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ascendops.testing import triton_fold, triton_memory, triton_types

Speedup = Callable[[Any, Any], None]

_INTEGERS = ("int8", "int16", "int32", "int64", "int1", "uint8", "uint16", "uint32", "uint64")
left_out: list[str] = []  # speed-ups that this version of triton cannot have; filled by `apply`


def apply(interpreter: Any) -> None:
    """Speeds up this process's interpreter; what its version of triton cannot have is named in `left_out`."""
    import triton.language as tl

    for speedup, needs in _SPEEDUPS:
        if all(_reach(interpreter, tl, path) for path in needs):
            speedup(interpreter, tl)
        else:
            left_out.append(speedup.__name__.lstrip("_"))


def _reach(interpreter: Any, tl: Any, path: str) -> bool:
    head, *names = path.split(".")
    found = {"interpreter": interpreter, "tl": tl}[head]
    for name in names:
        if not hasattr(found, name):
            return False
        found = getattr(found, name)
    return True


class _Nothing:
    def restore(self) -> None:
        """Leaves the language patched."""


def _patch_once(interpreter: Any, tl: Any) -> None:
    """The language's functions are replaced once for each package, not for each launch and each call of a jit function."""
    original = interpreter._patch_lang
    done: set[str] = set()
    seen: set[Any] = set()

    def patch(fn: Any) -> Any:
        if fn not in seen:
            langs = {name for name, lang in (("tl", tl), ("core", tl.core)) if any(value is lang for value in fn.__globals__.values())}
            if not langs or not langs <= done:
                original(fn)
            done.update(langs)
            seen.add(fn)
        return _Nothing()

    interpreter._patch_lang = patch


def _patch_directly(interpreter: Any, _tl: Any) -> None:
    """A builtin of the language calls its implementation without rebuilding its keywords."""
    semantic = interpreter.interpreter_semantic

    def patch(obj: Any, name: str, member: Any, _builder: Any, scope: Any) -> None:
        inner = getattr(member, "__wrapped__", member)

        def call(*args: Any, **kwargs: Any) -> Any:
            kwargs["_semantic"] = semantic
            return inner(*args, **kwargs)

        scope.set_attr(obj, name, call)

    interpreter._patch_attr = patch


def _unchecked_overflow(interpreter: Any, _tl: Any) -> None:
    """The second computation in 64 bits is left out where nothing asserts on it."""
    semantic = type(interpreter.interpreter_semantic)
    original = semantic.binary_op_sanitize_overflow_impl

    def check(self: Any, lhs: Any, rhs: Any, binary_op: Any) -> None:
        if self.builder.options.debug:
            original(self, lhs, rhs, binary_op)

    semantic.binary_op_sanitize_overflow_impl = check


def _same_types(interpreter: Any, tl: Any) -> None:
    """Two tensors of one type need no promotion, no cast and no broadcast."""
    semantic, tensor = type(interpreter.interpreter_semantic), tl.tensor
    check, cast, compute = semantic.binary_op_type_checking_impl, semantic.cast, semantic.computation_type_impl
    known: dict[Any, Any] = {}

    def checked(
        self: Any, lhs: Any, rhs: Any, allow_lhs_ptr: bool = False, allow_rhs_ptr: bool = False, arithmetic_check: bool = True, div_or_mod: bool = False
    ) -> Any:
        if not div_or_mod and type(lhs) is tensor and type(rhs) is tensor:
            left, right = lhs.dtype, rhs.dtype
            if (left is right and type(left) is tl.dtype) or (allow_lhs_ptr and type(left) is tl.pointer_type and right.name in _INTEGERS):
                return (lhs, rhs) if lhs.type is rhs.type else self.broadcast_impl_value(lhs, rhs)
        return check(self, lhs, rhs, allow_lhs_ptr, allow_rhs_ptr, arithmetic_check, div_or_mod)

    def casted(self: Any, input: Any, dst_ty: Any, *args: Any, **kwargs: Any) -> Any:
        return input if input.dtype is dst_ty.scalar else cast(self, input, dst_ty, *args, **kwargs)

    def computed(self: Any, a_ty: Any, a_is_scalar: bool, b_ty: Any, b_is_scalar: bool, div_or_mod: bool) -> Any:
        if type(a_ty) is not tl.dtype or type(b_ty) is not tl.dtype:
            return compute(self, a_ty, a_is_scalar, b_ty, b_is_scalar, div_or_mod)
        key = (a_ty.name, a_is_scalar, b_ty.name, b_is_scalar, div_or_mod)
        found = known.get(key)
        if found is None:
            found = known[key] = compute(self, a_ty, a_is_scalar, b_ty, b_is_scalar, div_or_mod)
        return found

    semantic.binary_op_type_checking_impl, semantic.cast, semantic.computation_type_impl = checked, casted, computed


def _broadcasts(interpreter: Any, tl: Any) -> None:
    """Tensors of one shape are left as they are, and a scalar becomes a view, not a filled block."""
    import numpy as np

    semantic, builder = type(interpreter.interpreter_semantic), interpreter.InterpreterBuilder
    handle, broadcast, splat = interpreter.TensorHandle, semantic.broadcast_impl_value, builder.create_splat

    def wide(data: Any, shape: tuple[int, ...]) -> Any:
        if len(shape) != data.ndim or not data.flags.c_contiguous:
            return np.broadcast_to(data, shape)
        steps = tuple(0 if has == 1 else step for has, step in zip(data.shape, data.strides, strict=True))
        return np.ndarray(shape, data.dtype, data, 0, steps)

    def spread(tensor: Any, kind: Any) -> Any:
        data = tensor.handle.data
        shape = tuple(kind.shape.values)
        view = np.ndarray(shape, data.dtype, data, 0, (0,) * len(shape)) if data.size == 1 and data.flags.c_contiguous else wide(data, shape)
        return tl.tensor(handle(view, tensor.dtype), kind)

    def common(self: Any, lhs: Any, rhs: Any) -> Any:
        left, right = lhs.type, rhs.type
        if left is right:
            return lhs, rhs
        if not left.is_block():
            return (spread(lhs, right.with_element_ty(left.scalar)), rhs) if right.is_block() else (lhs, rhs)
        if not right.is_block():
            return lhs, spread(rhs, left.with_element_ty(right.scalar))
        mine, yours = left.shape.values, right.shape.values
        if mine == yours:
            return lhs, rhs
        if len(mine) != len(yours) or not all(a == b or 1 in (a, b) for a, b in zip(mine, yours, strict=True)):
            return broadcast(self, lhs, rhs)
        shape = [b if a == 1 else a for a, b in zip(mine, yours, strict=True)]
        return tuple(
            arg if arg.type.shape.values == shape else spread(arg, tl.block_type(arg.dtype, shape)) for arg in (lhs, rhs)
        )

    def expand_dims(_self: Any, arg: Any, axis: int) -> Any:
        shape = arg.data.shape
        return handle(arg.data.reshape((*shape[:axis], 1, *shape[axis:])), arg.dtype.scalar)

    def view(self: Any, ret_ty: Any, arg: Any) -> Any:
        data = arg.data
        if data.size != 1 or data.dtype != interpreter._get_np_dtype(arg.dtype):
            return splat(self, ret_ty, arg)
        return handle(np.broadcast_to(data.reshape(()), tuple(ret_ty.shape.values)), arg.dtype.scalar)

    semantic.broadcast_impl_value, builder.create_splat, builder.create_expand_dims = common, view, expand_dims


def _arithmetic(interpreter: Any, tl: Any) -> None:
    """An operation whose result is as wide as its operands is NumPy's; pointers move in place."""
    import numpy as np

    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    original, move = builder.binary_op, builder.create_addptr

    def binary_op(self: Any, lhs: Any, rhs: Any, op: Any) -> Any:
        data, dtype = lhs.data, lhs.dtype
        if type(dtype) is not tl.dtype or data.dtype.kind == "b":
            return original(self, lhs, rhs, op)
        output = op(data, rhs.data)
        return original(self, lhs, rhs, op) if output.itemsize > data.itemsize else handle(output, dtype)

    def create_addptr(self: Any, ptr: Any, offset: Any) -> Any:
        if ptr.data.shape != offset.data.shape:
            return move(self, ptr, offset)
        places = offset.data.astype(np.uint64)
        places *= np.uint64(max(1, ptr.get_element_ty().primitive_bitwidth // 8))
        places += ptr.data
        return handle(places, ptr.dtype)

    builder.binary_op, builder.create_addptr = binary_op, create_addptr


_SEMANTIC = "interpreter.interpreter_semantic"
_SPEEDUPS: tuple[tuple[Speedup, tuple[str, ...]], ...] = (
    (_patch_once, ("interpreter._patch_lang", "tl.core")),
    (_patch_directly, ("interpreter._patch_attr", _SEMANTIC)),
    *triton_types.SPEEDUPS,
    (_unchecked_overflow, (f"{_SEMANTIC}.binary_op_sanitize_overflow_impl", "interpreter.interpreter_builder.options.debug")),
    (_broadcasts, (f"{_SEMANTIC}.broadcast_impl_value", "interpreter.InterpreterBuilder.create_splat", "interpreter.InterpreterBuilder.create_expand_dims", "tl.tuple", "interpreter._get_np_dtype")),
    (_same_types, (f"{_SEMANTIC}.binary_op_type_checking_impl", f"{_SEMANTIC}.cast", f"{_SEMANTIC}.computation_type_impl", "tl.pointer_type")),
    (_arithmetic, ("interpreter.InterpreterBuilder.binary_op", "interpreter.InterpreterBuilder.create_addptr", "interpreter.TensorHandle")),
    (triton_fold.whole_slices, triton_fold.NEEDS),
    (triton_memory.whole_blocks, triton_memory.NEEDS),
)
