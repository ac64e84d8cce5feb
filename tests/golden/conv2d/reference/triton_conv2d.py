"""Two-dimensional convolution (cross-correlation) of NCHW tensors as a matrix product, in Triton.

A program computes some filters of a group at some pixels of one image: weight[filters, channels] @ x[channels, pixels], added up in float32 over the
places of the window and blocks of channels. x is copied first so that channels are neighbours in memory: a shifted window then moves whole
groups of them, and loads stay wide. Without tensor cores, a product is fast if its left matrix has k along the memory and its right one has
not: float32 computes x^T weight^T. A window of one pixel that moves by one needs no copy: pixels are those of x, and what padding adds has
the value of the bias. Runs on a GPU and, with TRITON_INTERPRET=1, on a CPU.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def _convolution(
    x_ptr, weight_ptr, bias_ptr, y_ptr, images, groups, channels, height, width, filters, out_width, out_pixels, pixels, window_width, places,
    stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x, x_pixel, x_channel, w_filter, w_channel,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, FLAT: tl.constexpr, TURNED: tl.constexpr,
    EVEN: tl.constexpr, BIAS: tl.constexpr, EXACT: tl.constexpr, WIDEN: tl.constexpr, TOGETHER: tl.constexpr,
):  # fmt: skip
    group = tl.program_id(2) % groups  # channels and filters are those of one
    image = (tl.program_id(2) // groups).to(tl.int64)
    filter = tl.program_id(1) * M + tl.arange(0, M)
    pixel = tl.program_id(0) * N + tl.arange(0, N)
    if TOGETHER:  # for the interpreter, whose cost is per program: pixels of all images
        group = tl.program_id(2)
        image = (pixel // pixels).to(tl.int64)
        valid = image < images
        image, pixel = tl.minimum(image, images - 1)[None, :], pixel % pixels
    else:
        valid = pixel < pixels
    top = pixel // out_width * stride_y - pad_y
    left = pixel % out_width * stride_x - pad_x
    depth = tl.arange(0, K)
    x_at = x_ptr + image * height * width * channels * groups + ((group * channels + depth) * x_channel)[:, None]
    w_at = weight_ptr + (group * filters + filter % filters)[:, None] * w_filter + depth[None, :] * w_channel
    blocks = tl.cdiv(channels, K)
    total = tl.zeros((N, M) if TURNED else (M, N), tl.float32)
    for step in range(places * blocks):
        place, start = step // blocks, step % blocks * K
        row = top + place // window_width * dilation_y
        column = left + place % window_width * dilation_x
        if FLAT:
            inside = valid
            x_from = x_at + start * x_channel + pixel[None, :]
        else:
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width) & valid
            x_from = x_at + ((row * width + column) * x_pixel + start * x_channel)[None, :]
        w_from = w_at + place * filters * groups * channels + start * w_channel
        if EVEN:
            x = tl.load(x_from, mask=inside[None, :], other=0.0)
            w = tl.load(w_from)
        else:
            some = start + depth < channels
            x = tl.load(x_from, mask=some[:, None] & inside[None, :], other=0.0)
            w = tl.load(w_from, mask=some[None, :], other=0.0)
        if WIDEN:  # for the interpreter, which has no products of bfloat16
            x, w = x.to(tl.float32), w.to(tl.float32)
        if TURNED:
            w, x = tl.trans(x), tl.trans(w)
        total = tl.dot(w, x, total, input_precision="ieee" if EXACT else "tf32")
    if TURNED:
        total = tl.trans(total)
    if BIAS:
        total += tl.load(bias_ptr + group * filters + filter, mask=filter < filters, other=0.0).to(tl.float32)[:, None]
    at = pixel
    if FLAT:
        at = (pixel // width + pad_y) * out_width + pixel % width + pad_x
    if TOGETHER:
        y = y_ptr + ((image * groups + group) * filters + filter[:, None]) * out_pixels + at[None, :]
    else:
        y = y_ptr + ((image * groups + group) * filters + filter)[:, None] * out_pixels + at[None, :]
    tl.store(y, total.to(y_ptr.dtype.element_ty), mask=(filter < filters)[:, None] & valid[None, :])


def conv2d(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None,
    stride: tuple[int, int] = (1, 1), padding: tuple[int, int] = (0, 0), dilation: tuple[int, int] = (1, 1), groups: int = 1,
) -> torch.Tensor:  # fmt: skip
    """y [n, filters, out_height, out_width] of x [n, channels, height, width] and weight [filters, channels // groups, window_height, window_width].

    An image of x, and the weight, have less than 2^31 elements.
    """
    (images, _, height, width), (filters, channels, *window) = x.shape, weight.shape
    exact, flat = x.dtype == torch.float32, window == [1, 1] and tuple(stride) == (1, 1)
    turned = exact and not flat
    x, weight = (x if flat else x.permute(0, 2, 3, 1)).contiguous(), weight.permute(2, 3, *((1, 0) if turned else (0, 1))).contiguous()
    out = [
        (size + 2 * pad - gap * (part - 1) - 1) // step + 1
        for size, pad, gap, part, step in zip((height, width), padding, dilation, window, stride, strict=True)
    ]
    y = torch.empty((images, filters, *out), dtype=x.dtype, device=x.device)
    if flat and any(padding):
        y.copy_(torch.zeros_like(y[:1, :, :1, :1]) if bias is None else bias[:, None, None])
    pixels = height * width if flat else out[0] * out[1]
    if y.numel() == 0 or pixels == 0:
        return y
    filters //= groups
    most = (64 if flat or filters <= 64 else 128, 64 if turned and filters > 64 else 128, 32) if exact else (128, 128, 64)
    high, wide, deep = (min(limit, max(16, triton.next_power_of_2(size))) for limit, size in zip(most, (filters, pixels, channels), strict=True))
    grid = (triton.cdiv(pixels, wide), triton.cdiv(filters, high), images * groups)
    if not x.is_cuda:
        wide = max(16, min((1 << 18) // max(high, deep), triton.next_power_of_2(images * pixels)))
        grid = (triton.cdiv(images * pixels, wide), triton.cdiv(filters, high), groups)
    _convolution[grid](
        x, weight, weight if bias is None else bias.contiguous(), y, images, groups, channels, height, width, filters, out[1], out[0] * out[1], pixels, window[1],
        window[0] * window[1], *stride, *padding, *dilation, *((1, height * width) if flat else (channels * groups, 1)),
        *((1, filters * groups) if turned else (channels, 1)), M=high, N=wide, K=deep, FLAT=flat, TURNED=turned,
        EVEN=channels % deep == 0, BIAS=bias is not None, EXACT=exact, WIDEN=not x.is_cuda, TOGETHER=not x.is_cuda,
        num_warps=8 if high * wide >= 128 * 128 else 4, num_stages=3,
    )  # fmt: skip
    return y
