"""grad_x[i] = grad_y[i] / (1 - p) where u[i] >= p, else 0, with the u of the forward operator, in Triton.

u comes from Philox 4x32-10: elements 1024 i + 256 k to 1024 i + 256 k + 255 use word k of the counters 256 i to 256 i + 255, and its
upper 24 bits. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _part(x_ptr, y_ptr, word, at, count, threshold, scale):
    x = tl.load(x_ptr + at, mask=at < count, other=0.0).to(tl.float32)
    keep = (word >> 8).to(tl.int32) >= threshold
    tl.store(y_ptr + at, tl.where(keep, x * scale, 0.0).to(y_ptr.dtype.element_ty), mask=at < count)


@triton.jit
def _drop(x_ptr, y_ptr, count, threshold, scale, seed, low, high, RUNS: tl.constexpr):
    lane = tl.arange(0, 256 * RUNS)
    counter = tl.program_id(0) * 256 * RUNS + lane
    zero = counter * 0
    a, b, c, d = tl.philox(seed, counter, zero, zero + low, zero + high)
    at = tl.program_id(0).to(tl.int64) * 1024 * RUNS + lane // 256 * 1024 + lane % 256
    _part(x_ptr, y_ptr, a, at, count, threshold, scale)
    _part(x_ptr, y_ptr, b, at + 256, count, threshold, scale)
    _part(x_ptr, y_ptr, c, at + 512, count, threshold, scale)
    _part(x_ptr, y_ptr, d, at + 768, count, threshold, scale)


def _signed(word: int) -> int:
    return (word & 0xFFFFFFFF) - ((word & 0x80000000) << 1)


def dropout_backward(grad_y: torch.Tensor, p: float = 0.5, seed: int = 0, offset: int = 0) -> torch.Tensor:
    """A tensor of any shape, float32, float16 or bfloat16; the same seed and offset drop the same elements everywhere."""
    grad_y = grad_y.contiguous()
    y = torch.empty_like(grad_y)
    if grad_y.numel() == 0:
        return y
    runs = 1 if grad_y.is_cuda else 64  # the interpreter's cost is per program
    scale = 1 / (1 - p) if p < 1 else 0.0
    grid = (triton.cdiv(grad_y.numel(), 1024 * runs),)
    _drop[grid](grad_y, y, grad_y.numel(), round(p * 2**24), scale, seed, _signed(offset), _signed(offset >> 32), RUNS=runs)
    return y
