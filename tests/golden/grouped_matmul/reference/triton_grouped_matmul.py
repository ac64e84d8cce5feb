"""y[rows of group g] = x[rows of group g] @ weight[g], in Triton.

group_list says on the device where each group ends. A program computes one block of the rows of one group, which it finds by going through
group_list; there are enough programs for any list. The sums are float32. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _products(
    x_ptr, weight_ptr, ends_ptr, plan_ptr, y_ptr, m, n, k, groups,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVEN: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, PLANNED: tl.constexpr,
):  # fmt: skip
    wide = tl.cdiv(n, N)
    block = (tl.program_id(0) // wide).to(tl.int64)
    columns = tl.program_id(0) % wide * N + tl.arange(0, N)
    if PLANNED:  # for the interpreter, whose cost is per operation
        group, begin = tl.load(plan_ptr + block * 4), tl.load(plan_ptr + block * 4 + 1)
        end, before = tl.load(plan_ptr + block * 4 + 2), tl.load(plan_ptr + block * 4 + 3)
    else:
        zero = block * 0
        group, begin, end, before = zero + groups, zero, zero, zero  # the group of this block, its rows, the blocks before it
        start, done = zero, zero
        for g in range(groups):
            last = tl.minimum(tl.maximum(tl.load(ends_ptr + g), start), m)
            blocks = tl.cdiv(last - start, M)
            mine = (block >= done) & (block < done + blocks)
            group, begin, end, before = tl.where(mine, g, group), tl.where(mine, start, begin), tl.where(mine, last, end), tl.where(mine, done, before)
            start, done = last, done + blocks
        behind = group == groups  # the rows after the last group are zeros
        begin, end, before = tl.where(behind, start, begin), tl.where(behind, m, end), tl.where(behind, done, before)
    rows = begin + (block - before) * M + tl.arange(0, M)
    inside = rows < end
    total = tl.zeros((M, N), tl.float32)
    if (group < groups) & (begin + (block - before) * M < end):
        depth = tl.arange(0, K)
        x_at = x_ptr + tl.where(inside, rows, begin)[:, None] * k + depth[None, :]
        w_at = weight_ptr + group * k * n + depth.to(tl.int64)[:, None] * n + (columns % n)[None, :]
        for at in range(0, k, K):
            if EVEN:
                x, w = tl.load(x_at), tl.load(w_at)
            else:
                x = tl.load(x_at, mask=depth[None, :] < k - at, other=0.0)
                w = tl.load(w_at, mask=depth[:, None] < k - at, other=0.0)
            if WIDEN:  # for the interpreter, which has no products of bfloat16
                x, w = x.to(tl.float32), w.to(tl.float32)
            total = tl.dot(x, w, total, input_precision="ieee" if EXACT else "tf32")
            x_at += K
            w_at += K * n
    y = y_ptr + rows[:, None] * n + columns[None, :]
    tl.store(y, total.to(y_ptr.dtype.element_ty), mask=inside[:, None] & (columns[None, :] < n))


def _plan(ends: list[int], m: int, high: int) -> torch.Tensor:
    """(group, its first row, its end, blocks before it) of each block that has rows; those after the last group are of group len(ends)."""
    plan, start = [], 0
    for group, end in enumerate([*ends, m]):
        last = min(max(end, start), m)
        before = len(plan)
        plan += [(group, start, last, before)] * triton.cdiv(last - start, high)
        start = last
    return torch.tensor(plan, dtype=torch.int64)


def grouped_matmul(x: torch.Tensor, weight: torch.Tensor, group_list: torch.Tensor) -> torch.Tensor:
    """y [m, n] for x [m, k], weight [groups, k, n] and the int64 ends of the groups; float32 (without TF32), float16 or bfloat16."""
    x, weight, group_list = x.contiguous(), weight.contiguous(), group_list.contiguous()
    (m, k), (groups, n) = x.shape, weight.shape[::2]
    y = torch.empty((m, n), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    if k == 0:
        return y.zero_()
    exact = x.dtype == torch.float32
    average = triton.cdiv(m, max(groups, 1))
    most = (128, 256 if average >= 128 and n >= 1024 and not exact else 128, 32 if exact else 64)
    sizes = (average, n, k)
    high, wide, deep = (min(limit, max(16, triton.next_power_of_2(size))) for limit, size in zip(most, sizes, strict=True))
    plan = group_list if x.is_cuda else _plan(group_list.tolist(), m, high)
    blocks = triton.cdiv(m, high) + groups + 1 if x.is_cuda else len(plan)
    _products[(blocks * triton.cdiv(n, wide),)](
        x, weight, group_list, plan, y, m, n, k, groups, M=high, N=wide, K=deep, EVEN=k % deep == 0, EXACT=exact, WIDEN=not x.is_cuda, PLANNED=not x.is_cuda,
        num_warps=8 if high * wide >= 128 * 128 else 4, num_stages=3,
    )  # fmt: skip
    return y
