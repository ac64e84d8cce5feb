"""Functions of the high-level math and activation libraries, and the call forms of templates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import ascendops.twin
from ascendops.errors import AscendOpsError
from tests.twin.vec_support import Case, assert_same, run, special_floats, ulps

pytestmark = pytest.mark.twin

Array = np.ndarray
N = 1000


def through_torch(function: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Array], Array]:
    return lambda x: function(torch.from_numpy(x)).numpy()


def fast_gelu_v2(x: Array) -> Array:
    part = -0.1444 * (np.minimum(np.abs(x * 0.7071), 1.769) - 1.769) ** 2 + 0.5
    return x * (np.where(x + 1e-12 < 0, -part, part) + 0.5)


# number -> (name, exact function in float64, ulps for float, range of ordinary inputs)
UNARY: dict[int, tuple[str, Callable[[Array], Array], float, tuple[float, float]]] = {
    0: ("Log", np.log, 1, (0, 100)),
    1: ("Log2", np.log2, 1, (0, 100)),
    2: ("Log10", np.log10, 1, (0, 100)),
    3: ("Tanh", np.tanh, 2, (-10, 10)),
    4: ("Sigmoid", through_torch(torch.sigmoid), 3, (-100, 100)),
    5: ("Erf", through_torch(torch.erf), 1, (-4, 4)),
    6: ("Erfc", through_torch(torch.erfc), 1, (-4, 10)),
    7: ("Sin", np.sin, 1, (-100, 100)),
    8: ("Cos", np.cos, 1, (-100, 100)),
    9: ("Tan", np.tan, 1, (-10, 10)),
    10: ("Sinh", np.sinh, 1, (-20, 20)),
    11: ("Cosh", np.cosh, 1, (-20, 20)),
    12: ("Asin", np.arcsin, 1, (-1, 1)),
    13: ("Acos", np.arccos, 1, (-1, 1)),
    14: ("Atan", np.arctan, 1, (-10, 10)),
    15: ("Asinh", np.arcsinh, 1, (-100, 100)),
    16: ("Acosh", np.arccosh, 1, (1, 100)),
    17: ("Atanh", np.arctanh, 1, (-1, 1)),
    18: ("Sign", np.sign, 0, (-3, 3)),
    19: ("Ceil", np.ceil, 0, (-50, 50)),
    20: ("Floor", np.floor, 0, (-50, 50)),
    21: ("Round", np.rint, 0, (-50, 50)),
    22: ("Trunc", np.trunc, 0, (-50, 50)),
    23: ("Frac", lambda x: x - np.trunc(x), 0, (-50, 50)),
    24: ("Lgamma", through_torch(torch.lgamma), 1, (-5, 50)),
    25: ("Digamma", through_torch(torch.digamma), 2, (0.1, 50)),
    26: ("Gelu", lambda x: x / (1 + np.exp(-1.59576912 * (x + 0.044715 * x**3))), 64, (-5, 5)),
    27: ("FasterGelu", lambda x: x / (1 + np.exp(-1.702 * x)), 32, (-8, 8)),
    28: ("FasterGeluV2", fast_gelu_v2, 64, (-2, 5)),
    29: ("Silu", lambda x: x / (1 + np.exp(-x)), 8, (-20, 20)),
    37: ("Exp", np.exp, 1, (-80, 80)),
    42: ("Log", np.log, 1, (0, 100)),
    43: ("Tanh", np.tanh, 2, (-10, 10)),
}
# At a pole or an edge of the range the float reference and the exact one may differ in kind.
NO_SPECIALS = {7, 8, 9, 23, 24, 25, 26, 27, 28, 29}


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("op", UNARY)
def test_unary(op: int, dtype: str) -> None:
    name, exact, limit, (low, high) = UNARY[op]
    x = np.linspace(low, high, N).astype(dtype)
    if op not in NO_SPECIALS:
        x[-200:] = special_floats(np.dtype(dtype).type, 200, op)
    cases = [Case(op, np.zeros(N, dtype), x, None, np.zeros(N, dtype), dtype=dtype, n=N, extra=tmp) for tmp in (0, 1)]
    plain, with_buffer = run("vec_adv.cpp", cases)
    assert_same(plain, with_buffer, f"{name} with a temporary buffer")
    with np.errstate(all="ignore"):
        want = exact(x.astype(np.float64))
        error = ulps(plain, want)
        # Zeros of the function: relative error has no meaning, a thousandth of the last place of 1 does.
        tiny = np.abs(plain.astype(np.float64) - want) < 1e-3 * np.finfo(dtype).eps
    error[tiny] = 0
    worst = int(np.argmax(error))
    allowed = limit if dtype == "float32" else 1
    assert error[worst] <= allowed, (name, dtype, x[worst], plain[worst], want[worst], error[worst])


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_two_operands(dtype: str) -> None:
    x, y = np.linspace(0.1, 4, N).astype(dtype), np.linspace(-3, 3, N).astype(dtype)
    a, b = x.astype(np.float64), y.astype(np.float64)
    zeros = np.zeros(N, dtype)
    scalar = float(np.dtype(dtype).type(1.7))
    gelu = b / (1 + np.exp(-1.59576912 * (b + 0.044715 * b**3)))
    wanted = {
        30: a / (1 + np.exp(-scalar * a)),
        31: a**b,
        32: a**scalar,
        33: scalar**a,
        34: np.fmod(a, b),
        35: np.minimum(a, scalar),
        36: np.maximum(a, scalar),
        38: a * b / (1 + np.exp(-1.7 * b)),
        39: a * gelu,
        40: a * np.maximum(b, 0),
        41: a * scalar,
    }
    cases = [Case(op, zeros, x, y, zeros, dtype=dtype, n=N, f=1.7) for op in wanted]
    tolerance = 2e-3 if dtype == "float16" else 3e-6
    for case, got in zip(cases, run("vec_adv.cpp", cases), strict=True):
        assert np.allclose(got.astype(np.float64), wanted[case.op], rtol=tolerance, atol=tolerance / 10), case.op


def test_power_of_integers() -> None:
    x = np.array([0, 1, -1, 2, -2, 3, 7, 10, 46341, -5], np.int32)
    y = np.array([0, 5, -3, 31, 3, 20, -1, 9, 2, 0], np.int32)
    zeros = np.zeros(10, np.int32)
    tensors, scalar = run("vec_adv.cpp", [Case(50, zeros, x, y, n=10), Case(50, zeros, x, n=10, extra=1, i=3)])
    want = [p**q if q >= 0 else (p ** (-q) if abs(p) == 1 else 0) for p, q in zip(x.tolist(), y.tolist(), strict=True)]
    assert_same(tensors, np.array(want, np.int64).astype(np.int32))
    assert_same(scalar, (x.astype(np.int64) ** 3).astype(np.int32))


def test_xor_and_scalars() -> None:
    x = np.random.default_rng(0).integers(-(2**15), 2**15, 64, np.int16)
    y = np.random.default_rng(1).integers(-(2**15), 2**15, 64, np.int16)
    value = np.array([2.5], np.float32)
    xor, scalars = run(
        "vec_adv.cpp", [Case(51, np.zeros(64, np.int16), x, y, n=64), Case(54, np.zeros(8, np.int32), value)]
    )
    assert_same(xor, x ^ y)
    assert scalars[:4].tolist() == [2, 3, 2, 2500]


def test_api_functions_as_template_arguments() -> None:
    x, y = np.linspace(-3, 3, 128).astype(np.float32), np.linspace(1, 2, 128).astype(np.float32)
    h, k = np.abs(x).astype(np.float16), y.astype(np.float16)
    floats, halves = run("vec_adv.cpp", [Case(52, x * 0, x, y, n=128), Case(53, h * 0, h, k, n=128)])
    assert_same(floats, np.abs((x + np.float32(2)) * y))
    assert_same(halves, np.sqrt(np.maximum(h * np.float16(2), k).astype(np.float32)).astype(np.float16))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            "LocalTensor<bfloat16_t> t; Add(t, t, t, 64);",
            ("Add", "not supported", "half, float, int16_t, int32_t", "T = bfloat16_t", "wrong.cpp:2"),
        ),
        ("LocalTensor<int8_t> t; Duplicate(t, (int8_t)1, 64);", ("Duplicate", "not supported")),
        (
            "LocalTensor<half> h; LocalTensor<bfloat16_t> b; Cast(h, b, RoundMode::CAST_NONE, 64);",
            ("Cast", "through float"),
        ),
        ("LocalTensor<int32_t> t; Div(t, t, t, 64);", ("Div", "half, float", "Div.md")),
        # forms of Ascend 950
        ("LocalTensor<int8_t> t; LocalTensor<half> h; AscendQuant<int8_t, half>(t, h, 1.0f, 0.0f);", ("no form of AscendQuant", "AscendQuant.md")),
        ("LocalTensor<half> t; uint32_t s[2]; int tiling; Broadcast<half>(t, t, s, s, &tiling);", ("no form of Broadcast", "Broadcast.md")),
        (
            "LocalTensor<half> t; int tiling; SoftmaxFlashV2<half>(t, t, t, t, t, t, t, t, tiling);",
            ("outReduceMax does nothing unless config.mode is SOFTMAX_OUTPUT_WITHOUT_BRC", "SoftmaxFlashV2.md"),
        ),
    ],
)
def test_unsupported_types_do_not_compile(tmp_path: object, call: str, words: tuple[str, ...]) -> None:
    """The compiler names the API and the types that it has, or the page of the API."""
    source = tmp_path / "wrong.cpp"  # type: ignore[operator]
    source.write_text(
        f'#include "kernel_operator.h"\nextern "C" __global__ __aicore__ void wrong(GM_ADDR x) {{ {call} }}\n'
    )
    with pytest.raises(AscendOpsError) as error:
        ascendops.twin.compile(source)
    text = str(error.value)
    for word in words:
        assert word in text, text


def softmax(x: Array) -> tuple[Array, Array, Array]:
    x = x.astype(np.float64)
    top = x.max(1, keepdims=True)
    e = np.exp(x - top)
    total = e.sum(1, keepdims=True)
    return e / total, total, top


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_softmax_with_one_element_for_each_statistic(dtype: str) -> None:
    m, k = 8, 96
    x = (np.random.default_rng(0).standard_normal((2, m, k)) * 3).astype(dtype)
    room, stats = np.zeros(m * k + 128, dtype), np.zeros(256, dtype)
    cases = [Case(op, room, x, stats, stats, dtype=dtype, n=k, repeat=m, extra=k) for op in (69, 70)]
    flash, plain = run("vec_adv.cpp", cases, entry="vec_rows")
    tolerance = {"rtol": 4e-3, "atol": 4e-3} if dtype == "float16" else {"rtol": 3e-6, "atol": 3e-6}
    wide = x.astype(np.float64)
    before, here = wide[0].max(1), wide[1].max(1)
    top = np.maximum(before, here)
    y = np.exp(wide[1] - top[:, None])
    scale = np.exp(before - top)
    sums = scale * np.exp(wide[0] - before[:, None]).sum(1) + y.sum(1)
    assert np.allclose(flash[: m * k].reshape(m, k), y, **tolerance)
    for at, want in zip((0, 32, 64, 96), (sums, top, scale, here), strict=True):
        assert np.allclose(flash[m * k + at :][:m], want, **tolerance), at
        assert not flash[m * k + at + m : m * k + at + 32].any(), "nothing behind the statistics"
    want, total, first = softmax(x[0])
    assert np.allclose(plain[: m * k].reshape(m, k), want, **tolerance)
    assert np.allclose(plain[m * k :][:m], total[:, 0], **tolerance)
    assert np.allclose(plain[m * k + 32 :][:m], first[:, 0], **tolerance)
    assert not plain[m * k + m : m * k + 32].any()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_softmax(dtype: str) -> None:
    m, k, valid = 8, 96, 90
    x = (np.random.default_rng(0).standard_normal((2, m, k)) * 3).astype(dtype)
    stats, room = np.zeros(256, dtype), np.zeros(m * k + 256, dtype)
    cases = [
        Case(60, room, x[0], stats, stats, dtype=dtype, n=k, repeat=m, extra=valid),
        Case(61, room, x[0], stats, stats, dtype=dtype, n=k, repeat=m),
        Case(62, room, x[0], stats, stats, dtype=dtype, n=k, repeat=m),
        Case(63, room, x, stats, stats, dtype=dtype, n=k, repeat=m),
    ]
    part, whole, simple, flash = run("vec_adv.cpp", cases, entry="vec_rows")
    tolerance = 2e-3 if dtype == "float16" else 2e-6
    want, total, _ = softmax(x[0][:, :valid])
    assert np.allclose(part[: m * k].reshape(m, k)[:, :valid], want, atol=tolerance)
    if dtype == "float32":  # a statistic fills its block: 8 floats
        assert np.allclose(part[m * k : m * k + 32].reshape(4, 8), total[:4], rtol=1e-5)
    want, _, _ = softmax(x[0])
    assert np.allclose(whole[: m * k].reshape(m, k), want, atol=tolerance)
    assert np.allclose(simple[: m * k].reshape(m, k), want, atol=tolerance)
    if dtype == "float32":
        _, total, top = softmax(np.concatenate(list(x), 1))
        e = np.exp(x[1].astype(np.float64) - top)
        assert np.allclose(flash[: m * k].reshape(m, k), e, atol=tolerance)
        sums, tops, scales = flash[m * k : m * k + 192].reshape(3, m, 8)
        assert np.allclose(sums, total, rtol=1e-5)
        assert np.allclose(tops, top)
        assert np.allclose(scales, np.exp(x[0].max(1, keepdims=True) - top), rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_broadcast_and_select_with_bytes(dtype: str) -> None:
    m, k, stride = 6, 32, 48
    x = np.arange(m * k, dtype=dtype)
    mask = np.random.default_rng(1).integers(0, 3, m * stride, np.uint8)
    room = np.zeros(m * k, dtype)
    cases = [
        *[Case(op, room, x, dtype=dtype, n=k, repeat=m) for op in (64, 65, 66)],
        *[Case(op, room, x, mask, room, dtype=dtype, n=k, repeat=m, extra=stride, f=-1.0) for op in (67, 68)],
    ]
    column, row, one, tensor_first, scalar_first = run("vec_adv.cpp", cases, entry="vec_rows")
    assert_same(column.reshape(m, k), np.broadcast_to(x[:m, None], (m, k)))
    assert_same(row.reshape(m, k), np.broadcast_to(x[:k], (m, k)))
    assert (one[:k] == x[0]).all()
    zero = mask.reshape(m, stride)[:, :k] == 0
    table = x.reshape(m, k)
    assert_same(tensor_first.reshape(m, k), np.where(zero, table, np.array(-1, dtype)))
    assert_same(scalar_first.reshape(m, k), np.where(zero, np.array(-1, dtype), table))
