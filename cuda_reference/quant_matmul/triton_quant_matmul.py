"""y = (x @ weight^T + bias) * scale * pertoken_scale for int8 matrices, in Triton.

A program computes one block of the product in int32, exactly, and finishes it in float32. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl

GROUP = 8  # blocks of rows that take turns before the next columns


@triton.jit
def _product(
    x_ptr, weight_ptr, scale_ptr, token_ptr, bias_ptr, y_ptr, m, n, k,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TURNS: tl.constexpr, EVEN: tl.constexpr, TOKENS: tl.constexpr, BIAS: tl.constexpr,
):  # fmt: skip
    tall, wide = tl.cdiv(m, M), tl.cdiv(n, N)
    block = tl.program_id(0)
    first = block // (TURNS * wide) * TURNS
    turns = tl.minimum(tall - first, TURNS)
    rows = (first + block % (TURNS * wide) % turns) * M + tl.arange(0, M)
    columns = block % (TURNS * wide) // turns * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    x_at = x_ptr + (rows % m).to(tl.int64)[:, None] * k + depth[None, :]
    w_at = weight_ptr + (columns % n).to(tl.int64)[None, :] * k + depth[:, None]
    total = tl.zeros((M, N), tl.int32)
    for start in range(0, k, K):
        if EVEN:
            x, w = tl.load(x_at), tl.load(w_at)
        else:
            x = tl.load(x_at, mask=depth[None, :] < k - start, other=0)
            w = tl.load(w_at, mask=depth[:, None] < k - start, other=0)
        total = tl.dot(x, w, total, out_dtype=tl.int32)
        x_at += K
        w_at += K
    if BIAS:
        total += tl.load(bias_ptr + columns, mask=columns < n, other=0)[None, :]
    y = total.to(tl.float32) * tl.load(scale_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)[None, :]
    if TOKENS:
        y = y * tl.load(token_ptr + rows, mask=rows < m, other=0.0)[:, None]
    at = y_ptr + rows.to(tl.int64)[:, None] * n + columns[None, :]
    tl.store(at, y.to(y_ptr.dtype.element_ty), mask=(rows[:, None] < m) & (columns[None, :] < n))


def quant_matmul(
    x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, pertoken_scale: torch.Tensor | None = None, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """y for int8 x [*rows, k] and weight [n, k]; bfloat16 where scale [n] is bfloat16, else float16."""
    x, weight, scale = x.contiguous(), weight.contiguous(), scale.contiguous()
    n, k = weight.shape
    dtype = torch.bfloat16 if scale.dtype == torch.bfloat16 else torch.float16
    y = torch.empty((*x.shape[:-1], n), dtype=dtype, device=x.device)
    if y.numel() == 0:
        return y
    m = y.numel() // n
    few = triton.cdiv(m, 128) * triton.cdiv(n, 128) < 132  # smaller blocks then, so that each processor has one
    most = (128, 64 if few else 256 if m >= 1024 and n >= 1024 else 128, 128)
    high, wide, deep = (min(limit, max(32, triton.next_power_of_2(size))) for limit, size in zip(most, (m, n, max(k, 1)), strict=True))
    _product[(triton.cdiv(m, high) * triton.cdiv(n, wide),)](
        x, weight, scale, scale if pertoken_scale is None else pertoken_scale.contiguous(), scale if bias is None else bias.contiguous(), y,
        m, n, k, M=high, N=wide, K=deep, TURNS=GROUP, EVEN=k % deep == 0, TOKENS=pertoken_scale is not None, BIAS=bias is not None,
        num_warps=8 if high * wide >= 128 * 128 else 4, num_stages=3,
    )  # fmt: skip
    return y
