"""y = x1 + x2, in Triton.

Broadcast as in PyTorch. Dims that broadcast alike are merged; what is left is read in place if it is rows x columns, the
usual case, and expanded by torch first if there are more dims. Floating types compute in fp32, integers as themselves. Runs
on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _load(pointer, offsets, inside):
    x = tl.load(pointer + offsets, mask=inside, other=0)
    if x.dtype.is_floating():
        x = x.to(tl.float32)
    return x


@triton.jit
def _kernel(x1_ptr, x2_ptr, y_ptr, n, columns, row1, column1, row2, column2, FLAT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    if FLAT:
        a = _load(x1_ptr, offsets * column1, inside)
        b = _load(x2_ptr, offsets * column2, inside)
    else:
        row = offsets // columns
        column = offsets % columns
        a = _load(x1_ptr, row * row1 + column * column1, inside)
        b = _load(x2_ptr, row * row2 + column * column2, inside)
    y = a + b
    tl.store(y_ptr + offsets, y.to(y_ptr.dtype.element_ty), mask=inside)


def _merge(first: torch.Size, second: torch.Size) -> list[list[int]]:
    """[size, x1 moves, x2 moves] of each dim of the result, neighbours that broadcast alike in one."""
    rank = max(len(first), len(second))
    dims: list[list[int]] = []
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in (first, second)]
    for a, b in zip(*padded, strict=True):
        if a == b == 1:
            continue
        dim = [b if a == 1 else a, int(a != 1), int(b != 1)]
        if dims and dims[-1][1:] == dim[1:]:
            dims[-1][0] *= dim[0]
        else:
            dims.append(dim)
    return dims or [[1, 0, 0]]


def add(x1: torch.Tensor, x2: torch.Tensor) -> torch.Tensor:
    """y = x1 + x2; tensors whose shapes broadcast, float32, float16, bfloat16 or int32."""
    shape = torch.broadcast_shapes(x1.shape, x2.shape)
    y = torch.empty(shape, dtype=x1.dtype, device=x1.device)
    n = y.numel()
    if n == 0:
        return y
    dims = _merge(x1.shape, x2.shape)
    if len(dims) > 2:
        x1, x2 = x1.expand(shape), x2.expand(shape)
        dims = [[n, 1, 1]]
    x1, x2 = x1.contiguous(), x2.contiguous()
    (_, row1, row2), (columns, column1, column2) = dims if len(dims) == 2 else ([1, 0, 0], dims[0])
    row1, row2 = row1 * (columns if column1 else 1), row2 * (columns if column2 else 1)
    block = 1024 if y.is_cuda else 65536  # the interpreter's cost is per program
    grid = (triton.cdiv(n, block),)
    _kernel[grid](x1, x2, y, n, columns, row1, column1, row2, column2, FLAT=len(dims) == 1, BLOCK=block)
    return y
