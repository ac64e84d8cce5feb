"""Forms of the cube instructions beyond a plain product: sparse matrices, rings in L1, and the cube unit of Ascend 310P."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
import torch
from test_matmul import INT8, TRANS_B, packed, tiling

import ascendops.twin
from ascendops.twin.kernel import Kernel

pytestmark = pytest.mark.twin
FOLDER = Path(__file__).parent / "kernels"


@functools.cache
def kernel() -> Kernel:
    return ascendops.twin.compile(FOLDER / "cube_more.cpp")


def sparse(n: int, k: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """B of n x k with 0 to 2 of four elements, its dense form (n x k / 2), and the index as fractals of 16 columns x 8 bytes."""
    rng = np.random.default_rng(seed)
    whole, dense, words = np.zeros((n, k), np.int8), np.zeros((n, k // 2), np.int8), np.zeros((n, k // 2), np.uint8)
    for row in range(n):
        for quad in range(k // 4):
            places = sorted(rng.choice(4, rng.integers(0, 3), replace=False))
            whole[row, [4 * quad + p for p in places]] = rng.integers(1, 100, len(places))
            at = slice(2 * quad, 2 * quad + 2)
            if len(places) == 2:
                words[row, at] = places[0], places[1] - 1
                dense[row, at] = whole[row, [4 * quad + p for p in places]]
            elif places == [3]:  # the last element can only be the second of the two
                words[row, at] = 0, 2
                dense[row, at] = 0, whole[row, 4 * quad + 3]
            elif places:
                words[row, at] = places[0], 0
                dense[row, at] = whole[row, 4 * quad + places[0]], 0
    packed_words = (words.reshape(n, -1, 4) << np.array([0, 2, 4, 6], np.uint8)).sum(-1, dtype=np.uint8)
    index = packed_words.reshape(n // 16, 16, k // 64, 8).transpose(2, 0, 1, 3)
    return whole, dense, np.ascontiguousarray(index)


def test_a_sparse_product() -> None:
    m, n, k = 32, 48, 128
    a = np.random.default_rng(0).integers(-100, 100, (m, k), dtype=np.int8)
    whole, dense, index = sparse(n, k, 1)
    c = np.zeros((m, n), np.int32)
    kernel().launch("sparse_product", block_dim=1, args=[a, dense, index, c, m, n, k], auto_sync=False)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ whole.astype(np.int32).T)


def test_a_sparse_matmul_object_over_several_base_blocks() -> None:
    m, n, k = 48, 96, 128
    values = {**tiling(m, n, k, 0, INT8, TRANS_B), "baseM": 32, "baseN": 32, "baseK": 64, "depthA1": 1, "depthB1": 1}
    a = np.random.default_rng(2).integers(-100, 100, (m, k), dtype=np.int8)
    whole, dense, index = sparse(n, k, 3)
    c = np.zeros((m, n), np.int32)
    kernel().launch("sparse_matmul", block_dim=1, args=[a, dense, index, c], tiling=packed(values), workspace_bytes=16)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ whole.astype(np.int32).T)


def test_an_image_goes_on_at_the_start_of_l1_behind_a_boundary() -> None:
    x = np.random.default_rng(0).standard_normal((64, 16)).astype(np.float16)
    unit, y = np.eye(16, dtype=np.float16), np.zeros((64, 16), np.float32)
    for boundary, wanted in ((0, x), (1024, np.concatenate([x[:32], x[:32]])), (1536, np.concatenate([x[:48], x[:16]]))):
        kernel().launch("ring", block_dim=1, args=[x, unit, y, boundary], auto_sync=False)
        np.testing.assert_array_equal(y, wanted.astype(np.float32))
    result = kernel().launch("ring", block_dim=1, args=[x, unit, y, 512], checks="warn")
    assert "CUBE-RANGE" in {d.id for d in result.diagnostics}


def test_parameters_are_read_before_results_are_written_over_them() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-8, 8, (16, 16)).astype(np.float16), rng.integers(-8, 8, (32, 16)).astype(np.float16)
    factors = (2.0 ** rng.integers(-4, 1, 32)).astype(np.float32)
    parameters = factors.view(np.uint32).astype(np.uint64) | np.uint64(1 << 46)
    y = np.zeros((16, 32), np.int8)
    result = kernel().launch("quantise_over_parameters", block_dim=1, args=[a, b, parameters, y], checks="warn", auto_sync=False)
    assert result.diagnostics == ()
    wanted = np.clip(np.round(a.astype(np.float64) @ b.astype(np.float64).T * factors), -128, 127)
    np.testing.assert_array_equal(y, wanted)


def test_biases_in_half_and_loaded_again() -> None:
    rng = np.random.default_rng(0)
    a, b, bias = (rng.integers(-8, 8, shape).astype(np.float16) for shape in ((16, 32), (64, 32), (80,)))
    y = np.zeros((16, 64), np.float32)
    wanted = a.astype(np.float64) @ b.astype(np.float64).T + bias[:64]
    for step, found in ((0, set()), (16, {"SYNC-HAZARD"})):  # the same biases again, or others before the first product has read them
        result = kernel().launch("half_bias", block_dim=1, args=[a, b, bias, y, step], checks="warn", auto_sync=False)
        assert {d.id for d in result.diagnostics} == found
        np.testing.assert_array_equal(y, wanted)


def test_registers_by_the_names_below_the_api_and_a_whole_fixpipe_buffer() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-8, 8, (16, 16)).astype(np.float16), rng.integers(-8, 8, (32, 16)).astype(np.float16)
    factors = (2.0 ** rng.integers(-4, 1, 32)).astype(np.float32)
    parameters = factors.view(np.uint32).astype(np.uint64) | np.uint64(1 << 46)
    y = np.zeros((2, 16, 16), np.float32)
    scaled, quantised, blocks = (np.zeros((16, 32), np.int8) for _ in range(3))
    ascendops.twin.compile(FOLDER / "cube_raw.cpp").launch(block_dim=1, args=[a, b, parameters, y, scaled, quantised, blocks, 0.25])
    wanted = a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_array_equal(y, np.stack([wanted[:, :16], wanted[:, 16:]]))
    np.testing.assert_array_equal(scaled, np.clip(np.round(wanted * 0.25), -128, 127))
    for bytes_of_columns in (quantised, blocks):
        np.testing.assert_array_equal(bytes_of_columns, np.clip(np.round(wanted * factors), -128, 127))


@pytest.mark.parametrize("by_columns", [True, False])
def test_windows_and_copies_out_of_l0c_on_310p(by_columns: bool) -> None:
    narrow = ascendops.twin.compile(FOLDER / "cube_310p.cpp", soc="Ascend310P3")
    generator = torch.Generator().manual_seed(0)
    x, w = torch.randn(1, 16, 6, 5, generator=generator).half(), torch.randn(16, 16, 3, 3, generator=generator).half() / 8
    wanted = torch.nn.functional.conv2d(x.double(), w.double(), padding=1)[0].reshape(16, 30).T
    image = x[0].permute(1, 2, 0).contiguous()
    fractals = w.permute(2, 3, 0, 1).reshape(9, 16, 16).contiguous()  # a point of the filter: 16 columns of 16 channels
    y, narrow_y = torch.zeros(32, 16), torch.zeros(32, 16, dtype=torch.float16)
    narrow.launch("convolve_float", block_dim=1, args=[image, fractals, y, by_columns])
    assert (y[:30].double() - wanted).abs().max() < 1e-3
    narrow.launch("convolve_half", block_dim=1, args=[image, fractals, narrow_y, by_columns])
    assert (narrow_y[:30].double() - wanted.relu()).abs().max() < 4e-3
    assert (narrow_y[:30] == 0).any()
