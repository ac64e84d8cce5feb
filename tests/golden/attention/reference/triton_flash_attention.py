"""out = softmax(scale * q k^T) v and the logarithm of the softmax's sums, without the matrix of scores in memory, in Triton.

A program has a block of queries of one head. It goes through the keys in blocks with a running maximum and sum (float32) of each query; when
the maximum grows, what was added up is scaled down. Blocks that a causal mask hides are not visited, and only those that it cuts are masked.
Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import math
from typing import Any

import torch
import triton
import triton.language as tl

LOG2E = tl.constexpr(math.log2(math.e))
LN2 = tl.constexpr(math.log(2))
LOWEST = tl.constexpr(-3.4028234663852886e38)  # so that keys of score -inf add 0 and not NaN


@triton.jit
def _turned(x, BATCH: tl.constexpr):
    if BATCH == 1:
        turned = tl.trans(x)
    else:
        turned = tl.trans(x, 0, 2, 1)
    return turned


@triton.jit
def _add_keys(
    q, k_ptr, v_ptr, rows, peak, total, acc, begin, end, skv, d, k_step, factor, N: tl.constexpr, D: tl.constexpr,
    WHOLE: tl.constexpr, MASKED: tl.constexpr, CAUSAL: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, BATCH: tl.constexpr,
):  # fmt: skip
    """The keys from begin to end; MASKED: some of them may be hidden from some rows; WHOLE: D is d; EXACT: k is [d, k_step], else [skv, d]."""
    columns = tl.arange(0, D)
    precision: tl.constexpr = "ieee" if EXACT else "tf32"
    LAST: tl.constexpr = 1 if BATCH == 1 else 2  # axis of scores
    lanes = tl.arange(0, N)
    v_at = v_ptr + (begin + lanes).to(tl.int64)[:, None] * d + columns[None, :]
    if EXACT:
        k_at = k_ptr + columns.to(tl.int64)[:, None] * k_step + (begin + lanes)[None, :]
    else:
        k_at = k_ptr + (begin + lanes).to(tl.int64)[:, None] * d + columns[None, :]
    for start in range(begin, end, N):
        inside = (start + lanes < skv)[:, None]
        if not WHOLE:
            inside = inside & (columns < d)[None, :]
        if EXACT:
            k = tl.load(k_at) if WHOLE else tl.load(k_at, mask=(columns < d)[:, None], other=0.0)
        elif WHOLE and not MASKED:
            k = _turned(tl.load(k_at), BATCH)
        else:
            k = _turned(tl.load(k_at, mask=inside, other=0.0), BATCH)
        if WIDEN:  # for the interpreter, which has no products of bfloat16
            k = k.to(tl.float32)
        scores = tl.dot(q, k, input_precision=precision)
        if MASKED:
            visible = (start + lanes)[None, :] < skv
            if CAUSAL:
                visible = visible & ((start + lanes)[None, :] <= rows[:, None])
            scores = tl.where(visible, scores, float("-inf"))
        higher = tl.maximum(peak, tl.max(scores, LAST) * factor)
        weights = tl.exp2(scores * factor - tl.expand_dims(higher, LAST))
        shrink = tl.exp2(peak - higher)
        total = total * shrink + tl.sum(weights, LAST)
        v = tl.load(v_at) if WHOLE and not MASKED else tl.load(v_at, mask=inside, other=0.0)
        weights = weights.to(v.dtype)
        if WIDEN:
            v, weights = v.to(tl.float32), weights.to(tl.float32)
        acc = tl.dot(weights, v, acc * tl.expand_dims(shrink, LAST), input_precision=precision)
        peak = higher
        k_at += N if EXACT else N * d
        v_at += N * d
    return peak, total, acc


_BLOCKS = ((128, 64, 8, 3), (128, 128, 8, 3), (64, 64, 4, 3), (64, 64, 8, 2), (32, 64, 8, 2), (64, 32, 8, 2), (32, 32, 4, 2))


def _worth_trying(configs: list[triton.Config], arguments: dict[str, Any], **options: Any) -> list[triton.Config]:
    """Few queries are not worth a measurement; without tensor cores, large blocks take minutes to compile and do not fit the registers."""
    if not options["LONG"]:
        return configs[-1:]
    if options["EXACT"]:
        return configs[3:6]
    return configs[:3] if options["D"] <= 128 else configs[2:4]


@triton.autotune(
    configs=[triton.Config({"M": m, "N": n}, num_warps=warps, num_stages=stages) for m, n, warps, stages in _BLOCKS],
    key=["D", "CAUSAL", "LONG"],
    prune_configs_by={"early_config_prune": _worth_trying},
)
@triton.jit
def _attend(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, total_heads, heads, group, sq, skv, d, k_step, factor,
    BATCH: tl.constexpr, LONG: tl.constexpr, D: tl.constexpr, WHOLE: tl.constexpr, CAUSAL: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0) * M
    head = tl.program_id(1).to(tl.int64)  # of all batches
    if BATCH > 1:  # for the interpreter, whose cost is per program
        head = (head * BATCH + tl.arange(0, BATCH))[:, None, None]
        some = head < total_heads
        head = tl.minimum(head, total_heads - 1)
    kv = head // heads * (heads // group) + head % heads // group
    k_ptr += kv * d * (k_step if EXACT else skv)
    v_ptr += kv * skv * d
    rows, columns = first + tl.arange(0, M), tl.arange(0, D)
    if BATCH > 1:
        at = (head * sq + rows[:, None]) * d + columns[None, :]
        inside = some & (rows[:, None] < sq) & (columns[None, :] < d)
    else:
        at = (head * sq + rows)[:, None] * d + columns[None, :]
        inside = (rows[:, None] < sq) & (columns[None, :] < d)
    q = tl.load(q_ptr + at, mask=inside, other=0.0)
    if WIDEN:
        q = q.to(tl.float32)
    peak = tl.full((M,) if BATCH == 1 else (BATCH, M), LOWEST, tl.float32)
    total = tl.zeros((M,) if BATCH == 1 else (BATCH, M), tl.float32)
    acc = tl.zeros((M, D) if BATCH == 1 else (BATCH, M, D), tl.float32)
    end = skv
    whole = skv // N * N
    if CAUSAL:
        end = tl.minimum(skv, first + M)
        whole = tl.minimum(whole, first // N * N)
    base = factor * LOG2E
    peak, total, acc = _add_keys(q, k_ptr, v_ptr, rows, peak, total, acc, 0, whole, skv, d, k_step, base, N, D, WHOLE, False, CAUSAL, EXACT, WIDEN, BATCH)
    peak, total, acc = _add_keys(q, k_ptr, v_ptr, rows, peak, total, acc, whole, end, skv, d, k_step, base, N, D, WHOLE, True, CAUSAL, EXACT, WIDEN, BATCH)
    if BATCH > 1:
        tl.store(out_ptr + at, (acc / total[:, :, None]).to(out_ptr.dtype.element_ty), mask=inside)
        tl.store(lse_ptr + head * sq + rows[:, None], ((peak + tl.log2(total)) * LN2)[:, :, None], mask=some & (rows < sq)[:, None])
    else:
        tl.store(out_ptr + at, (acc / total[:, None]).to(out_ptr.dtype.element_ty), mask=inside)
        tl.store(lse_ptr + head * sq + rows, (peak + tl.log2(total)) * LN2, mask=rows < sq)


def flash_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float = 0.0, causal: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """(out, lse) of q [b, hq, sq, d], k and v [b, hkv, skv, d]; hq is a multiple of hkv; float32 (without TF32), float16 or bfloat16.

    A scale of 0 stands for 1 / sqrt(d). `causal` hides key j from query i where j > i. lse [b, hq, sq] is float32.
    """
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    (b, hq, sq, d), (hkv, skv) = q.shape, k.shape[1:3]
    out = torch.zeros_like(q)
    lse = torch.full((b, hq, sq), -math.inf, dtype=torch.float32, device=q.device)
    if out.numel() == 0 or skv == 0:
        return out, lse

    def grid(meta: dict[str, int]) -> tuple[int, int]:
        return triton.cdiv(sq, meta["M"]), triton.cdiv(b * hq, batch)

    exact, wide = q.dtype == torch.float32, max(16, triton.next_power_of_2(d))
    batch = 1 if q.is_cuda else min(triton.next_power_of_2(b * hq), max(1, (1 << 18) // (128 * max(wide, 64))))  # the blocks of the interpreter are the first of _BLOCKS
    factor = scale or d**-0.5
    if factor < 0:  # the largest score shall belong to the largest product
        q, factor = -q, -factor
    if exact:  # without tensor cores, a product is fast if its right matrix is not transposed: copy k, with room for whole blocks
        k = torch.nn.functional.pad(k.mT, (0, -skv % 128)).contiguous()
    _attend[grid](
        q, k, v, out, lse, b * hq, hq, hq // hkv, sq, skv, d, k.shape[-1], factor,
        BATCH=batch, LONG=sq >= 512, D=wide, WHOLE=d == wide, CAUSAL=causal, EXACT=exact, WIDEN=not q.is_cuda,
    )  # fmt: skip
    return out, lse
