"""The types, tensors and handles of Triton's interpreter, with what follows from a type or a name looked up instead of worked out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

POINTEES = {
    "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", "float64": "fp64", "bool": "i1",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8",
}  # triton's names of torch's dtypes
_ENDLESS = 1 << 30  # bytes; a pointer's data is of any size


def dtypes(_interpreter: Any, tl: Any) -> None:
    """What a dtype is, looked up by its name."""
    dtype = tl.core.dtype
    names = set(dtype.SINT_TYPES + dtype.UINT_TYPES + dtype.FP_TYPES)
    for method in ("is_int", "is_floating", "is_int_signed", "is_int_unsigned", "is_standard_floating", "is_fp8"):
        if method in dtype.__dict__:
            setattr(dtype, method, _answers(dtype, method, names))
    unwrap, plain = tl.core._unwrap_if_constexpr, dtype.__eq__

    def equal(self: Any, other: Any) -> bool:
        return self is other or (self.name == other.name if type(other) is dtype else bool(plain(self, other)))

    dtype.__eq__ = equal

    def unwrapped(item: Any) -> Any:
        kind = type(item)
        return item if kind in bare else item.value if kind is tl.constexpr else unwrap(item)

    bare = {tl.core.tensor, dtype, int, float, bool, str, type(None)}
    tl.core._unwrap_if_constexpr = unwrapped


def _answers(dtype: Any, method: str, names: set[str]) -> Callable[[Any], bool]:
    original = getattr(dtype, method)
    known = {name: original(dtype(name)) for name in names}

    def answer(self: Any) -> bool:
        found = known.get(self.name)
        return bool(original(self)) if found is None else found

    return answer


def numpy_dtypes(interpreter: Any, tl: Any) -> None:
    """The NumPy dtype of a scalar type, looked up by its name."""
    original = interpreter._get_np_dtype
    known: dict[str, Any] = {}

    def get(kind: Any) -> Any:
        if type(kind) is tl.block_type:
            kind = kind.element_ty
        if type(kind) is not tl.dtype:
            return original(kind)
        found = known.get(kind.name)
        if found is None:
            found = known[kind.name] = original(kind)
        return found

    interpreter._get_np_dtype = get


def block_types(_interpreter: Any, tl: Any) -> None:
    """One object for all block types of an element and a shape."""
    block_type, original, with_element = tl.block_type, tl.block_type.__init__, tl.block_type.with_element_ty
    known: dict[Any, Any] = {}

    def key(element: Any, shape: Any) -> Any:
        kind = type(element)
        if kind is tl.dtype:
            head: Any = element.name
        elif kind is tl.pointer_type:
            head = (element.name, element.address_space)
        else:
            return None
        sizes = [size.value if type(size) is tl.constexpr else size for size in (shape.values if type(shape) is tl.tuple else shape)]
        return (head, *sizes) if all(type(size) is int for size in sizes) else None

    def new(cls: Any, element_ty: Any = None, shape: Any = ()) -> Any:
        found = known.get(key(element_ty, shape)) if cls is block_type else None
        return object.__new__(cls) if found is None else found

    def init(self: Any, element_ty: Any, shape: Any) -> None:
        if "numel" in self.__dict__:
            return
        original(self, element_ty, shape)
        name = key(element_ty, shape)
        if name is not None and type(self) is block_type:
            known[name] = self

    def like(self: Any, scalar_ty: Any) -> Any:
        if type(scalar_ty) is not tl.dtype:
            return with_element(self, scalar_ty)
        kinds = self.__dict__.setdefault("_kinds", {})
        found = kinds.get(scalar_ty.name)
        if found is None:
            found = kinds[scalar_ty.name] = with_element(self, scalar_ty)
        return found

    block_type.__new__, block_type.__init__, block_type.with_element_ty = staticmethod(new), init, like


def tensors(_interpreter: Any, tl: Any) -> None:
    """The attributes of a tensor that follow from its type are worked out once for each type."""
    original = tl.tensor.__init__

    def init(self: Any, handle: Any, type: Any) -> None:
        mine = self.__dict__
        parts = type.__dict__.get("_tensor_parts")
        if parts is None:
            original(self, handle, type)
            type._tensor_parts = {name: value for name, value in mine.items() if name != "handle"}
            return
        mine.update(parts)
        mine["handle"] = handle

    tl.tensor.__init__ = init


def handles(interpreter: Any, tl: Any) -> None:
    """A handle's data is checked against the width of its dtype, looked up by its name."""
    handle = interpreter.TensorHandle
    widths: dict[str, int] = {}
    check = handle.__post_init__

    def width(dtype: Any) -> int:
        if isinstance(dtype, tl.pointer_type):
            return _ENDLESS
        return max(8, int(dtype.primitive_bitwidth)) // 8

    def init(self: Any, data: Any, dtype: Any, attr: dict[str, Any] | None = None) -> None:
        self.data, self.dtype, self.attr = data, dtype, {} if attr is None else attr
        allowed = widths.get(dtype.name)
        if allowed is None:
            allowed = widths[dtype.name] = width(dtype)
        if data.itemsize > allowed:
            check(self)

    if list(handle.__dataclass_fields__) == ["data", "dtype", "attr"]:
        handle.__init__ = init


def arguments(interpreter: Any, tl: Any) -> None:
    """The type of an int and of a plain tensor is looked up: triton's own way imports a second language."""
    import numpy as np
    import torch

    original, handle = interpreter._implicit_cvt, interpreter.TensorHandle
    pointers = {getattr(torch, name): tl.str_to_ty(f"*{short}", None) for name, short in POINTEES.items()}

    def convert(arg: Any) -> Any:
        if type(arg) is int and -(2**31) <= arg < 2**31:
            return tl.tensor(handle(np.array([arg], dtype=np.int32), tl.int32), tl.int32)
        pointer = pointers.get(arg.dtype) if type(arg) is torch.Tensor else None
        if pointer is None:
            return original(arg)
        return tl.tensor(handle(np.array([arg.data_ptr()], dtype=np.uint64), pointer), pointer)

    interpreter._implicit_cvt = convert


SPEEDUPS: tuple[tuple[Callable[[Any, Any], None], tuple[str, ...]], ...] = (
    (dtypes, ("tl.core.dtype.SINT_TYPES", "tl.core.dtype.UINT_TYPES", "tl.core.dtype.FP_TYPES", "tl.core._unwrap_if_constexpr", "tl.constexpr")),
    (numpy_dtypes, ("interpreter._get_np_dtype", "tl.dtype", "tl.block_type")),
    (block_types, ("tl.block_type.with_element_ty", "tl.pointer_type", "tl.dtype", "tl.tuple", "tl.constexpr")),
    (tensors, ("tl.tensor",)),
    (handles, ("interpreter.TensorHandle.__post_init__", "interpreter.TensorHandle.__dataclass_fields__", "tl.pointer_type")),
    (arguments, ("interpreter._implicit_cvt", "interpreter.TensorHandle", "tl.tensor", "tl.str_to_ty", "tl.int32")),
)
