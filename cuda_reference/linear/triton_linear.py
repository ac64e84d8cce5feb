"""y = x @ weight^T + bias, in Triton.

A program computes one block of the product, adding up blocks of k in float32, and finishes it. Programs that run at the same time share
rows and columns, so that most of what they read lies in the L2. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

GROUP = 8  # blocks of rows that take turns before the next columns


@triton.jit
def _layer(
    x_ptr, weight_ptr, bias_ptr, y_ptr, m, n, k, w_depth, w_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNS: tl.constexpr,
    EVEN: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr,
):  # fmt: skip
    tall, wide = tl.cdiv(m, M), tl.cdiv(n, N)
    block = tl.program_id(0)
    first = block // (TURNS * wide) * TURNS
    turns = tl.minimum(tall - first, TURNS)
    rows = ((first + block % (TURNS * wide) % turns) * M + tl.arange(0, M)).to(tl.int64)
    columns = (block % (TURNS * wide) // turns * N + tl.arange(0, N)).to(tl.int64)
    depth = tl.arange(0, K)
    x_at = x_ptr + (rows % m)[:, None] * k + depth[None, :]
    w_at = weight_ptr + (columns % n)[None, :] * w_column + depth.to(tl.int64)[:, None] * w_depth
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        if EVEN:
            x, w = tl.load(x_at), tl.load(w_at)
        else:
            x = tl.load(x_at, mask=depth[None, :] < k - start, other=0.0)
            w = tl.load(w_at, mask=depth[:, None] < k - start, other=0.0)
        if WIDEN:  # for the interpreter, which has no products of bfloat16
            x, w = x.to(tl.float32), w.to(tl.float32)
        total = tl.dot(x, w, total, input_precision="ieee" if EXACT else "tf32")
        x_at += K
        w_at += K * w_depth
    z = total + tl.load(bias_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)[None, :]
    y = z
    tl.store(y_ptr + rows[:, None] * n + columns[None, :], y.to(y_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


def _blocks(m: int, n: int, exact: bool) -> tuple[int, ...]:
    """(rows, columns, depth) of a block, warps and stages. Where there are few blocks they are smaller, so that each processor has one."""
    few = triton.cdiv(m, 128) * triton.cdiv(n, 128) < 132
    if exact:
        return (64, 64, 32, 4, 3) if few else (128, 128, 32, 8, 3)
    if few:
        return 128, 64, 128, 4, 4
    if m >= 1024 and n >= 1024:
        return 256, 128, 64, 8, 3
    return 128, 128, 64, 8, 4


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """y = x @ weight^T + bias.

    x has at least one dim, weight two; float32 (without TF32), float16 or bfloat16.
    """
    n, k = weight.shape
    copy = x.dtype == torch.float32  # products without tensor cores are slow on transposed blocks: copy the weight
    x, weight, bias = x.contiguous(), (weight.mT if copy else weight).contiguous(), bias.contiguous()
    y = torch.empty((*x.shape[:-1], n), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    m = y.numel() // n
    *most, warps, stages = _blocks(m, n, copy)
    high, wide, deep = (min(limit, max(16, triton.next_power_of_2(size))) for limit, size in zip(most, (m, n, max(k, 1)), strict=True))
    _layer[(triton.cdiv(m, high) * triton.cdiv(n, wide),)](
        x, weight, bias, y, m, n, k, *((n, 1) if copy else (1, k)), M=high, N=wide, K=deep, TURNS=GROUP, EVEN=k % deep == 0, EXACT=copy,
        WIDEN=not x.is_cuda, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return y
