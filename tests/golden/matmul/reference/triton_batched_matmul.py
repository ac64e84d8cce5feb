"""y = a @ b for each matrix of a batch, in Triton.

A program computes one block of one product, adding up blocks of k in float32. Programs that run at the same time share rows and columns,
so that most of what they read lies in the L2. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

GROUP = 8  # blocks of rows that take turns before the next columns


@triton.jit
def _product(
    a_ptr, b_ptr, y_ptr, m, n, k, a_row, a_depth, b_depth, b_column, products,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNS: tl.constexpr,
    WHOLE: tl.constexpr, EVEN: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, BATCH: tl.constexpr,
):  # fmt: skip
    tall, wide = tl.cdiv(m, M), tl.cdiv(n, N)
    product = (tl.program_id(0) // (tall * wide)).to(tl.int64)
    if BATCH > 1:  # for the interpreter, whose cost is per program
        product = (product * BATCH + tl.arange(0, BATCH))[:, None, None]
        inside = product < products
        product = tl.minimum(product, products - 1)
    block = tl.program_id(0) % (tall * wide)
    first = block // (TURNS * wide) * TURNS
    turns = tl.minimum(tall - first, TURNS)
    rows = (first + block % (TURNS * wide) % turns) * M + tl.arange(0, M)
    columns = block % (TURNS * wide) // turns * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    a_rows, b_columns = (rows, columns) if WHOLE else (rows % m, columns % n)
    a_at = a_ptr + product * m * k + a_rows.to(tl.int64)[:, None] * a_row + depth.to(tl.int64)[None, :] * a_depth
    b_at = b_ptr + product * n * k + depth.to(tl.int64)[:, None] * b_depth + b_columns.to(tl.int64)[None, :] * b_column
    total = tl.zeros((M, N) if BATCH == 1 else (BATCH, M, N), tl.float32)
    for start in range(0, k, K):
        if EVEN:
            a, b = tl.load(a_at), tl.load(b_at)
        else:
            a = tl.load(a_at, mask=depth[None, :] < k - start, other=0.0)
            b = tl.load(b_at, mask=depth[:, None] < k - start, other=0.0)
        if WIDEN:  # for the interpreter, which has no products of bfloat16
            a, b = a.to(tl.float32), b.to(tl.float32)
        total = tl.dot(a, b, total, input_precision="ieee" if EXACT else "tf32")
        a_at += K * a_depth
        b_at += K * b_depth
    y = y_ptr + product * m * n + rows.to(tl.int64)[:, None] * n + columns[None, :]
    if BATCH > 1:
        tl.store(y, total.to(y_ptr.dtype.element_ty), mask=inside & (rows[:, None] < m) & (columns[None, :] < n))
    elif WHOLE:
        tl.store(y, total.to(y_ptr.dtype.element_ty))
    else:
        tl.store(y, total.to(y_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


def _blocks(m: int, n: int, k: int, products: int, exact: bool, along_k: bool) -> tuple[int, ...]:
    """(rows, columns, depth) of a block, warps and stages. Where there are few blocks they are smaller, so that each processor has one."""
    if exact:
        return 64, 128, 32, 4, 3
    if triton.cdiv(m, 128) * triton.cdiv(n, 128) * products < 132:
        return 128, 64, 128, 4, 4
    if k <= 256:  # several blocks at a time on a processor: while one is stored, others are loaded
        return 128, 128, 32, 4, 4
    if m >= 1024 and n >= 1024:
        return (256, 128, 64, 8, 3) if along_k else (128, 256, 32, 8, 4)
    return 128, 128, 64, 8, 4


def batched_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """y = a @ b; at least two dims, the same dims before the last two; float32 (without TF32), float16 or bfloat16."""
    a, b = a.contiguous(), b.contiguous()
    m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
    shape = (*a.shape[:-1], n)
    if k == 0:
        return a.new_zeros(shape)
    y = torch.empty(shape, dtype=a.dtype, device=a.device)
    if y.numel() == 0:
        return y
    exact, products = a.dtype == torch.float32, y.numel() // (m * n)
    *most, warps, stages = _blocks(m, n, k, products, exact, False)
    high, wide, deep = (min(limit, max(16, triton.next_power_of_2(size))) for limit, size in zip(most, (m, n, k), strict=True))
    batch = 1 if a.is_cuda else min(triton.next_power_of_2(products), (1 << 18) // max(high * wide, high * deep, deep * wide))
    _product[(triton.cdiv(m, high) * triton.cdiv(n, wide) * triton.cdiv(products, batch),)](
        a, b, y, m, n, k, k, 1, n, 1, products,
        M=high, N=wide, K=deep, TURNS=GROUP, WHOLE=m % high == 0 and n % wide == 0, EVEN=k % deep == 0, EXACT=exact, WIDEN=not a.is_cuda, BATCH=batch,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    return y
