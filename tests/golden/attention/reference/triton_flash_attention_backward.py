"""Gradients of flash_attention: p = exp(scale * q k^T - lse) and s = p * (grad_out v^T - delta), without these matrices in memory, in Triton.

delta = sum_d out * grad_out - grad_lse of each query comes first. Then a program has a block of keys and goes through the queries of all heads
that share them, for grad_k and grad_v; and another one has a block of queries and goes through the keys, for grad_q. Scores are computed
for both, so that nothing is added to by two programs. Blocks that a causal mask hides are not visited. Runs on a GPU and, with
TRITON_INTERPRET=1, on a CPU.
"""

import math
from typing import Any

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(math.log2(math.e))


@triton.jit
def _delta(out_ptr, grad_ptr, grad_lse_ptr, delta_ptr, rows, d, ROWS: tl.constexpr, D: tl.constexpr):
    row, column = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS), tl.arange(0, D)
    inside = (row[:, None] < rows) & (column[None, :] < d)
    at = row[:, None] * d + column[None, :]
    out = tl.load(out_ptr + at, mask=inside, other=0.0).to(tl.float32)
    grad = tl.load(grad_ptr + at, mask=inside, other=0.0).to(tl.float32)
    taken = tl.sum(out * grad, 1) - tl.load(grad_lse_ptr + row, mask=row < rows, other=0.0)
    tl.store(delta_ptr + row, taken, mask=row < rows)


@triton.jit
def _rows(ptr, row, last, d, D: tl.constexpr, WIDEN: tl.constexpr):
    """Rows of a head, zeros beyond its last one."""
    column = tl.arange(0, D)
    x = tl.load(ptr + row.to(tl.int64)[:, None] * d + column[None, :], mask=(row[:, None] < last) & (column[None, :] < d), other=0.0)
    if WIDEN:  # for the interpreter, which has no products of bfloat16
        x = x.to(tl.float32)
    return x


@triton.jit
def _pair(q, k, v, grad, lse, delta, query, key, sq, skv, factor, CAUSAL: tl.constexpr, EXACT: tl.constexpr):
    """(p, s) of some queries and keys, 0 where they do not meet."""
    precision: tl.constexpr = "ieee" if EXACT else "tf32"
    meet = (query[:, None] < sq) & (key[None, :] < skv)
    if CAUSAL:
        meet = meet & (key[None, :] <= query[:, None])
    scores = tl.dot(q, tl.trans(k), input_precision=precision) * factor
    p = tl.where(meet, tl.exp2((scores - lse[:, None]) * LOG2E), 0.0)
    s = tl.dot(grad, tl.trans(v), input_precision=precision) - delta[:, None]
    return p, tl.where(meet, p * s, 0.0)


@triton.jit
def _added(sums, x, other, like_ptr, WIDEN: tl.constexpr, EXACT: tl.constexpr):
    """sums + x other, with x rounded to the dtype of the tensors.

    float16: every row of x is multiplied by a power of two on the way, so that its largest element lies between 2^14 and 2^15. Slopes that
    float16 does not hold, or only as a subnormal number, may well belong to gradients that it holds.
    """
    precision: tl.constexpr = "ieee" if EXACT else "tf32"
    if like_ptr.dtype.element_ty == tl.float16:
        exponent = tl.max(tl.abs(x), 1).to(tl.int32, bitcast=True) >> 23  # biased by 127; 255 stands for inf and nan
        exponent = tl.where(exponent == 255, 127 + 14, tl.maximum(exponent, 15))
        up = ((127 + 14 + 127 - exponent) << 23).to(tl.float32, bitcast=True)
        down = ((exponent - 14) << 23).to(tl.float32, bitcast=True)
        x = (x * up[:, None]).to(tl.float16)
        if WIDEN:
            x = x.to(tl.float32)
        sums += tl.dot(x, other, input_precision=precision) * down[:, None]
    else:
        x = x.to(like_ptr.dtype.element_ty)
        if WIDEN:
            x = x.to(tl.float32)
        sums = tl.dot(x, other, sums, input_precision=precision)
    return sums


_BLOCKS = ((128, 64, 8, 2), (64, 128, 8, 2), (64, 64, 4, 3), (64, 64, 8, 2), (64, 32, 4, 2), (32, 32, 4, 2))


def _worth_trying(configs: list[triton.Config], arguments: dict[str, Any], **options: Any) -> list[triton.Config]:
    """Few rows are not worth a measurement; without tensor cores, large blocks take minutes to compile and do not fit the registers."""
    if not options["LONG"]:
        return configs[-1:]
    if options["EXACT"]:
        return configs[-2:]
    return configs[:-1] if options["D"] <= 128 else configs[-2:]


def _tuned(function: Any) -> Any:
    configs = [triton.Config({"M": m, "N": n}, num_warps=warps, num_stages=stages) for m, n, warps, stages in _BLOCKS]
    return triton.autotune(configs=configs, key=["D", "CAUSAL", "LONG"], prune_configs_by={"early_config_prune": _worth_trying})(function)


