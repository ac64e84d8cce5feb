"""Conversions, sums and exp of the vector engine, built for this CPU and for the oldest one: the same bits, and NumPy's."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from ascendops import resources
from ascendops.toolchain.compiler import find_compiler
from ascendops.twin import compilation

pytestmark = pytest.mark.twin

SHIM = """
#include "vec_convert.cpp"
#include "vec_math.h"
#include "vec_sums.cpp"
extern "C" {
void half_to_float(const uint8_t *s, float *d, size_t n) { ascendc_twin::half_to_float(s, d, n); }
void float_to_half(const float *s, uint8_t *d, size_t n) { ascendc_twin::float_to_half(s, d, n); }
void bf16_to_float(const uint8_t *s, float *d, size_t n) { ascendc_twin::bf16_to_float(s, d, n); }
void float_to_bf16(const float *s, uint8_t *d, size_t n) { ascendc_twin::float_to_bf16(s, d, n); }
void round_to_half(const float *s, float *d, size_t n) { memcpy(d, s, n * 4); ascendc_twin::round_to_half(d, n); }
void half_rounded(const float *s, float *d, size_t n) { for (size_t i = 0; i < n; ++i) d[i] = ascendc_twin::half_rounded(s[i]); }
void exp_floats(const float *s, float *d, size_t n) { for (size_t i = 0; i < n; ++i) d[i] = ascendc_twin::exp_f(s[i]); }
void exp_pairs(const float *s, float *d, size_t n) {
    for (size_t i = 0; i + ascendc_twin::PAIR <= n; i += ascendc_twin::PAIR) {
        ascendc_twin::store_pair(ascendc_twin::exp_of(ascendc_twin::load_pair(s + i)), d + i);
    }
}
void repeat_sums(const uint8_t *s, float *d, size_t count, int half) {
    float sums[ascendc_twin::BATCH_LANES];
    ascendc_twin::repeat_sums(s, count, half != 0, sums);
    memcpy(d, sums, count * sizeof(float));
}
}
"""


def _build(folder: Path, flags: tuple[str, ...]) -> ctypes.CDLL:
    source, library = folder / "shim.cpp", folder / "shim.so"
    source.write_text(SHIM)
    includes = [f"-I{resources.twin(name)}" for name in ("runtime", "include")]
    command = [find_compiler().path, "-std=c++17", "-O2", *flags, *compilation.EXACT, "-w", "-shared", "-fPIC", *includes]
    subprocess.run([*command, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))


@pytest.fixture(scope="module", params=["any CPU", "this CPU"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return _build(tmp_path_factory.mktemp("convert"), compilation.this_cpu() if request.param == "this CPU" else ())


@pytest.fixture(scope="module")
def convert(library: ctypes.CDLL):
    def run(name: str, values: np.ndarray, result: str) -> np.ndarray:
        out = np.empty(values.size, result)
        getattr(library, name)(ctypes.c_void_p(values.ctypes.data), ctypes.c_void_p(out.ctypes.data), ctypes.c_size_t(values.size))
        return out

    return run


def _floats() -> np.ndarray:
    """Every sign and exponent with mantissas at, beside and between the ties of both formats, and random patterns."""
    tops = np.arange(512, dtype=np.uint32) << 23
    near = [0, 1, 2, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x10000, 0x17FFF, 0x18000, 0x18001, 0xFFF, 0x1000, 0x1001, 0x1FFF, 0x2000, 0x2FFF, 0x3000]
    near += [0x3001, 0x400000, 0x400001, 0x600000, 0x7FE000, 0x7FEFFF, 0x7FF000, 0x7FF001, 0x7FFFFF, *(1 << k for k in range(23))]
    edges = (tops[:, None] | np.array(near, dtype=np.uint32)[None, :]).ravel()
    random = np.random.default_rng(5).integers(0, 2**32, 200_003, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([edges, random]).view(np.float32)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal bits, where neither is NaN."""
    bits = f"u{a.itemsize}"
    return bool(np.all((a.view(bits) == b.view(bits)) | (np.isnan(a) & np.isnan(b))))


def test_every_half_widens_exactly(convert) -> None:
    halves = np.arange(65536, dtype=np.uint16)
    assert _same(convert("half_to_float", halves, "f4"), halves.view(np.float16).astype(np.float32))


def test_floats_round_to_the_nearest_half(convert) -> None:
    values = _floats()
    with np.errstate(over="ignore", invalid="ignore"):
        expected = values.astype(np.float16)
        cut = (values.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32).astype(np.float16)
    got = convert("float_to_half", values, "f2")
    assert _same(got, expected)
    with np.errstate(invalid="ignore"):
        assert _same(convert("round_to_half", values, "f4"), expected.astype(np.float32))
        assert _same(convert("half_rounded", values, "f4"), expected.astype(np.float32))
    assert not _same(got, cut)


def test_bfloat16_is_the_upper_half_of_a_float(convert) -> None:
    values, uppers = _floats(), np.arange(65536, dtype=np.uint16)
    bits = values.view(np.uint32)
    rounded = ((bits.astype(np.uint64) + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    number = ~np.isnan(values)
    got = convert("float_to_bf16", values, "u2")
    assert np.array_equal(got[number], rounded[number])
    assert np.array_equal(got[~number], (bits[~number] >> 16) | 0x40)
    assert np.array_equal(convert("bf16_to_float", uppers, "u4"), uppers.astype(np.uint32) << 16)


def test_exp_in_pairs_of_registers_gives_the_same_bits(convert) -> None:
    near = np.linspace(-110, 95, 200_001, dtype=np.float32)
    values = np.concatenate([_floats(), near])
    values = values[: values.size // 32 * 32]
    one, two = convert("exp_floats", values, "f4"), convert("exp_pairs", values, "f4")
    assert np.array_equal(one.view("u4"), two.view("u4"))
    with np.errstate(over="ignore", invalid="ignore"):
        exact = np.exp(values.astype(np.float64))
        assert np.array_equal(np.isnan(one), np.isnan(values))
        assert np.array_equal(np.isinf(one), np.isinf(exact.astype(np.float32)))
    normal = (exact > 1.2e-38) & (exact < 3.4e38)
    assert np.max(np.abs(one[normal] / exact[normal] - 1)) < 1.2e-7


def _tree(x: np.ndarray) -> np.ndarray:
    """Sums of neighbours in the type of x until one value is left of each row."""
    with np.errstate(over="ignore", invalid="ignore"):
        while x.shape[1] > 1:
            x = x[:, 0::2] + x[:, 1::2]
    return x[:, 0]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("count", range(1, 9))
def test_repeats_are_summed_as_trees_of_neighbours(library: ctypes.CDLL, dtype: str, count: int) -> None:
    rng, half = np.random.default_rng(count), dtype == "float16"
    shape = (count, 128 if half else 64)
    tame = (rng.standard_normal(shape) * 100).astype(dtype)
    any_bits = rng.integers(0, 2**16, (count, 128), dtype=np.uint16).view(dtype).reshape(shape)
    assert not np.array_equal(_tree(tame), np.cumsum(tame, axis=1)[:, -1])  # another order shows
    for values in (tame, any_bits):
        memory = np.concatenate([np.zeros(1, dtype), values.ravel()])  # not aligned to registers
        sums = np.empty(count, np.float32)
        library.repeat_sums(ctypes.c_void_p(memory[1:].ctypes.data), ctypes.c_void_p(sums.ctypes.data), ctypes.c_size_t(count), int(half))
        assert _same(sums, _tree(values).astype(np.float32))
