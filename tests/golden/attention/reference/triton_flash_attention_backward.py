"""Gradients of flash_attention: p = exp(scale * q k^T - lse) and s = p * (grad_out v^T - delta), without these matrices in memory, in Triton.

delta = sum_d out * grad_out - grad_lse of each query comes first. Then a program has a block of keys and goes through the queries of all heads
that share them, for grad_k and grad_v; and another one has a block of queries and goes through the keys, for grad_q. Scores are computed
for both, so that nothing is added to by two programs: [keys, queries] in the first case, [queries, keys] in the second, as the left matrices of
the products that follow. Blocks that a causal mask hides are not visited, and only those that it cuts are masked. Without tensor cores, a
product is fast if its right matrix is not transposed: float32 reads transposed copies. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
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
def _spread(x, AXIS: tl.constexpr, BATCH: tl.constexpr):
    """What each row (AXIS 1) or column (AXIS 0) has, for all of a matrix; numbers of a BATCH are loaded in that shape."""
    if BATCH == 1:
        x = tl.expand_dims(x, AXIS)
    return x


@triton.jit
def _product(x, x_ptr, row, last, other, turned_ptr, place, d, step, D: tl.constexpr, EXACT: tl.constexpr, BATCH: tl.constexpr):
    """x @ other^T for rows of two heads. EXACT: of x_ptr and of a transposed copy [d, step] with room for whole blocks; a thread has what it
    multiplies in registers, so only some of it at a time."""
    if EXACT:
        PART: tl.constexpr = 32 if D > 32 else D
        total = tl.zeros((row.shape[0], place.shape[0]) if BATCH == 1 else (BATCH, row.shape[0], place.shape[0]), tl.float32)
        for start in tl.static_range(0, D, PART):
            column = start + tl.arange(0, PART)
            some = tl.load(x_ptr + row.to(tl.int64)[:, None] * d + column[None, :], mask=(row < last)[:, None] & (column < d)[None, :], other=0.0)
            turned = tl.load(turned_ptr + column.to(tl.int64)[:, None] * step + place[None, :], mask=(column < d)[:, None], other=0.0)
            total = tl.dot(some, turned, total, input_precision="ieee")
    elif BATCH == 1:
        total = tl.dot(x, tl.trans(other), input_precision="tf32")
    else:
        total = tl.dot(x, tl.trans(other, 0, 2, 1), input_precision="tf32")
    return total


@triton.jit
def _added(sums, x, other, like_ptr, WIDEN: tl.constexpr, EXACT: tl.constexpr, BATCH: tl.constexpr):
    """sums + x other, with x rounded to the dtype of the tensors.

    float16: every row of x is multiplied by a power of two on the way, so that its largest element lies between 2^14 and 2^15. Slopes that
    float16 does not hold, or only as a subnormal number, may well belong to gradients that it holds.
    """
    precision: tl.constexpr = "ieee" if EXACT else "tf32"
    LAST: tl.constexpr = 1 if BATCH == 1 else 2  # axis of x
    if like_ptr.dtype.element_ty == tl.float16:
        exponent = tl.max(tl.abs(x), LAST).to(tl.int32, bitcast=True) >> 23  # biased by 127; 255 stands for inf and nan
        exponent = tl.where(exponent == 255, 127 + 14, tl.maximum(exponent, 15))
        up = ((127 + 14 + 127 - exponent) << 23).to(tl.float32, bitcast=True)
        down = ((exponent - 14) << 23).to(tl.float32, bitcast=True)
        x = (x * tl.expand_dims(up, LAST)).to(tl.float16)
        if WIDEN:
            x = x.to(tl.float32)
        sums += tl.dot(x, other, input_precision=precision) * tl.expand_dims(down, LAST)
    else:
        x = x.to(like_ptr.dtype.element_ty)
        if WIDEN:
            x = x.to(tl.float32)
        sums = tl.dot(x, other, sums, input_precision=precision)
    return sums


@triton.jit
def _add_queries(
    dk, dv, k, v, k_ptr, v_ptr, q_ptr, grad_ptr, turned_q_ptr, turned_grad_ptr, lse_ptr, delta_ptr, key, begin, end, sq, skv, d, step, base,
    MASKED: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, BATCH: tl.constexpr, M: tl.constexpr,
):  # fmt: skip
    """What the queries from begin to end add to the gradients of keys and values; MASKED: some of them may not meet some keys."""
    for start in range(begin, end, M):
        query = start + tl.arange(0, M)
        q = _rows(q_ptr, query, sq, d, D, WIDEN)
        grad = _rows(grad_ptr, query, sq, d, D, WIDEN)
        lse = tl.load(lse_ptr + query, mask=query < sq, other=0.0) * LOG2E
        delta = tl.load(delta_ptr + query, mask=query < sq, other=0.0)
        p = tl.exp2(_product(k, k_ptr, key, skv, q, turned_q_ptr, query, d, step, D, EXACT, BATCH) * base - _spread(lse, 0, BATCH))
        s = p * (_product(v, v_ptr, key, skv, grad, turned_grad_ptr, query, d, step, D, EXACT, BATCH) - _spread(delta, 0, BATCH))
        if MASKED:
            meet = query[None, :] < sq
            if CAUSAL:
                meet = meet & (key[:, None] <= query[None, :])
            p, s = tl.where(meet, p, 0.0), tl.where(meet, s, 0.0)
        dv = _added(dv, p, grad, q_ptr, WIDEN, EXACT, BATCH)
        dk = _added(dk, s, q, q_ptr, WIDEN, EXACT, BATCH)
    return dk, dv


@triton.jit
def _add_keys(
    dq, q, grad, lse, delta, q_ptr, grad_ptr, k_ptr, v_ptr, turned_k_ptr, turned_v_ptr, query, begin, end, sq, skv, d, step, base,
    MASKED: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, BATCH: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """What the keys from begin to end add to the gradient of queries; MASKED: some of them may not meet some queries."""
    for start in range(begin, end, N):
        key = start + tl.arange(0, N)
        k = _rows(k_ptr, key, skv, d, D, WIDEN)
        v = _rows(v_ptr, key, skv, d, D, WIDEN)
        p = tl.exp2(_product(q, q_ptr, query, sq, k, turned_k_ptr, key, d, step, D, EXACT, BATCH) * base - _spread(lse, 1, BATCH))
        s = p * (_product(grad, grad_ptr, query, sq, v, turned_v_ptr, key, d, step, D, EXACT, BATCH) - _spread(delta, 1, BATCH))
        if MASKED:
            meet = key[None, :] < skv
            if CAUSAL:
                meet = meet & (key[None, :] <= query[:, None])
            s = tl.where(meet, s, 0.0)
        dq = _added(dq, s, k, k_ptr, WIDEN, EXACT, BATCH)
    return dq


_BLOCKS = ((128, 64, 8, 3), (64, 64, 4, 2), (64, 64, 4, 3), (32, 64, 4, 3), (64, 64, 8, 2), (32, 32, 8, 2), (32, 32, 4, 2))


def _worth_trying(configs: list[triton.Config], arguments: dict[str, Any], **options: Any) -> list[triton.Config]:
    """Few rows are not worth a measurement; without tensor cores, large blocks take minutes to compile and do not fit the registers."""
    if not options["LONG"]:
        return configs[-1:]
    if options["EXACT"]:
        return configs[-3:]
    return configs[:4] if options["D"] <= 128 else configs[-2:]


def _tuned(function: Any) -> Any:
    configs = [triton.Config({"M": m, "N": n}, num_warps=warps, num_stages=stages) for m, n, warps, stages in _BLOCKS]
    return triton.autotune(configs=configs, key=["D", "CAUSAL", "LONG"], prune_configs_by={"early_config_prune": _worth_trying})(function)


@_tuned
@triton.jit
def _grad_keys(
    q_ptr, k_ptr, v_ptr, grad_ptr, turned_q_ptr, turned_grad_ptr, lse_ptr, delta_ptr, dk_ptr, dv_ptr, heads, group, sq, skv, d, step, factor,
    BATCH: tl.constexpr, LONG: tl.constexpr, EVEN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64)  # of keys, of all batches
    if BATCH > 1:  # for the interpreter, whose cost is per program
        head = (head * BATCH + tl.arange(0, BATCH))[:, None, None]
        some = head < heads
        head = tl.minimum(head, heads - 1)
    first = tl.program_id(0) * N
    key = first + tl.arange(0, N)
    k_ptr += head * skv * d
    v_ptr += head * skv * d
    k = _rows(k_ptr, key, skv, d, D, WIDEN)
    v = _rows(v_ptr, key, skv, d, D, WIDEN)
    dk = tl.zeros((N, D) if BATCH == 1 else (BATCH, N, D), tl.float32)
    dv = tl.zeros((N, D) if BATCH == 1 else (BATCH, N, D), tl.float32)
    base = factor * LOG2E
    for member in range(group):
        here = head * group + member
        q_at, grad_at, lse_at, delta_at = q_ptr + here * sq * d, grad_ptr + here * sq * d, lse_ptr + here * sq, delta_ptr + here * sq
        turned_q_at, turned_grad_at = turned_q_ptr + here * d * step, turned_grad_ptr + here * d * step
        begin = 0
        if CAUSAL:  # queries at the diagonal, then those that see all keys of the block
            begin = tl.minimum(tl.cdiv(first + N, M) * M, sq)
            dk, dv = _add_queries(
                dk, dv, k, v, k_ptr, v_ptr, q_at, grad_at, turned_q_at, turned_grad_at, lse_at, delta_at, key, first // M * M, begin, sq, skv, d, step, base,
                True, D, CAUSAL, EXACT, WIDEN, BATCH, M,
            )  # fmt: skip
        dk, dv = _add_queries(
            dk, dv, k, v, k_ptr, v_ptr, q_at, grad_at, turned_q_at, turned_grad_at, lse_at, delta_at, key, begin, sq, sq, skv, d, step, base,
            not EVEN, D, False, EXACT, WIDEN, BATCH, M,
        )  # fmt: skip
    column = tl.arange(0, D)
    if BATCH > 1:
        at = (head * skv + key[:, None]) * d + column[None, :]
        inside = some & (key[:, None] < skv) & (column[None, :] < d)
    else:
        at = (head * skv + key)[:, None] * d + column[None, :]
        inside = (key[:, None] < skv) & (column[None, :] < d)
    tl.store(dk_ptr + at, (dk * factor).to(dk_ptr.dtype.element_ty), mask=inside)
    tl.store(dv_ptr + at, dv.to(dv_ptr.dtype.element_ty), mask=inside)


@_tuned
@triton.jit
def _grad_queries(
    q_ptr, k_ptr, v_ptr, grad_ptr, turned_k_ptr, turned_v_ptr, lse_ptr, delta_ptr, dq_ptr, heads, group, sq, skv, d, step, factor,
    BATCH: tl.constexpr, LONG: tl.constexpr, EVEN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1).to(tl.int64)  # of queries, of all batches
    if BATCH > 1:
        head = (head * BATCH + tl.arange(0, BATCH))[:, None, None]
        some = head < heads
        head = tl.minimum(head, heads - 1)
    first = tl.program_id(0) * M
    query = first + tl.arange(0, M)
    q_ptr += head * sq * d
    grad_ptr += head * sq * d
    q = _rows(q_ptr, query, sq, d, D, WIDEN)
    grad = _rows(grad_ptr, query, sq, d, D, WIDEN)
    each = query if BATCH == 1 else query[:, None]
    lse = tl.load(lse_ptr + head * sq + each, mask=each < sq, other=0.0) * LOG2E
    delta = tl.load(delta_ptr + head * sq + each, mask=each < sq, other=0.0)
    here = head // group
    k_at, v_at = k_ptr + here * skv * d, v_ptr + here * skv * d
    turned_k_at, turned_v_at = turned_k_ptr + here * d * step, turned_v_ptr + here * d * step
    base = factor * LOG2E
    dq = tl.zeros((M, D) if BATCH == 1 else (BATCH, M, D), tl.float32)
    whole = skv
    if CAUSAL:
        whole = tl.minimum(first // N * N, skv)
    dq = _add_keys(dq, q, grad, lse, delta, q_ptr, grad_ptr, k_at, v_at, turned_k_at, turned_v_at, query, 0, whole, sq, skv, d, step, base, not EVEN, D, False, EXACT, WIDEN, BATCH, N)
    if CAUSAL:  # keys at the diagonal
        end = tl.minimum(skv, first + M)
        dq = _add_keys(dq, q, grad, lse, delta, q_ptr, grad_ptr, k_at, v_at, turned_k_at, turned_v_at, query, whole, end, sq, skv, d, step, base, True, D, CAUSAL, EXACT, WIDEN, BATCH, N)
    column = tl.arange(0, D)
    if BATCH > 1:
        at = (head * sq + query[:, None]) * d + column[None, :]
        inside = some & (query[:, None] < sq) & (column[None, :] < d)
    else:
        at = (head * sq + query)[:, None] * d + column[None, :]
        inside = (query[:, None] < sq) & (column[None, :] < d)
    tl.store(dq_ptr + at, (dq * factor).to(dq_ptr.dtype.element_ty), mask=inside)


def _with_room(x: torch.Tensor) -> torch.Tensor:
    """The transpose of each matrix, with zeros up to whole blocks."""
    return torch.nn.functional.pad(x.mT, (0, -x.shape[-2] % 128)).contiguous()


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
    tensors, exact = (q, k, v, grad_out), q.dtype == torch.float32
    turned_q, turned_k, turned_v, turned_grad = (_with_room(x) for x in tensors) if exact else tensors
    numbers = (hq // hkv, sq, skv, d)
    options = {"D": wide, "CAUSAL": causal, "EXACT": exact, "WIDEN": not q.is_cuda}
    most = 1 if q.is_cuda else max(1, (1 << 18) // (128 * max(wide, 64)))  # the blocks of the interpreter are the first of _BLOCKS
    batch = min(triton.next_power_of_2(b * hkv), most)
    _grad_keys[lambda meta: (triton.cdiv(skv, meta["N"]), triton.cdiv(b * hkv, batch))](
        *tensors, turned_q, turned_grad, lse, delta, grad_k, grad_v, b * hkv, *numbers, turned_q.shape[-1], scale or d**-0.5, BATCH=batch, LONG=skv >= 512, EVEN=sq % 128 == 0, **options
    )
    batch = min(triton.next_power_of_2(b * hq), most)
    _grad_queries[lambda meta: (triton.cdiv(sq, meta["M"]), triton.cdiv(b * hq, batch))](
        *tensors, turned_k, turned_v, lse, delta, grad_q, b * hq, *numbers, turned_k.shape[-1], scale or d**-0.5, BATCH=batch, LONG=sq >= 512, EVEN=skv % 128 == 0, **options
    )
    return grad_q, grad_k, grad_v
