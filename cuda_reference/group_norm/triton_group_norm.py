"""y = (x - mean) * rstd * weight[channel] + bias[channel], mean and rstd of each group of channels of a sample, in Triton.

One program per group, whose elements follow each other in memory: a group that fits a block is read once, a larger one three
times. The variance is the mean square of x - mean, never a difference of squares. The arithmetic is fp32, rounded once on
the way out. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _sum(x, GROUPS: tl.constexpr):
    if GROUPS > 1:
        total = tl.sum(x, axis=1, keep_dims=True)
    else:
        total = tl.sum(x)
    return total


@triton.jit
def _kernel(
    x_ptr, w_ptr, b_ptr, y_ptr, mean_ptr, rstd_ptr, total, groups, channels, spatial, eps,
    WHOLE: tl.constexpr, GROUPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(0).to(tl.int64)
    if GROUPS > 1:  # for the interpreter, whose cost is per program
        group = (group * GROUPS + tl.arange(0, GROUPS))[:, None]
        some = group < total
        group = tl.minimum(group, total - 1)
    size = channels * spatial
    lane = tl.arange(0, BLOCK)
    x_ptr += group * size
    y_ptr += group * size
    first = group % groups * channels
    if WHOLE:
        inside = lane < size
        if GROUPS > 1:
            inside = some & inside[None, :]
        x = tl.load(x_ptr + lane, mask=inside, other=0.0).to(tl.float32)
        mean = _sum(x, GROUPS) / size
        centered = tl.where(inside, x - mean, 0.0)
        rstd = 1.0 / tl.sqrt(_sum(centered * centered, GROUPS) / size + eps)
        channel = first + lane // spatial
        weight = tl.load(w_ptr + channel, mask=inside, other=0.0).to(tl.float32)
        bias = tl.load(b_ptr + channel, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + lane, (centered * rstd * weight + bias).to(y_ptr.dtype.element_ty), mask=inside)
    else:
        sums = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, size, BLOCK):
            sums += tl.load(x_ptr + start + lane, mask=start + lane < size, other=0.0).to(tl.float32)
        mean = tl.sum(sums) / size
        squares = tl.zeros((BLOCK,), tl.float32)
        for start in range(0, size, BLOCK):
            inside = start + lane < size
            x = tl.load(x_ptr + start + lane, mask=inside, other=0.0).to(tl.float32)
            centered = tl.where(inside, x - mean, 0.0)
            squares += centered * centered
        rstd = 1.0 / tl.sqrt(tl.sum(squares) / size + eps)
        for start in range(0, size, BLOCK):
            inside = start + lane < size
            x = tl.load(x_ptr + start + lane, mask=inside, other=0.0).to(tl.float32)
            channel = first + (start + lane) // spatial
            weight = tl.load(w_ptr + channel, mask=inside, other=0.0).to(tl.float32)
            bias = tl.load(b_ptr + channel, mask=inside, other=0.0).to(tl.float32)
            y = (x - mean) * rstd * weight + bias
            tl.store(y_ptr + start + lane, y.to(y_ptr.dtype.element_ty), mask=inside)
    if GROUPS > 1:
        tl.store(mean_ptr + group, mean, mask=some)
        tl.store(rstd_ptr + group, rstd, mask=some)
    else:
        tl.store(mean_ptr + group, mean)
        tl.store(rstd_ptr + group, rstd)


def group_norm(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, num_groups: int, eps: float = 1e-5
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(y, mean, rstd): x [samples, channels, *spatial], weight and bias [channels] of one dtype; mean and rstd are float32 [samples, num_groups]."""
    x, weight, bias = x.contiguous(), weight.contiguous(), bias.contiguous()
    y = torch.empty_like(x)
    samples, channels = x.shape[:2]
    mean = torch.empty([samples, num_groups], dtype=torch.float32, device=x.device)
    rstd = torch.empty_like(mean)
    if x.numel() == 0:
        return y, mean.zero_(), rstd.fill_(float("nan"))
    spatial = x.numel() // samples // channels
    size = channels // num_groups * spatial
    widest = 16384 if x.is_cuda else 131072  # the interpreter's cost is per program
    whole = size <= widest
    block = triton.next_power_of_2(size) if whole else (8192 if x.is_cuda else widest)
    warps = max(4, min(16, block // 512))
    tensors = (x, weight, bias, y, mean, rstd)
    some = 1 if x.is_cuda or not whole else min(triton.next_power_of_2(samples * num_groups), 262144 // max(block, 1))
    sizes = (samples * num_groups, num_groups, channels // num_groups, spatial)
    _kernel[(triton.cdiv(samples * num_groups, some),)](*tensors, *sizes, eps, WHOLE=whole, GROUPS=some, BLOCK=block, num_warps=warps)
    return y, mean, rstd
