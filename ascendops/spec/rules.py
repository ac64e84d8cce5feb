"""The shape rules as plain functions; sizes are ints or SymInts, and ValueError says what does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Size = tuple[Any, ...]


def broadcast(*shapes: Size) -> Size:
    """The shape that NumPy's and PyTorch's broadcasting gives.

    Raises:
        ValueError: Two sizes at one dim differ, and neither is 1.
    """
    rank = max(len(shape) for shape in shapes)
    out: list[Any] = []
    for position in range(rank):
        size: Any = 1
        for shape in shapes:
            index = position - (rank - len(shape))
            if index >= 0:
                size = _join(size, shape[index], position - rank)
        out.append(size)
    return tuple(out)


def _join(a: Any, b: Any, position: int) -> Any:
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    raise ValueError(f"sizes {a} and {b} at dim {position} are neither equal nor 1")


def reduced_dims(rank: int, dim: int | Sequence[int] | None) -> frozenset[int]:
    """The dims (0 to rank - 1) that a reduction removes; None and an empty list mean all, as in PyTorch.

    Raises:
        ValueError: A dim is out of range, or named twice.
    """
    if dim is None or (isinstance(dim, Sequence) and not dim):
        return frozenset(range(rank))
    dims = dim if isinstance(dim, Sequence) else (dim,)
    span = max(rank, 1)  # a scalar accepts dim 0 and -1
    found: set[int] = set()
    for one in dims:
        if not -span <= one < span:
            raise ValueError(f"dim {one} is not in {-span} to {span - 1}")
        if one % span in found:
            raise ValueError(f"dim {one} appears twice")
        found.add(one % span)
    return frozenset(found)


def reduce(shape: Size, dim: int | Sequence[int] | None, keepdim: bool) -> Size:
    """The shape after a reduction over `dim`.

    Raises:
        ValueError: A dim is out of range, or named twice.
    """
    gone = reduced_dims(len(shape), dim)
    if keepdim:
        return tuple(1 if i in gone else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in gone)


def permute(shape: Size, dims: Sequence[int]) -> Size:
    """The shape with dim `dims[i]` of the tensor at place i, as torch.permute.

    Raises:
        ValueError: Not every dim is named once.
    """
    if len(dims) != len(shape):
        raise ValueError(f"{len(dims)} dims are given for {len(shape)}")
    return tuple(shape[one] for one in ordered_dims(len(shape), dims))


def ordered_dims(rank: int, dims: Sequence[int]) -> tuple[int, ...]:
    """The dims (0 to rank - 1) in the order in which they are given, each once.

    Raises:
        ValueError: A dim is out of range, or named twice.
    """
    found: list[int] = []
    for one in dims:
        if not -rank <= one < rank:
            raise ValueError(f"dim {one} is not in {-rank} to {rank - 1}")
        if one % rank in found:
            raise ValueError(f"dim {one} appears twice")
        found.append(one % rank)
    return tuple(found)


def matmul(a: Size, b: Size, transpose_a: bool = False, transpose_b: bool = False) -> Size:
    """The shape of torch.matmul: vectors allowed, batch dims broadcast; the transpose flags swap the last two dims of a matrix.

    Raises:
        ValueError: One is a scalar, the inner sizes differ, or the batch dims do not broadcast.
    """
    if not a or not b:
        raise ValueError("a scalar has no columns")
    left = (1, a[0]) if len(a) == 1 else _swap(a, transpose_a)
    right = (b[0], 1) if len(b) == 1 else _swap(b, transpose_b)
    if left[-1] != right[-2]:
        raise ValueError(f"{left[-1]} columns against {right[-2]} rows")
    rows = () if len(a) == 1 else (left[-2],)
    columns = () if len(b) == 1 else (right[-1],)
    return (*broadcast(left[:-2], right[:-2]), *rows, *columns)


def _swap(shape: Size, swap: bool) -> Size:
    return (*shape[:-2], shape[-1], shape[-2]) if swap else shape