@_tuned
@triton.jit
def _grad_keys(
    q_ptr, k_ptr, v_ptr, grad_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, group, sq, skv, d, factor,
    LONG: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64)  # of keys, of all batches
    first = tl.program_id(0) * N
    key = first + tl.arange(0, N)
    k = _rows(k_ptr + head * skv * d, key, skv, d, D, WIDEN)
    v = _rows(v_ptr + head * skv * d, key, skv, d, D, WIDEN)
    dk = tl.zeros((N, D), tl.float32)
    dv = tl.zeros((N, D), tl.float32)
    begin = 0
    if CAUSAL:
        begin = first // M * M
    for member in range(group):
        queries = (head * group + member) * sq
        for start in range(begin, sq, M):
            query = start + tl.arange(0, M)
            q = _rows(q_ptr + queries * d, query, sq, d, D, WIDEN)
            grad = _rows(grad_ptr + queries * d, query, sq, d, D, WIDEN)
            lse = tl.load(lse_ptr + queries + query, mask=query < sq, other=0.0)
            delta = tl.load(delta_ptr + queries + query, mask=query < sq, other=0.0)
            p, s = _pair(q, k, v, grad, lse, delta, query, key, sq, skv, factor, CAUSAL, EXACT)
            dv = _added(dv, tl.trans(p), grad, q_ptr, WIDEN, EXACT)
            dk = _added(dk, tl.trans(s), q, q_ptr, WIDEN, EXACT)
    column = tl.arange(0, D)
    at = (head * skv + key)[:, None] * d + column[None, :]
    inside = (key[:, None] < skv) & (column[None, :] < d)
    tl.store(dk_ptr + at, (dk * factor).to(dk_ptr.dtype.element_ty), mask=inside)
    tl.store(dv_ptr + at, dv.to(dv_ptr.dtype.element_ty), mask=inside)


@_tuned
@triton.jit
def _grad_queries(
    q_ptr, k_ptr, v_ptr, grad_ptr, lse_ptr, delta_ptr, dq_ptr, group, sq, skv, d, factor,
    LONG: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64)  # of queries, of all batches
    first = tl.program_id(0) * M
    query = first + tl.arange(0, M)
    q = _rows(q_ptr + head * sq * d, query, sq, d, D, WIDEN)
    grad = _rows(grad_ptr + head * sq * d, query, sq, d, D, WIDEN)
    lse = tl.load(lse_ptr + head * sq + query, mask=query < sq, other=0.0)
    delta = tl.load(delta_ptr + head * sq + query, mask=query < sq, other=0.0)
    keys = head // group * skv * d
    dq = tl.zeros((M, D), tl.float32)
    end = skv
    if CAUSAL:
        end = tl.minimum(skv, first + M)
    for start in range(0, end, N):
        key = start + tl.arange(0, N)
        k = _rows(k_ptr + keys, key, skv, d, D, WIDEN)
        v = _rows(v_ptr + keys, key, skv, d, D, WIDEN)
        _, s = _pair(q, k, v, grad, lse, delta, query, key, sq, skv, factor, CAUSAL, EXACT)
        dq = _added(dq, s, k, q_ptr, WIDEN, EXACT)
    column = tl.arange(0, D)
    at = (head * sq + query)[:, None] * d + column[None, :]
    tl.store(dq_ptr + at, (dq * factor).to(dq_ptr.dtype.element_ty), mask=(query[:, None] < sq) & (column[None, :] < d))


def flash_attention_backward(
    grad_out: torch.Tensor, grad_lse: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, out: torch.Tensor, lse: torch.Tensor,
    scale: float = 0.0, causal: bool = False,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:  # fmt: skip
    """(grad_q, grad_k, grad_v): q, out and grad_out are [b, hq, sq, d], k and v [b, hkv, skv, d] of one dtype; lse and grad_lse [b, hq, sq] are float32.

    A scale of 0 stands for 1 / sqrt(d). `causal` hides key j from query i where j > i.
    """
    grad_out, grad_lse, q, k, v, out, lse = (t.contiguous() for t in (grad_out, grad_lse, q, k, v, out, lse))
    (b, hq, sq, d), (hkv, skv) = q.shape, k.shape[1:3]
    grad_q, grad_k, grad_v = torch.zeros_like(q), torch.zeros_like(k), torch.zeros_like(v)
    if q.numel() == 0 or k.numel() == 0:
        return grad_q, grad_k, grad_v
    wide = max(16, triton.next_power_of_2(d))
    rows = b * hq * sq
    delta = torch.empty_like(lse)
    some = max(1, (4096 if q.is_cuda else 65536) // wide)
    _delta[(triton.cdiv(rows, some),)](out, grad_out, grad_lse, delta, rows, d, ROWS=some, D=wide)
    tensors = (q, k, v, grad_out, lse, delta)
    numbers = (hq // hkv, sq, skv, d, scale or d**-0.5)
    options = {"D": wide, "CAUSAL": causal, "EXACT": q.dtype == torch.float32, "WIDEN": not q.is_cuda}
    _grad_keys[lambda meta: (triton.cdiv(skv, meta["N"]), b * hkv)](*tensors, grad_k, grad_v, *numbers, LONG=skv >= 512, **options)
    _grad_queries[lambda meta: (triton.cdiv(sq, meta["M"]), b * hq)](*tensors, grad_q, *numbers, LONG=sq >= 512, **options)
    return grad_q, grad_k, grad_v
