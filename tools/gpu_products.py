"""Functions and inputs of tools/gpu_ops.py for grouped products, products of int8 and convolutions; `...64` is a golden for float64."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from tools.gpu_functions import Shapes, seeded


def matmul(a: torch.Tensor, b: torch.Tensor, transpose_a: bool, transpose_b: bool) -> torch.Tensor:
    """What torch has for matmul."""
    return (a.mT if transpose_a else a) @ (b.mT if transpose_b else b)


def grouped_shapes(*sizes: tuple[int, int, int, int]) -> Sequence[Shapes]:
    """Shapes of x, weight and group_list for (groups, m, k, n)."""
    return tuple(((m, k), (groups, k, n), (groups,)) for groups, m, k, n in sizes)


def make_grouped(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Rows, matrices, and groups of different sizes, the first of them empty."""
    groups, rows = shapes[1][0], shapes[0][0]
    ends = torch.arange(groups, device="cuda") ** 2 * rows // max((groups - 1) ** 2, 1)
    return [seeded(shapes[0], dtype), seeded(shapes[1], dtype), ends]


def grouped_matmul64(x: torch.Tensor, weight: torch.Tensor, group_list: torch.Tensor) -> torch.Tensor:
    """The golden of grouped_matmul, for any dtype."""
    y, start = x.new_zeros(x.shape[0], weight.shape[2]), 0
    for matrix, last in zip(weight, group_list.tolist(), strict=True):
        end = min(max(last, start), x.shape[0])
        y[start:end] = x[start:end] @ matrix
        start = end
    return y


def grouped_matmul(x: torch.Tensor, weight: torch.Tensor, group_list: torch.Tensor) -> torch.Tensor:
    """What torch has for grouped_matmul: one call for bfloat16 with aligned rows, else one product for each group."""
    if x.dtype == torch.bfloat16 and x.shape[1] % 8 == 0 and weight.shape[2] % 8 == 0:
        return torch._grouped_mm(x, weight, offs=group_list.int())
    return grouped_matmul64(x, weight, group_list)


def conv_shapes(*sizes: tuple[int, int, int, int, int, int]) -> Sequence[Shapes]:
    """Shapes of x, weight and bias for (images, channels, height, width, filters, size of the window)."""
    return tuple(((i, c, h, w), (f, c, size, size), (f,)) for i, c, h, w, f, size in sizes)


def quant_shapes(*sizes: tuple[int, int, int]) -> Sequence[Shapes]:
    """Shapes of x, weight, scale, pertoken_scale and bias for (m, k, n)."""
    return tuple(((m, k), (n, k), (n,), (m,), (n,)) for m, k, n in sizes)


def make_quant(shapes: Shapes, dtype: torch.dtype) -> list[torch.Tensor]:
    """Matrices of int8, scales of columns in bfloat16 or float32, scales of rows, and a bias."""
    x, weight, scale, token, bias = shapes
    columns = torch.bfloat16 if dtype == torch.bfloat16 else torch.float32
    scales = [seeded(shape, torch.float32).abs() for shape in (scale, token)]
    added = seeded(bias, torch.float32) * 1000
    return [seeded(x, torch.int8), seeded(weight, torch.int8), (scales[0] / 1000).to(columns), scales[1], added.int()]


def quant_matmul64(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, token: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The float64 golden of quant_matmul."""
    return (x.double() @ weight.double().mT + bias) * scale * token[:, None]


def quant_matmul(x: torch.Tensor, weight: torch.Tensor, scale: torch.Tensor, token: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What torch has for quant_matmul: a product of int8 where its sizes allow one, and float32 for the rest."""
    aligned = x.shape[0] > 16 and x.shape[1] % 8 == 0 and weight.shape[0] % 8 == 0
    sums = torch._int_mm(x, weight.mT) if aligned else (x.double() @ weight.double().mT).int()
    y = (sums + bias).float() * scale * token[:, None]
    return y.to(torch.bfloat16 if scale.dtype == torch.bfloat16 else torch.float16)
