"""y[i_0, i_1, ...] = x[j_0, j_1, ...] with j[dims[k]] = i[k], in Triton.

Dims that stay neighbours are one. A program moves a tile of two of them: the last dim of y, and the last dim of x, or, if these are
the same, the dim before it; so both reading and writing are coalesced. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

MOST = 6  # outer dims of a tensor with 8


@triton.jit
def _tile(
    x_ptr, y_ptr, rows, columns, row_from, column_from, row_to, column_to, tiles, across, planes,
    n0, n1, n2, n3, n4, n5, f0, f1, f2, f3, f4, f5, t0, t1, t2, t3, t4, t5,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, PLANES: tl.constexpr,
):  # fmt: skip
    number = tl.program_id(0).to(tl.int64) // tiles
    if PLANES > 1:  # for the interpreter, whose cost is per program
        number = (number * PLANES + tl.arange(0, PLANES))[:, None, None]
        some = number < planes
    tile = tl.program_id(0) % tiles
    source = number % n0 * f0
    target = number % n0 * t0
    number //= n0
    source += number % n1 * f1
    target += number % n1 * t1
    number //= n1
    source += number % n2 * f2
    target += number % n2 * t2
    number //= n2
    source += number % n3 * f3
    target += number % n3 * t3
    number //= n3
    source += number % n4 * f4
    target += number % n4 * t4
    number //= n4
    source += number % n5 * f5
    target += number % n5 * t5
    row = tile // across * ROWS + tl.arange(0, ROWS).to(tl.int64)
    column = tile % across * COLUMNS + tl.arange(0, COLUMNS).to(tl.int64)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    if PLANES > 1:
        inside = inside & some
    x = tl.load(x_ptr + source + row[:, None] * row_from + column[None, :] * column_from, mask=inside)
    tl.store(y_ptr + target + row[:, None] * row_to + column[None, :] * column_to, x, mask=inside)


def _axes(x: torch.Tensor, dims: list[int]) -> list[tuple[int, int, int]]:
    """(size, step in x, step in y) of the dims of y that matter: none of size 1, and neighbours that stay neighbours as one."""
    axes: list[list[int]] = []
    for dim in dims:
        size, step = x.shape[dim], x.stride(dim)
        if axes and axes[-1][1] == size * step:
            axes[-1] = [axes[-1][0] * size, step]
        elif size != 1:
            axes.append([size, step])
    found, to = [], 1
    for size, step in reversed(axes or [[1, 1]]):
        found.insert(0, (size, step, to))
        to *= size
    return found


def permute(x: torch.Tensor, dims: list[int]) -> torch.Tensor:
    """The dims of x, at most 8, in the order `dims`; float32, float16, bfloat16 or int32."""
    x = x.contiguous()
    y = torch.empty([x.shape[dim] for dim in dims], dtype=x.dtype, device=x.device)
    if x.numel() == 0:
        return y
    axes = _axes(x, dims)
    last = axes.pop()
    at = next((i for i, axis in enumerate(axes) if axis[1] == 1), len(axes) - 1)  # the last dim of x, or the one before that of y
    other = axes.pop(at) if axes else (1, 0, 0)
    turned = other[1] == 1 and last[1] != 1
    outer = [(1, 0, 0)] * (MOST - len(axes)) + axes
    most = 4096 if x.is_cuda else 1 << 18  # the interpreter's cost is per program
    tall = min(64 if turned and x.is_cuda else most, triton.next_power_of_2(other[0])) if turned else 1
    wide = max(1, min(most // tall, triton.next_power_of_2(last[0])))
    tall = max(1, min(most // wide, triton.next_power_of_2(other[0])))
    across = triton.cdiv(last[0], wide)
    planes = x.numel() // (last[0] * other[0])
    steps = [part for column in range(3) for part in (axis[column] for axis in reversed(outer))]
    tiles = triton.cdiv(other[0], tall) * across
    some = 1 if x.is_cuda else max(1, min(triton.next_power_of_2(planes), most // (tall * wide)))
    sizes = (other[0], last[0], other[1], last[1], other[2], last[2], tiles, across, planes)
    _tile[(tiles * triton.cdiv(planes, some),)](x, y, *sizes, *steps, ROWS=tall, COLUMNS=wide, PLANES=some)
    return y
