"""y[..., j] = x[..., indices[..., j]], in Triton.

A program takes a block of the result, whatever rows it covers. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _gather(x_ptr, indices_ptr, y_ptr, total, length, count, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < total
    index = tl.load(indices_ptr + i, mask=inside, other=0).to(tl.int64)
    x = tl.load(x_ptr + i // count * length + index, mask=inside)
    tl.store(y_ptr + i, x, mask=inside)


def gather(x: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """y [*batch, m] for x [*batch, n], float32, float16, bfloat16 or int32, and indices [*batch, m], int64 or int32."""
    x, indices = x.contiguous(), indices.contiguous()
    y = torch.empty(indices.shape, dtype=x.dtype, device=x.device)
    total = indices.numel()
    if total:
        block = min(1024 if x.is_cuda else 1 << 18, triton.next_power_of_2(total))
        _gather[(triton.cdiv(total, block),)](x, indices, y, total, x.shape[-1], indices.shape[-1], BLOCK=block)
    return y
