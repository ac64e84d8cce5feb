"""Two-dimensional convolution (cross-correlation) of NCHW tensors as a matrix product, in Triton.

A program computes some filters at some pixels of one image: weight[filters, channels] @ x[channels, pixels], added up in float32 over the
places of the window and blocks of channels. Unless the window is one pixel, x is copied first so that channels are neighbours in memory: a
shifted window then moves whole groups of them, and loads stay wide. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _convolution(
    x_ptr, weight_ptr, bias_ptr, y_ptr, channels, height, width, filters, out_width, pixels, window_width, places,
    stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x, x_pixel, x_channel,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, EVEN: tl.constexpr, BIAS: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr,
):  # fmt: skip
    image = tl.program_id(2).to(tl.int64)
    filter = tl.program_id(1) * M + tl.arange(0, M)
    pixel = tl.program_id(0) * N + tl.arange(0, N)
    top = pixel // out_width * stride_y - pad_y
    left = pixel % out_width * stride_x - pad_x
    depth = tl.arange(0, K)
    x_at = x_ptr + image * height * width * channels + (depth * x_channel)[:, None]
    w_at = weight_ptr + (filter % filters)[:, None] * channels + depth[None, :]
    blocks = tl.cdiv(channels, K)
    total = tl.zeros((M, N), tl.float32)
    for step in range(places * blocks):
        place, start = step // blocks, step % blocks * K
        row = top + place // window_width * dilation_y
        column = left + place % window_width * dilation_x
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width) & (pixel < pixels)
        x_from = x_at + ((row * width + column) * x_pixel + start * x_channel)[None, :]
        w_from = w_at + place * filters * channels + start
        if EVEN:
            x = tl.load(x_from, mask=inside[None, :], other=0.0)
            w = tl.load(w_from)
        else:
            some = start + depth < channels
            x = tl.load(x_from, mask=some[:, None] & inside[None, :], other=0.0)
            w = tl.load(w_from, mask=some[None, :], other=0.0)
        if WIDEN:  # for the interpreter, which has no products of bfloat16
            x, w = x.to(tl.float32), w.to(tl.float32)
        total = tl.dot(w, x, total, input_precision="ieee" if EXACT else "tf32")
    if BIAS:
        total += tl.load(bias_ptr + filter, mask=filter < filters, other=0.0).to(tl.float32)[:, None]
    y = y_ptr + (image * filters + filter)[:, None] * pixels + pixel[None, :]
    tl.store(y, total.to(y_ptr.dtype.element_ty), mask=(filter < filters)[:, None] & (pixel < pixels)[None, :])


def conv2d(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None,
    stride: tuple[int, int] = (1, 1), padding: tuple[int, int] = (0, 0), dilation: tuple[int, int] = (1, 1),
) -> torch.Tensor:  # fmt: skip
    """y [n, filters, out_height, out_width] of x [n, channels, height, width] and weight [filters, channels, window_height, window_width].

    An image of x, and the weight, have less than 2^31 elements.
    """
    (images, channels, height, width), (filters, _, *window) = x.shape, weight.shape
    copy = window != [1, 1]
    x, weight = (x.permute(0, 2, 3, 1) if copy else x).contiguous(), weight.permute(2, 3, 0, 1).contiguous()
    out = [
        (size + 2 * pad - gap * (part - 1) - 1) // step + 1
        for size, pad, gap, part, step in zip((height, width), padding, dilation, window, stride, strict=True)
    ]
    y = torch.empty((images, filters, *out), dtype=x.dtype, device=x.device)
    if y.numel() == 0:
        return y
    exact, pixels = x.dtype == torch.float32, out[0] * out[1]
    most = (128, 128, 32 if exact else 64)
    high, wide, deep = (min(limit, max(16, triton.next_power_of_2(size))) for limit, size in zip(most, (filters, pixels, channels), strict=True))
    _convolution[(triton.cdiv(pixels, wide), triton.cdiv(filters, high), images)](
        x, weight, weight if bias is None else bias.contiguous(), y, channels, height, width, filters, out[1], pixels, window[1],
        window[0] * window[1], *stride, *padding, *dilation, *((channels, 1) if copy else (1, height * width)),
        M=high, N=wide, K=deep, EVEN=channels % deep == 0, BIAS=bias is not None, EXACT=exact, WIDEN=not x.is_cuda,
        num_warps=8 if high * wide >= 128 * 128 else 4, num_stages=3,
    )  # fmt: skip
    return y
