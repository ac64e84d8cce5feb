"""The families on the cube cores beside single products, through the public API: results against torch in float64, and no finding."""

from __future__ import annotations

import json
import re

import pytest
import torch

import ascendops
from ascendops.errors import AscendOpsError
from ascendops.parity import ulp
from ascendops.render import new_project

HALF = torch.float16


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("cubes")
    built = {}

    def get(name, column=1):
        if (name, column) not in built:
            folder = root / f"{name}{column}"
            new_project(name, folder, family="matmul" if name == "matmul_custom" else None, like=name.removesuffix("_custom"))
            declared = re.sub(r"^(dtype +=) (\[.*\])", lambda found: f"{found[1]} {json.dumps([json.loads(found[2])[column]])}",
                              re.sub(r"^dtype      = .*\n", "", (folder / "op.toml").read_text(), flags=re.M), flags=re.M)  # fmt: skip
            (folder / "op.toml").write_text(declared)  # one dtype column: fewer kernels to compile
            built[name, column] = ascendops.open_project(folder).build(backend="twin")
        return built[name, column]

    return get


def values(*shape, dtype=HALF, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(dtype)


def run(library, name, *tensors, column=1, **attrs):
    """(output, number of the tiling key) of a run without any finding."""
    result = library(name, column).ops[name].run(*tensors, **attrs)
    assert not result.diagnostics
    return result.outputs[0], result.tiling_key


def assert_product(got, want, size):
    """Sums in float32, rounded once: an error is small against the sum of the magnitudes."""
    allowed = ulp.ulp(want.abs(), got.dtype) + 16 * ulp.ulp(size, torch.float32)
    assert got.shape == want.shape and ((got.double() - want).abs() <= allowed).all()


def in_groups(x, weight, ends):
    y, start = torch.zeros(x.shape[0], weight.shape[2], dtype=x.dtype), 0
    for matrix, end in zip(weight, ends, strict=True):
        y[start:end] = x[start:end] @ matrix
        start = max(start, end)
    return y


@pytest.mark.parametrize("ends", [[0, 3, 3, 260], [299, 299, 299, 299], [150, 20, 9999, -5], [0, 0, 0, 0]], ids=str)
def test_groups_of_rows(library, ends):
    x, weight = values(300, 70), values(4, 70, 270, seed=1)
    y, key = run(library, "grouped_matmul", x, weight, torch.tensor(ends))
    clamped = [min(max([0, *ends[: i + 1]]), 300) for i in range(4)]
    assert key == 1
    assert_product(y, in_groups(x.double(), weight.double(), clamped), in_groups(x.double().abs(), weight.double().abs(), clamped))


def test_small_groups_go_to_different_cores(library):
    op = library("grouped_matmul").ops["grouped_matmul"]
    result = op.run(values(24, 32), values(24, 32, 64), torch.arange(1, 25), trace=True)
    assert {event.block for event in result.timeline.events if event.pipe == "FIX"} == set(range(24))


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize(("m", "k", "n"), [(70, 33, 300), (513, 1030, 31), (3, 1, 1)])
def test_int8_products_with_every_set_of_scales(library, m, k, n, column):
    generator = torch.Generator().manual_seed(m)
    x, weight = (torch.randint(-128, 128, shape, generator=generator, dtype=torch.int8) for shape in [(m, k), (n, k)])
    bias = torch.randint(-99999, 99999, (n,), generator=generator, dtype=torch.int32)
    scale = (torch.rand(n, generator=generator) / 1000).to([torch.float32, torch.bfloat16][column])
    tokens = torch.rand(m, generator=generator)
    sums = x.double() @ weight.double().mT
    for token, added in [(None, None), (tokens, None), (None, bias), (tokens, bias)]:
        y, key = run(library, "quant_matmul", x, weight, scale, token, added, column=column)
        want = (sums if added is None else sums + added) * scale.double() * (1 if token is None else token.double()[:, None])
        assert key == (1 if token is None else 2) and y.dtype == [torch.float16, torch.bfloat16][column]
        assert ((y.double() - want).abs() <= 0.51 * ulp.ulp(want.abs(), y.dtype)).all()  # exact sums: one rounding


def test_int8_sums_do_not_round(library):
    k = 4097  # 4096 products of 64 * 64 reach 2^24, which leaves float32 no room for one more of 1
    x, weight = torch.full((1, k), 64, dtype=torch.int8), torch.full((1, k), 64, dtype=torch.int8)
    x[0, -1] = weight[0, -1] = 1
    bias = torch.tensor([-(1 << 24)], dtype=torch.int32)
    y, _ = run(library, "quant_matmul", x, weight, torch.ones(1), None, bias, column=0)
    assert y.tolist() == [[1.0]]


@pytest.mark.parametrize(("turn_a", "turn_b", "number"), [(False, False, 1), (True, False, 3), (False, True, 5), (True, True, 7)])
def test_products_of_transposed_matrices_and_their_gradients(library, turn_a, turn_b, number):
    a, b, grad = values(2, 70, 33), values(2, 33, 300, seed=1), values(2, 70, 300, seed=2)
    left, right = (a.mT.contiguous() if turn_a else a), (b.mT.contiguous() if turn_b else b)
    y, key = run(library, "matmul_custom", left, right, transpose_a=turn_a, transpose_b=turn_b)
    assert key == number
    assert_product(y, a.double() @ b.double(), a.double().abs() @ b.double().abs())
    library("matmul_custom").register()
    leaves = [left.clone().requires_grad_(), right.clone().requires_grad_()]
    torch.ops.ascendops.matmul_custom(*leaves, turn_a, turn_b).backward(grad)
    want = grad.double() @ b.double().mT, a.double().mT @ grad.double()
    for leaf, slope, turned in zip(leaves, want, (turn_a, turn_b), strict=True):
        assert torch.allclose(leaf.grad.double(), slope.mT if turned else slope, rtol=2e-3, atol=1e-2)


@pytest.mark.parametrize(
    ("image", "window", "stride", "padding", "dilation"),
    [
        ((2, 20, 13, 70), (33, 3, 3), (1, 1), (1, 1), (1, 1)),
        ((1, 5, 31, 17), (7, 2, 4), (3, 2), (2, 5), (1, 3)),
        ((1, 3, 2, 1300), (130, 1, 3), (1, 2), (0, 1), (1, 1)),  # a row of pixels is several tiles
        ((1, 2, 1, 1), (3, 5, 5), (1, 1), (2, 2), (1, 1)),  # nearly all padding
        ((3, 70, 9, 31), (40, 1, 1), (1, 1), (0, 0), (1, 1)),
        ((1, 2, 3, 200), (1, 3, 1), (1, 190), (1, 200), (1, 1)),  # the first window of each row lies outside of the image
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("column", [0, 2])
def test_convolutions(library, image, window, stride, padding, dilation, column):
    dtype = [torch.float32, None, torch.bfloat16][column]
    x, weight = values(*image, dtype=dtype), values(window[0], image[1], *window[1:], dtype=dtype, seed=1)
    bias = values(window[0], dtype=dtype, seed=2) if window[0] != 40 else None
    y, key = run(library, "conv2d", x, weight, bias, column=column, stride=stride, padding=padding, dilation=dilation)
    ways = [stride, padding, dilation]
    want = torch.conv2d(x.double(), weight.double(), None if bias is None else bias.double(), *ways)
    size = torch.conv2d(x.double().abs(), weight.double().abs(), None if bias is None else bias.double().abs(), *ways)
    assert key == (1 if window[1:] == (1, 1) else 2)
    assert_product(y, want, size)


@pytest.mark.parametrize("groups", [1, 3, 6])
@pytest.mark.parametrize("column", [0, 2])
def test_convolutions_of_groups_and_their_gradients(library, groups, column):
    dtype = [torch.float32, None, torch.bfloat16][column]
    x, weight, bias = values(2, 6, 9, 8, dtype=dtype), values(12, 6 // groups, 3, 2, dtype=dtype, seed=1), values(12, dtype=dtype, seed=2)
    ways = ([2, 1], [1, 0], [1, 2], groups)
    y, _ = run(library, "conv2d", x, weight, bias, column=column, stride=ways[0], padding=ways[1], dilation=ways[2], groups=groups)
    assert_product(y, torch.conv2d(x.double(), weight.double(), bias.double(), *ways), torch.conv2d(x.double().abs(), weight.double().abs(), bias.double().abs(), *ways))
    if column == 0:
        library("conv2d", 0).register()
        for tensors in ([x, weight, bias], [x, weight]):
            leaves = [leaf.clone().requires_grad_() for leaf in tensors]
            sides = [f(*leaves, *[None] * (3 - len(leaves)), *ways) for f in (torch.ops.ascendops.conv2d, torch.conv2d)]
            slopes = [torch.autograd.grad(side, leaves, values(*side.shape, seed=3), create_graph=True) for side in sides]
            seconds = [torch.autograd.grad(sum((slope**2).sum() for slope in found), leaves[:2]) for found in slopes]
            for ours, theirs in zip((*slopes[0], *seconds[0]), (*slopes[1], *seconds[1]), strict=True):
                torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-3)


def test_a_convolution_refuses_what_torch_refuses(library):
    x, weight = torch.ones(1, 2, 4, 4), torch.ones(3, 2, 3, 3)
    for refused, ways in [(torch.ones(1, 2, 2, 9), {}), (x, {"dilation": [1, 2]}), (torch.ones(1, 3, 4, 4), {}), (x, {"stride": [0, 1]}), (x, {"groups": 2}), (x, {"groups": 0}), (torch.ones(1, 4, 4, 4), {"groups": 2})]:
        with pytest.raises((RuntimeError, ValueError)):
            torch.conv2d(refused, weight, None, **ways)
        with pytest.raises(AscendOpsError):
            library("conv2d", 0).ops["conv2d"].run(refused, weight, **ways)
