"""grad_x = (g - mean(g) - h * mean(g * h)) * rstd, g = grad_y * weight, h = (x - mean) * rstd, means over groups, in Triton.

The sums of grad_y * h and grad_y over each channel of a sample come first, a program for each. From them follow the means of a group,
and, added up over the samples in a fixed order, the gradients of weight and bias: nothing is added to by two programs. The
arithmetic is fp32, rounded once on the way out. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _channel_sums(
    g_ptr, x_ptr, mean_ptr, rstd_ptr, slope_ptr, shift_ptr, rows, channels, spatial, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)  # channels of all samples
    lane = tl.arange(0, BLOCK)
    mean = tl.load(mean_ptr + row // channels, mask=row < rows, other=0.0)
    rstd = tl.load(rstd_ptr + row // channels, mask=row < rows, other=0.0)
    slopes = tl.zeros((ROWS, BLOCK), tl.float32)
    shifts = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, spatial, BLOCK):
        inside = (row[:, None] < rows) & (start + lane[None, :] < spatial)
        offsets = row[:, None] * spatial + start + lane[None, :]
        grad = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
        slopes += grad * tl.where(inside, (x - mean[:, None]) * rstd[:, None], 0.0)
        shifts += grad
    tl.store(slope_ptr + row, tl.sum(slopes, axis=1), mask=row < rows)
    tl.store(shift_ptr + row, tl.sum(shifts, axis=1), mask=row < rows)


@triton.jit
def _grad_x(
    g_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, slope_ptr, shift_ptr, out_ptr, total, groups, channels, spatial,
    GROUPS: tl.constexpr, CHANNELS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(0).to(tl.int64)
    if GROUPS > 1:  # for the interpreter, whose cost is per program
        group = (group * GROUPS + tl.arange(0, GROUPS))[:, None]
        some = group < total
        group = tl.minimum(group, total - 1)
    size = channels * spatial
    lane = tl.arange(0, BLOCK)
    channel = tl.arange(0, CHANNELS)
    first = group % groups * channels
    weight = tl.load(w_ptr + first + channel, mask=channel < channels, other=0.0).to(tl.float32)
    slope = weight * tl.load(slope_ptr + group * channels + channel, mask=channel < channels, other=0.0)
    shift = weight * tl.load(shift_ptr + group * channels + channel, mask=channel < channels, other=0.0)
    if GROUPS > 1:
        slope, shift = tl.sum(slope, axis=1, keep_dims=True) / size, tl.sum(shift, axis=1, keep_dims=True) / size
    else:
        slope, shift = tl.sum(slope) / size, tl.sum(shift) / size
    mean = tl.load(mean_ptr + group)
    rstd = tl.load(rstd_ptr + group)
    start = tl.program_id(1) * BLOCK
    inside = start + lane < size
    if GROUPS > 1:
        inside = some & inside[None, :]
    offsets = group * size + start + lane
    grad = tl.load(g_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    x = tl.load(x_ptr + offsets, mask=inside, other=0.0).to(tl.float32)
    grad *= tl.load(w_ptr + first + (start + lane) // spatial, mask=inside, other=0.0).to(tl.float32)
    dx = (grad - shift - (x - mean) * rstd * slope) * rstd
    tl.store(out_ptr + offsets, dx.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def _add_up(part_ptr, out_ptr, samples, channels, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    lane = tl.arange(0, ROWS)
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for start in range(0, samples, ROWS):
        row = start + lane
        inside = (row[:, None] < samples) & (column[None, :] < channels)
        total += tl.load(part_ptr + row[:, None] * channels + column[None, :], mask=inside, other=0.0)
    tl.store(out_ptr + column, tl.sum(total, axis=0).to(out_ptr.dtype.element_ty), mask=column < channels)


def group_norm_backward(
    grad_y: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, mean: torch.Tensor, rstd: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(grad_x, grad_weight, grad_bias): grad_y, x [samples, channels, *spatial] and weight [channels] of one dtype; mean and rstd are float32 [samples, groups]."""
    grad_y, x, weight, mean, rstd = (t.contiguous() for t in (grad_y, x, weight, mean, rstd))
    grad_x = torch.empty_like(x)
    grad_weight = torch.zeros_like(weight)
    grad_bias = torch.zeros_like(weight)
    if x.numel() == 0:
        return grad_x, grad_weight, grad_bias
    samples, channels = x.shape[:2]
    groups = mean.shape[1]
    spatial = x.numel() // samples // channels
    each = channels // groups
    rows = samples * channels
    sums = torch.empty([2, samples, channels], dtype=torch.float32, device=x.device)
    widest = 2048 if x.is_cuda else 65536  # the interpreter's cost is per program
    block = min(widest, triton.next_power_of_2(spatial))
    some = max(1, min(triton.next_power_of_2(rows), widest // block))
    statistics = (grad_y, x, mean, rstd, sums[0], sums[1])
    _channel_sums[(triton.cdiv(rows, some),)](*statistics, rows, each, spatial, ROWS=some, BLOCK=block)
    block = min(widest, triton.next_power_of_2(each * spatial))
    some = 1 if x.is_cuda else max(1, min(triton.next_power_of_2(samples * groups), 262144 // max(block, triton.next_power_of_2(each))))
    grid = (triton.cdiv(samples * groups, some), triton.cdiv(each * spatial, block))
    tensors = (grad_y, x, weight, mean, rstd, sums[0], sums[1], grad_x)
    _grad_x[grid](*tensors, samples * groups, groups, each, spatial, GROUPS=some, CHANNELS=triton.next_power_of_2(each), BLOCK=block)
    high = 32 if x.is_cuda else min(256, triton.next_power_of_2(samples))
    wide = 64 if x.is_cuda else 4096
    for part, out in zip(sums, (grad_weight, grad_bias), strict=True):
        _add_up[(triton.cdiv(channels, wide),)](part, out, samples, channels, ROWS=high, BLOCK=wide)
    return grad_x, grad_weight, grad_bias
