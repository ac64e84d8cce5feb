"""y = x @ weight^T + bias, in Triton.

A program computes one block of the product, adding up blocks of k in float32, and finishes it. Programs that run at the same time share
rows and columns, so that most of what they read lies in the L2. Without tensor cores, blocks take long, and
where there are few of them, k is shared out, and a second kernel adds up the parts. Then, too, a product is fast if its left matrix has k along the memory and its right one has not: float32 computes
weight @ x^T from a transposed copy of x. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

GROUP = 8  # blocks of rows that take turns before the next columns


@triton.jit
def _after(z):
    return z


@triton.jit
def _layer(
    left_ptr, right_ptr, bias_ptr, y_ptr, m, n, k, share, right_depth, right_column, y_row, y_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNS: tl.constexpr, PARTS: tl.constexpr,
    EVEN: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr,
):  # fmt: skip
    """left [m, k] @ right [k, n]: x @ weight^T, or if EXACT weight @ x^T, which is stored transposed."""
    tall, wide = tl.cdiv(m, M), tl.cdiv(n, N)
    block = tl.program_id(0)
    first = block // (TURNS * wide) * TURNS
    turns = tl.minimum(tall - first, TURNS)
    rows = ((first + block % (TURNS * wide) % turns) * M + tl.arange(0, M)).to(tl.int64)
    columns = (block % (TURNS * wide) // turns * N + tl.arange(0, N)).to(tl.int64)
    begin = tl.program_id(1) * share  # a multiple of K
    depth = begin + tl.arange(0, K)
    left_at = left_ptr + (rows % m)[:, None] * k + depth[None, :]
    right_at = right_ptr + (columns % n)[None, :] * right_column + depth.to(tl.int64)[:, None] * right_depth
    total = tl.zeros((M, N), tl.float32)
    for start in range(begin, tl.minimum(begin + share, k), K):
        if EVEN:
            a, b = tl.load(left_at), tl.load(right_at)
        else:
            some = depth < k + begin - start
            a = tl.load(left_at, mask=some[None, :], other=0.0)
            b = tl.load(right_at, mask=some[:, None], other=0.0)
        if WIDEN:  # for the interpreter, which has no products of bfloat16
            a, b = a.to(tl.float32), b.to(tl.float32)
        total = tl.dot(a, b, total, input_precision="ieee" if EXACT else "tf32")
        left_at += K
        right_at += K * right_depth
    if PARTS == 1:
        features = rows if EXACT else columns
        bias = tl.load(bias_ptr + features, mask=features < (m if EXACT else n), other=0.0).to(tl.float32)
        total = _after(total + (bias[:, None] if EXACT else bias[None, :]))
    at = tl.program_id(1).to(tl.int64) * m * n + rows[:, None] * y_row + columns[None, :] * y_column
    tl.store(y_ptr + at, total.to(y_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


@triton.jit
def _finish(parts_ptr, bias_ptr, y_ptr, count, features, PARTS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    z = tl.load(bias_ptr + i % features, mask=i < count, other=0.0).to(tl.float32)
    for part in range(PARTS):
        z += tl.load(parts_ptr + part * count + i, mask=i < count, other=0.0)
    tl.store(y_ptr + i, _after(z).to(y_ptr.dtype.element_ty), mask=i < count)


def _blocks(m: int, n: int, exact: bool) -> tuple[int, ...]:
    """(rows, columns, depth) of a block, warps and stages. Where there are few blocks they are smaller, so that each processor has one."""
    if exact:
        return 64, 128, 32, 4, 3
    if triton.cdiv(m, 128) * triton.cdiv(n, 128) < 132:
        return 128, 64, 128, 4, 4
    if m >= 1024 and n >= 1024:
        return 256, 128, 64, 8, 3
    return 128, 128, 64, 8, 4


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """y = x @ weight^T + bias.

    x has at least one dim, weight two; float32 (without TF32), float16 or bfloat16.
    """
    features, k = weight.shape
    x, weight, bias, exact = x.contiguous(), weight.contiguous(), bias.contiguous(), x.dtype == torch.float32
    y = torch.empty((*x.shape[:-1], features), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    count = y.numel() // features
    left, right, m, n = (weight, x.reshape(count, k).mT.contiguous(), features, count) if exact else (x, weight, count, features)
    *most, warps, stages = _blocks(m, n, exact)
    high, wide, deep = (min(limit, max(16, triton.next_power_of_2(size))) for limit, size in zip(most, (m, n, max(k, 1)), strict=True))
    blocks = triton.cdiv(m, high) * triton.cdiv(n, wide)
    wanted = max(1, min(8, 1024 // blocks, k // 1024)) if exact else 1
    share = triton.cdiv(max(k, 1), wanted * deep) * deep
    parts = triton.cdiv(max(k, 1), share)
    out = y if parts == 1 else torch.empty((parts, y.numel()), dtype=torch.float32, device=x.device)
    _layer[(blocks, parts)](
        left, right, bias, out, m, n, k, share, *((n, 1, 1, m) if exact else (1, k, n, 1)), M=high, N=wide, K=deep, TURNS=GROUP, PARTS=parts,
        EVEN=k % deep == 0, EXACT=exact, WIDEN=not x.is_cuda, num_warps=warps, num_stages=stages,
    )  # fmt: skip
    if parts > 1:
        block = 1024 if x.is_cuda else 1 << 17
        _finish[(triton.cdiv(y.numel(), block),)](out, bias, y, y.numel(), features, PARTS=parts, BLOCK=block)
    return y
