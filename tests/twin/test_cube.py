"""The cube unit: fractals, loads, Mmad and Fixpipe against matrix products in float64."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
import torch

import ascendops.twin
from ascendops.twin.kernel import Kernel

pytestmark = pytest.mark.twin
FOLDER = Path(__file__).parent / "kernels"
TYPES = {"half": torch.float16, "bf16": torch.bfloat16, "float": torch.float32, "int8": torch.int8}
SHAPES = [(16, 16, 32), (48, 80, 112), (40, 50, 70), (7, 16, 5)]


@functools.cache
def kernel() -> Kernel:
    return ascendops.twin.compile(FOLDER / "cube.cpp")


def matrix(rows: int, columns: int, dtype: torch.dtype, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dtype == torch.int8:
        return torch.randint(-100, 100, (rows, columns), dtype=dtype, generator=generator)
    return torch.randn(rows, columns, generator=generator).to(dtype)


def ids(name: str, *args: object) -> set[str]:
    """The findings of a launch."""
    return {d.id for d in kernel().launch(name, block_dim=1, args=list(args), checks="warn").diagnostics}


@pytest.mark.parametrize("transposed", [(False, False), (False, True), (True, False), (True, True)], ids=["nn", "nt", "tn", "tt"])
@pytest.mark.parametrize("name", TYPES)
def test_products(name: str, transposed: tuple[bool, bool]) -> None:
    dtype, (ta, tb) = TYPES[name], transposed
    for seed, (m, n, k) in enumerate(SHAPES):
        a, b = matrix(m, k, dtype, seed), matrix(k, n, dtype, seed + 100)
        out = torch.int32 if dtype == torch.int8 else torch.float32
        bias = matrix(1, n, torch.int8, seed).to(out)[0]
        for with_bias in (None, bias):
            c = torch.zeros(m, n, dtype=out)
            stored = (a.T.contiguous() if ta else a, b.T.contiguous() if tb else b)
            kernel().launch(f"good_{name}", block_dim=1, args=[*stored, with_bias, c, m, n, k, ta, tb])
            wanted = a.double() @ b.double() + (0 if with_bias is None else bias.double())
            assert (c.double() - wanted).abs().max() <= (0 if dtype == torch.int8 else 1e-4), (m, n, k)


def test_results_are_converted_on_the_way_out() -> None:
    m, n, k = 33, 48, 64
    a, b = matrix(m, k, torch.float16, 1), matrix(n, k, torch.float16, 2)
    c = torch.zeros(m, n, dtype=torch.float16)
    kernel().launch("good_relu_half", block_dim=1, args=[a, b, c, m, n, k])
    wanted = (a.double() @ b.double().T).relu()
    assert torch.allclose(c.double(), wanted, atol=1e-3, rtol=1e-3)
    assert (c == 0).any()

    x, y = matrix(m, k, torch.int8, 3), matrix(n, k, torch.int8, 4)
    sums = x.double() @ y.double().T
    scale = 2.0**-7 * 1.0009765625  # ten bits of mantissa: kept as it is
    kernel().launch("good_dequant", block_dim=1, args=[x, y, c, m, n, k, scale])
    assert torch.equal(c, (sums.float() * scale).half())
    narrow = torch.zeros(m, n, dtype=torch.int8)
    kernel().launch("good_requant", block_dim=1, args=[x, y, narrow, m, n, k, 2.0**-9])
    assert torch.equal(narrow.double(), (sums * 2.0**-9).round().clamp(-128, 127))
    kernel().launch("good_dequant", block_dim=1, args=[x, y, c, m, n, k, 1 + 2.0**-12])
    assert torch.equal(c, sums.half()), "the hardware drops the mantissa's last 13 bits"


def test_one_row_is_read_as_a_vector() -> None:
    n, k = 48, 512
    a, b = matrix(1, k, torch.float16, 1), matrix(n, k, torch.float16, 2)
    b /= 8
    b = b[:, :k].contiguous()
    c = torch.zeros(1, n)
    kernel().launch("good_gemv", block_dim=1, args=[a, b, c, n, k])
    assert torch.allclose(c.double(), a.double() @ b.double().T, atol=1e-4)


def test_windows_of_an_image() -> None:
    h, w, channels, n = 6, 5, 16, 32
    x = matrix(channels, h * w, torch.float16, 1).view(1, channels, h, w)
    weight = matrix(n, channels * 9, torch.float16, 2).view(n, channels, 3, 3)
    y = torch.zeros(h * w, n)
    nc1hwc0 = x.permute(0, 2, 3, 1).contiguous()
    columns = weight.permute(0, 2, 3, 1).reshape(n, -1).contiguous()
    kernel().launch("good_image", block_dim=1, args=[nc1hwc0, columns, y])
    wanted = torch.nn.functional.conv2d(x.double(), weight.double(), padding=1)[0].reshape(n, -1).T
    assert torch.allclose(y.double(), wanted, atol=1e-3)


def test_faults_of_the_cube_unit_are_found() -> None:
    m, n, k = 32, 32, 64
    a, b, c = matrix(m, k, torch.float16, 1), matrix(n, k, torch.float16, 2), torch.zeros(m, n)
    args = (a, b, c, m, n, k)
    assert "SYNC-HAZARD" in ids("bad_no_flag_before_mmad", *args)
    assert "SYNC-HAZARD" in ids("bad_no_flag_before_fixpipe", *args)
    assert ids("bad_quant", a, b, c.half(), m, n, k) == {"CUBE-QUANT"}
    assert "CUBE-RANGE" in ids("bad_m", *args)
    assert ids("bad_position", *args) == {"CUBE-POSITION"}
    assert ids("bad_l0c_overflow", *args) == {"CAPACITY-UNUSED"}
    assert ids("bad_l1_overflow", *args) == {"L1-CAPACITY"}


def test_fractals_that_nobody_loaded_show() -> None:
    """Local memory holds NaN until it is written: with checks on, a product with such fractals is NaN."""
    m, n, k = 32, 32, 64
    a, b, c = matrix(m, k, torch.float16, 1), matrix(n, k, torch.float16, 2), torch.zeros(m, n)
    for name in ("bad_b_never_loaded", "bad_b_half_loaded"):
        kernel().launch(name, block_dim=1, args=[a, b, c, m, n, k], checks="warn")
        assert c.isnan().all(), name
