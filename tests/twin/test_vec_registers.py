"""BilinearInterpolation against its sum, and the saturation flags of the control register."""

from __future__ import annotations

import numpy as np
import pytest
from core_kernels import FOLDER, compiled, findings

import ascendops.twin
from ascendops.errors import CompileError

pytestmark = pytest.mark.twin

FILE = "vec_registers.cpp"


def interpolated(x: np.ndarray, offsets: np.ndarray, weights: np.ndarray, each_block: bool) -> np.ndarray:
    """Two rows of two terms; products and sums are halves."""
    blocks = x.reshape(-1, 16)[offsets // 32].reshape(2, 2, 8, 16)
    weight = weights.reshape(2, 2, 8, 1) if each_block else weights[:4].reshape(2, 2, 1, 1)
    terms = (blocks.astype(np.float32) * weight.astype(np.float32)).astype(np.float16)
    return (terms[:, 0] + terms[:, 1]).reshape(2, 128)


@pytest.mark.parametrize("each_block", [0, 1])
@pytest.mark.parametrize(("bits", "step"), [(0, 128), (0, 160), (0b1011, 128)])
def test_bilinear_interpolation(each_block: int, bits: int, step: int) -> None:
    rng = np.random.default_rng(each_block)
    x, weights = rng.standard_normal(512).astype(np.float16), rng.standard_normal(32).astype(np.float16)
    offsets, y = (rng.permutation(32) * 32).astype(np.uint32), np.zeros(512, np.float16)
    assert findings(compiled(FILE), "bilinear", x, offsets, weights, y, each_block, bits, step) == set()
    want = np.full(512, -1, np.float16)
    lanes = np.flatnonzero([bits >> lane & 1 for lane in range(128)]) if bits else np.arange(128)
    for row, values in enumerate(interpolated(x, offsets, weights, bool(each_block))):
        want[row * step + lanes] = values[lanes]
    np.testing.assert_array_equal(y, want)


def test_the_example_of_the_document() -> None:
    x, weights = np.arange(1, 513).astype(np.float16), np.arange(2, 34).astype(np.float16)
    y = np.zeros(512, np.float16)
    assert findings(compiled(FILE), "bilinear", x, np.arange(32, dtype=np.uint32) * 32, weights, y, 0, 0, 128) == set()
    assert y[:4].tolist() == [389, 394, 399, 404]
    assert y[255] == 4096


def test_offsets_are_whole_blocks() -> None:
    x, weights, y = np.zeros(512, np.float16), np.zeros(32, np.float16), np.zeros(512, np.float16)
    result = compiled(FILE).launch("bilinear", args=[x, np.full(32, 2, np.uint32), weights, y, 0, 0, 128], block_dim=1, checks="warn")
    assert {d.id for d in result.diagnostics if d.severity == "error"} == {"GATHER-ALIGN"}


def saturated(set_: int, floats: int, casts: int) -> tuple[np.ndarray, ...]:
    x = np.zeros(32, np.float16)
    x[:6] = 60000, -60000, np.nan, 300, -129, 40
    sums, narrow = np.zeros(32, np.float16), np.zeros(32, np.int8)
    whole, flags = np.zeros(32, np.int16), np.zeros(2, np.int32)
    assert findings(compiled(FILE), "saturation", x, sums, narrow, whole, flags, set_, floats, casts) == set()
    return sums[:6], narrow[:6], whole[:6], flags


def test_floats_overflow_to_infinity_and_casts_saturate_unless_told_otherwise() -> None:
    for asked in ((0, 0, 0), (1, 0, 1)):
        sums, narrow, whole, flags = saturated(*asked)
        np.testing.assert_array_equal(sums, np.array([np.inf, -np.inf, np.nan, 600, -258, 80], np.float16))
        assert narrow.tolist() == [127, -128, 0, 127, -128, 40]
        assert whole.tolist() == [32767, -32768, 0, 32767, -32768, 32767]
        assert flags.tolist() == [0, 1]


def test_saturated_floats_and_casts_that_keep_low_bits() -> None:
    sums, narrow, whole, flags = saturated(1, 1, 0)
    assert sums.tolist() == [65504, -65504, 0, 600, -258, 80]
    values = np.array([60000, -60000, 0, 300, -129, 40])
    assert narrow.tolist() == values.astype(np.int8).tolist()
    assert whole.tolist() == (values * 1000).astype(np.int16).tolist()
    assert flags.tolist() == [1, 0]


def test_310p_has_no_saturation_flags() -> None:
    with pytest.raises(CompileError, match="SetSaturationFlag is not supported on Ascend 310P"):
        ascendops.twin.compile(FOLDER / FILE, soc="Ascend310P3")
