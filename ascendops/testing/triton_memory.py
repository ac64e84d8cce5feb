"""Loads and stores of blocks through NumPy's views of memory, instead of one copy for each pointer."""

from __future__ import annotations

from typing import Any

NEEDS = ("interpreter.InterpreterBuilder.create_masked_load", "interpreter.InterpreterBuilder.create_masked_store", "interpreter._get_np_dtype")
_FEW = 32  # pointers, below which the interpreter's own loop is as fast


class _Memory:
    """`count` elements of a dtype from an address, as NumPy's array interface has it."""

    def __init__(self, address: int, count: int, dtype: Any) -> None:
        self.__array_interface__ = {"data": (address, False), "shape": (count,), "typestr": dtype.str, "version": 3}


def _place(pointers: Any, dtype: Any) -> tuple[Any, Any] | None:
    """The memory that pointers reach and where in it each one points (None: one after the other); None if they are not aligned."""
    import numpy as np

    first, last, size = int(pointers[0]), int(pointers[-1]), dtype.itemsize
    count = len(pointers)
    if last - first == (count - 1) * size and bool((pointers[1:] - pointers[:-1] == size).all()):
        return np.asarray(_Memory(first, count, dtype)), None
    first = int(pointers.min())
    offsets = pointers - np.uint64(first)
    if size > 1:
        if bool((offsets & np.uint64(size - 1)).any()):
            return None
        offsets >>= np.uint64(size.bit_length() - 1)
    return np.asarray(_Memory(first, int(offsets.max()) + 1, dtype)), offsets.view(np.int64)


def whole_blocks(interpreter: Any, _tl: Any) -> None:
    """Replaces the builder's masked load and store."""
    import numpy as np

    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    load, store = builder.create_masked_load, builder.create_masked_store

    def create_masked_load(self: Any, ptrs: Any, mask: Any, other: Any, *rest: Any, **named: Any) -> Any:
        pointers, keep = ptrs.data, mask.data
        if pointers.size < _FEW or pointers.shape != keep.shape:
            return load(self, ptrs, mask, other, *rest, **named)
        element = ptrs.get_element_ty()
        dtype, kept = interpreter._get_np_dtype(element), _kept(keep)
        chosen = pointers.reshape(-1) if kept is None else pointers.reshape(-1)[kept]
        out: Any = None
        if kept is not None:
            out = np.zeros(pointers.size, dtype) if other is None else np.array(np.broadcast_to(other.data, pointers.shape), dtype, order="C").reshape(-1)
        if len(chosen):
            placed = _place(chosen, dtype)
            if placed is None:
                return load(self, ptrs, mask, other, *rest, **named)
            memory, offsets = placed
            values = memory if offsets is None else memory[offsets]
            if out is None:
                out = values.copy() if offsets is None else values
            else:
                out[kept] = values
        return handle(out.reshape(pointers.shape), element)

    def create_masked_store(self: Any, ptrs: Any, value: Any, mask: Any, *rest: Any, **named: Any) -> Any:
        pointers, keep, values = ptrs.data, mask.data, value.data
        if pointers.size < _FEW or not pointers.shape == keep.shape == values.shape:
            return store(self, ptrs, value, mask, *rest, **named)
        kept = _kept(keep)
        chosen, values = pointers.reshape(-1), values.reshape(-1)
        if kept is not None:
            chosen, values = chosen[kept], values[kept]
        if len(chosen):
            placed = _place(chosen, values.dtype)
            if placed is None:
                return store(self, ptrs, value, mask, *rest, **named)
            memory, offsets = placed
            memory[slice(None) if offsets is None else offsets] = values
        return None

    builder.create_masked_load, builder.create_masked_store = create_masked_load, create_masked_store


def _kept(mask: Any) -> Any:
    """Where a mask holds, as flat indices or a slice; None if everywhere."""
    import numpy as np

    if mask.all():
        return None
    where = np.flatnonzero(mask)
    count = len(where)
    return slice(int(where[0]), int(where[-1]) + 1) if count and int(where[-1]) - int(where[0]) == count - 1 else where
