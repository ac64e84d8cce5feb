"""Reductions of an axis, quantisation, TopK, padding, transposition, dropout and scalar functions, against numpy and torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.twin.vec_support import Case, assert_same, run

pytestmark = pytest.mark.twin

Array = np.ndarray
FILE = "vec_adv_more.cpp"
ROWS, WIDTH, STRIDE = 5, 27, 32


def padded(x: Array, width: int, value: float = 0) -> Array:
    out = np.full((*x.shape[:-1], width), value, x.dtype)
    out[..., : x.shape[-1]] = x
    return out


def random(dtype: str, *shape: int, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape)).astype(dtype)


def launch(case: Case, entry: str) -> Array:
    return run(FILE, [case], entry=entry)[0]


FOLDS = {
    0: ("ReduceMax", np.max),
    1: ("ReduceMin", np.min),
    2: ("ReduceSum", np.sum),
    3: ("ReduceMean", np.mean),
    4: ("ReduceProd", np.prod),
    5: ("ReduceAny", lambda x, axis: np.any(x != 0, axis)),
    6: ("ReduceAll", lambda x, axis: np.all(x != 0, axis)),
}


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", FOLDS)
def test_reductions_of_an_axis(op: int, axis: int) -> None:
    name, fold = FOLDS[op]
    for dtype in ("float16", "float32") if op < 2 else ("float32",):
        x = random(dtype, ROWS, WIDTH)
        if op in (5, 6):
            x = (np.random.default_rng(op).random((ROWS, WIDTH)) < (0.1 if op == 5 else 0.8)).astype(dtype)
        room = np.zeros(64, dtype)
        got = launch(
            Case(op, room, padded(x, STRIDE), c=room, dtype=dtype, n=WIDTH, repeat=ROWS, extra=axis), "vec_axes"
        )
        want = fold(x.astype(np.float64), axis)
        assert np.allclose(got[: want.size], want, rtol=1e-5, atol=1e-6), (name, dtype, axis)
        assert (got[want.size :] == 0).all(), "nothing beyond the results is written"


def test_any_of_bytes_and_xor_sum() -> None:
    x = np.zeros((3, 40), np.uint8)
    x[1, 17] = 1
    got = launch(Case(9, np.zeros(32, np.uint8), padded(x, 64), n=40, repeat=3), "vec_axes")
    assert got[:3].tolist() == [0, 1, 0]
    a, b = (np.random.default_rng(seed).integers(-50, 50, 100).astype(np.int16) for seed in (1, 2))
    got = launch(Case(8, np.zeros(16, np.int16), a, b, n=100), "vec_axes")
    assert got[0] == (a ^ b).sum()
    high = np.full(100, 30000, np.int16)
    assert launch(Case(8, np.zeros(16, np.int16), high, high * 0, n=100), "vec_axes")[0] == 32767


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_running_sums(dtype: str) -> None:
    x = random(dtype, ROWS, STRIDE)
    room = np.zeros((ROWS + 1, STRIDE), dtype)
    shape = {"dtype": dtype, "n": STRIDE, "repeat": ROWS}
    along, down = run(FILE, [Case(7, room, x, c=room, extra=extra, **shape) for extra in (1, 0)], entry="vec_axes")
    tolerance = 1e-2 if dtype == "float16" else 1e-5
    wide = x.astype(np.float64)
    assert np.allclose(along[:ROWS], wide.cumsum(1), atol=tolerance)
    assert np.allclose(down[:ROWS], wide.cumsum(0), atol=tolerance)
    assert_same(down[ROWS], down[ROWS - 1])


def half(x: Array) -> Array:
    return x.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_quantisation_goes_through_half(dtype: str) -> None:
    n, channels = 256, 64
    x = (random(dtype, n) * 200).astype(dtype)
    scale, offset = random(dtype, channels, seed=1), (random(dtype, channels, seed=2) * 5).astype(dtype)
    out = np.zeros(n, np.int8)
    cases = [
        Case(0, out, x, scale, offset, dtype=dtype, n=n, f=1.7),
        Case(1, out, x, scale, offset, dtype=dtype, n=n, extra=channels),
        Case(2, out, x, scale, offset, dtype=dtype, n=n),
    ]
    scales = (np.full(n, 1.7, np.float32), np.tile(scale, 4), np.tile(scale, 4))
    offsets = (np.full(n, 3.0, np.float32), np.full(n, -2.0, np.float32), np.tile(offset, 4))
    for got, s, o in zip(run(FILE, cases, entry="vec_quants"), scales, offsets, strict=True):
        want = np.clip(np.rint(half(half(half(x) * half(s)) + half(o))), -128, 127).astype(np.int8)
        assert_same(got, want)
        assert got.min() == -128, "the data saturate"


def bf16(x: Array) -> Array:
    return torch.from_numpy(x.astype(np.float32)).bfloat16().view(torch.int16).numpy()


def test_dequantisation() -> None:
    m, n, count = 4, 16, 11
    x = np.random.default_rng(0).integers(-5000, 5000, (m, n)).astype(np.int32)
    scale = random("float32", n, seed=1)
    want = x[:, :count] * scale[:count]
    wide = np.zeros((m, n), np.float32)
    shape = {"n": n, "repeat": m, "extra": count}
    got = launch(Case(3, wide, x, scale, **shape), "vec_quants")
    assert_same(got[:, :count], want.astype(np.float32))
    assert (got[:, count:] == 0).all()
    got = launch(Case(3, np.zeros((m, n), np.int16), x, scale, dtype="bfloat16", **shape), "vec_quants")
    assert_same(got[:, :count], bf16(want))
    rounded = torch.from_numpy(scale).bfloat16().float().numpy()
    got = launch(Case(4, wide, x, bf16(scale), wide, **shape), "vec_quants")
    assert_same(got[:, :count], (x[:, :count] * rounded[:count]).astype(np.float32))
    got = launch(Case(5, wide, x, f=0.37, **shape), "vec_quants")
    assert_same(got[:, :count], x[:, :count].astype(np.float32) * np.float32(0.37))


def test_dequantisation_of_a_single_row_repeats_the_scales() -> None:
    x = np.random.default_rng(0).integers(-50, 50, 64).astype(np.int32)
    scale = random("float32", 16, seed=1)
    packed = scale.view(np.uint32).astype(np.uint64) | np.uint64(7 << 32)  # the high half has control bits
    got = launch(Case(6, np.zeros(64, np.float16), x, packed, extra=16), "vec_quants")
    assert_same(got, (x * np.tile(scale, 4)).astype(np.float32).astype(np.float16))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_anti_quantisation(dtype: str) -> None:
    k, n, groups = 32, 16, 4
    torch_type = getattr(torch, dtype)
    x = torch.randint(-128, 128, (k, n), generator=torch.Generator().manual_seed(0), dtype=torch.int8)
    scale, offset = (torch.randn(groups, n, generator=torch.Generator().manual_seed(s)).to(torch_type) for s in (1, 2))
    wide = [part.repeat_interleave(k // groups, 0) for part in (scale, offset)]
    moved = x.float() + wide[1].float()
    want = (wide[0].float() * (moved.half().float() if dtype == "float16" else moved)).to(torch_type).view(torch.int16)

    def bits(tensor: torch.Tensor) -> Array:
        return tensor.contiguous().view(torch.int16).numpy()

    shape = {"dtype": dtype, "n": k, "repeat": groups}
    room = np.zeros((k, n), np.int16)
    assert_same(launch(Case(7, room, x.numpy(), bits(scale), bits(offset), **shape), "vec_quants"), want.numpy())
    got = launch(Case(8, room.T, x.T.contiguous().numpy(), bits(scale.T), bits(offset.T), **shape), "vec_quants")
    assert_same(got, want.T.contiguous().numpy())
    scalar = launch(Case(9, room, x.numpy(), f=0.5, **shape), "vec_quants")
    assert_same(scalar, ((x.float() + 2) * 0.5).to(torch_type).view(torch.int16).numpy())


def test_anti_quantisation_of_four_bits() -> None:
    k, n = 16, 16
    x = np.random.default_rng(0).integers(-8, 8, k * n).astype(np.int8)
    packed = ((x[0::2] & 15) | (x[1::2] << 4)).astype(np.uint8)
    got = launch(Case(9, np.zeros(k * n, np.float16), packed, f=0.5, dtype2="int4", n=k), "vec_quants")
    assert_same(got, ((x + 2) * 0.5).astype(np.float16))


def test_cast_dequant() -> None:
    x = np.arange(-320, 320, 10).astype(np.int16)
    signed = launch(Case(10, np.zeros(128, np.int8), x, n=64, f=0.5, i=3, extra=1), "vec_quants").reshape(4, 2, 16)
    assert_same(signed[:, 0].ravel(), np.clip(np.rint(x * 0.5 + 3), -128, 127).astype(np.int8))
    assert (signed[:, 1] == 0).all()
    upper = launch(Case(10, np.zeros(128, np.uint8), x, n=64, f=0.5, i=3), "vec_quants").reshape(4, 2, 16)
    assert_same(upper[:, 1].ravel(), np.clip(np.rint(x * 0.5 + 3), 0, 255).astype(np.uint8))


def test_cast_dequant_with_a_register_and_with_a_tensor() -> None:
    wide = np.arange(-3200, 3200, 100).astype(np.int32)
    got = launch(Case(11, np.zeros(64, np.float16), wide, n=64, f=0.25), "vec_quants")
    assert_same(got, (wide * 0.25).astype(np.float16))
    x = np.arange(-64, 64, 2).astype(np.int16)
    got = launch(Case(12, np.zeros(128, np.int8), x, np.zeros(16, np.uint64), n=64), "vec_quants").reshape(4, 2, 16)
    lane = np.arange(16)
    want = np.clip(np.rint(x.reshape(4, 16) * 0.25 * (lane + 1) + lane), -128, 127)
    assert_same(got[:, 0], want.astype(np.int8))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_top_k(dtype: str, largest: bool) -> None:
    outer, inner, n, k = 4, 64, 50, 11
    x = np.round(random(dtype, outer, n) * 3).astype(dtype)  # many ties
    x[1, 7] = np.nan
    index = np.arange(100, 100 + inner, dtype=np.int32)
    finish = np.array([0, 0, 1, 0], np.uint8)
    per_block = 32 // np.dtype(dtype).itemsize
    row, index_row = -(-k // per_block) * per_block, -(-k // 8) * 8
    room = np.zeros(outer * (row * np.dtype(dtype).itemsize + index_row * 4), np.uint8)
    worst = -1000 if largest else 1000
    case = Case(0, room, padded(x, inner, worst), index, finish, dtype=dtype, n=inner, repeat=outer, extra=n, i=k)
    case.f = 1.0 if largest else -1.0
    out = launch(case, "vec_moves")
    at = outer * row * np.dtype(dtype).itemsize
    values, indices = out[:at].view(dtype).reshape(outer, row), out[at:].view(np.int32).reshape(outer, index_row)
    keys = np.where(np.isnan(x), np.inf, x.astype(np.float64) * (1 if largest else -1))
    order = np.argsort(-keys, axis=1, kind="stable")[:, :k]
    assert_same(values[:, :k], np.take_along_axis(x, order, 1))
    want = order + 100
    want[2] = n
    assert_same(indices[:, :k], want.astype(np.int32))


def test_small_top_k_is_not_padded() -> None:
    outer, k = 4, 3
    x = random("float32", outer, 32)
    room = np.zeros(96, np.float32)
    out = launch(Case(1, room, x, room, room, n=32, repeat=outer, extra=32, i=k, f=1.0), "vec_moves")
    order = np.argsort(-x, axis=1, kind="stable")[:, :k]
    assert_same(out[: outer * k].reshape(outer, k), np.take_along_axis(x, order, 1))
    at = -(-outer * k * 4 // 32) * 8
    assert_same(out[at : at + outer * k].view(np.int32).reshape(outer, k), order.astype(np.int32))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_pad_and_unpad(dtype: str) -> None:
    per_block = 32 // np.dtype(dtype).itemsize
    width, left, height = per_block * 2 - 3, 1, 16
    x = random(dtype, height, width)
    out = np.zeros((height, per_block * 2), dtype)
    got = launch(
        Case(2, out, x, c=out, dtype=dtype, n=width, repeat=height, extra=width, i=-7, blk=(left, 2, 1)), "vec_moves"
    )
    want = np.full_like(out, -7)
    want[:, left : left + width] = x
    assert_same(got, want)
    got = launch(
        Case(2, out, want, c=out, dtype=dtype, n=per_block * 2, repeat=height, extra=width, i=5, blk=(0, 3, 1)),
        "vec_moves",
    )
    want[:, width:] = 5
    assert_same(got, want)
    got = launch(
        Case(3, np.zeros((height, width), dtype), want, dtype=dtype, n=per_block * 2, repeat=height, extra=3),
        "vec_moves",
    )
    assert_same(got, want[:, :width])


def nz(x: Array) -> Array:
    """The last two axes in fractals of 16 x 16, column by column; both are padded with zeros."""
    *rest, rows, columns = x.shape
    wide = np.zeros((*rest, -(-rows // 16) * 16, -(-columns // 16) * 16), x.dtype)
    wide[..., :rows, :columns] = x
    split = wide.reshape(*rest, wide.shape[-2] // 16, 16, wide.shape[-1] // 16, 16)
    return np.ascontiguousarray(np.moveaxis(split, -2, -4))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("kind", range(1, 8))
def test_confusion_transpose(dtype: str, kind: int) -> None:
    b, n, s, d = (2, 16, 16, 16) if kind == 2 else (2, 2, 32, 16)
    if kind == 7:
        x = random(dtype, 48, 32)
        source, want, sizes = x, x.T, (48, 32, 0)
    else:
        x = random(dtype, b, n, s, d)
        merged = np.moveaxis(x, 1, 2).reshape(b, s, n * d)
        source = nz(merged) if kind in (3, 4) else nz(x)
        want = {
            1: lambda: np.moveaxis(x, 1, 2),
            2: lambda: nz(np.moveaxis(x, 1, 2)),
            3: lambda: nz(x),
            4: lambda: x,
            5: lambda: merged,
            6: lambda: nz(merged),
        }[kind]()
        sizes = (b, n, s)
    out = np.zeros(want.size, dtype)
    got = launch(Case(4, out, source, c=out, dtype=dtype, n=d, extra=kind, rep=sizes), "vec_moves")
    assert_same(got, np.ascontiguousarray(want).ravel())


@pytest.mark.parametrize("fractal", [False, True])
def test_trans_data(fractal: bool) -> None:
    n, c, d, h, w = 3, 20, 2, 3, 5
    x = random("float16", n, c, d, h, w)
    planes = padded(x.reshape(n, c, d, h * w), 16)
    wide = np.zeros((16 if fractal else n, 32, d, h * w), np.float16)
    wide[:n, :c] = x.reshape(n, c, d, h * w)
    split = wide.reshape(-1, 2, 16, d, h * w)  # n, c1, c0, d, hw
    blocks = np.ascontiguousarray(split.transpose(3, 1, 4, 0, 2) if fractal else split.transpose(0, 3, 1, 4, 2))
    shape = {"rep": (n, c, d), "n": h, "extra": w}
    kind = 2 if fractal else 0
    got = launch(Case(7, np.ones_like(blocks), planes, c=blocks, i=kind, **shape), "vec_moves")
    assert_same(got, blocks)
    back = launch(Case(7, padded(x.reshape(n, c, d, h * w) * 0, 16, 1), blocks, i=kind + 1, **shape), "vec_moves")
    assert_same(back[..., : h * w], planes[..., : h * w])
    assert (back[..., h * w :] == 1).all(), "padding keeps its values"


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_drop_out(dtype: str) -> None:
    rows, columns, keep = 4, 64, 0.5
    x = random(dtype, rows, columns)
    kept = np.random.default_rng(3).random((rows, columns)) < keep
    bits = np.packbits(kept, axis=1, bitorder="little")
    want = np.where(kept, x * np.array(2, dtype), np.array(0, dtype))
    for mask in (kept.astype(np.uint8), padded(kept.astype(np.uint8), 96, 1), bits, padded(bits, 32, 255)):
        case = Case(5, x * 0, x, np.ascontiguousarray(mask), x, dtype=dtype, n=columns, repeat=rows, f=keep)
        case.extra = mask.shape[1]
        assert_same(launch(case, "vec_moves"), want, mask.shape)


def test_scalar_functions() -> None:
    values = [0, 1, -1, 2**62, 0x0F00, 2**63 - 1, -(2**63), 0x00F0000000000000]
    got = launch(Case(6, np.zeros((8, 6), np.int64), np.array(values, np.int64), n=8), "vec_moves")
    for value, row in zip(values, got.tolist(), strict=True):
        text = f"{value % 2**64:064b}"
        low = text[::-1]
        same = len(text[1:]) - len(text[1:].lstrip(text[0]))
        assert row == [
            64 - len(text.lstrip("0")),
            low.find("1"),
            low.find("0"),
            text.count("1"),
            text.count("0"),
            -1 if value in (0, -1) else same,
        ], value


def test_operands_that_do_not_fit_are_found() -> None:
    """The sizes of all operands are checked: here the result of a reduction."""
    x = random("float32", 64, 8)
    run(
        FILE,
        [Case(2, np.zeros(8, np.float32), x, c=x, n=8, repeat=64, extra=1)],
        entry="vec_axes",
        expect=("TENSOR-SIZE",),
    )
