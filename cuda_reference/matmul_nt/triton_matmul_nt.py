"""y = a @ b^T for each matrix of a batch, in Triton.

A program computes one block of one product, adding up blocks of k in float32. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _product(a_ptr, b_ptr, y_ptr, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    product = tl.program_id(2).to(tl.int64)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        depth = start + tl.arange(0, K)
        a = tl.load(
            a_ptr + product * m * k + rows.to(tl.int64)[:, None] * k + depth[None, :],
            mask=(rows[:, None] < m) & (depth[None, :] < k),
            other=0.0,
        )
        b = tl.load(
            b_ptr + product * n * k + columns.to(tl.int64)[None, :] * k + depth[:, None],
            mask=(depth[:, None] < k) & (columns[None, :] < n),
            other=0.0,
        )
        if WIDEN:  # for the interpreter, which has no products of bfloat16
            a, b = a.to(tl.float32), b.to(tl.float32)
        total = tl.dot(a, b, total, input_precision="ieee" if EXACT else "tf32")
    y = y_ptr + product * m * n + rows.to(tl.int64)[:, None] * n + columns[None, :]
    tl.store(y, total.to(y_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


def matmul_nt(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """y = a @ b^T; at least two dims, the same dims before the last two; float32 (without TF32), float16 or bfloat16."""
    a, b = a.contiguous(), b.contiguous()
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-2]
    y = torch.zeros((*a.shape[:-1], n), dtype=a.dtype, device=a.device)
    if y.numel() == 0 or k == 0:
        return y
    exact = a.dtype == torch.float32
    blocks = (128, 128, 32 if exact else 64)
    high, wide, deep = (min(most, max(16, triton.next_power_of_2(size))) for most, size in zip(blocks, (m, n, k), strict=True))
    grid = (triton.cdiv(m, high), triton.cdiv(n, wide), y.numel() // (m * n))
    warps = 8 if high * wide >= 128 * 128 else 4
    _product[grid](a, b, y, m, n, k, M=high, N=wide, K=deep, EXACT=exact, WIDEN=not a.is_cuda, num_warps=warps)
    return y
