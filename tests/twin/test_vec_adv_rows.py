"""Normalisations and the variants of SoftMax, against torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import torch

import ascendops.twin
from ascendops.errors import AscendOpsError
from tests.twin.vec_support import Case, run

pytestmark = pytest.mark.twin

Array = np.ndarray
FILE = "vec_adv_rows.cpp"
TOLERANCE = {"float16": 3e-3, "float32": 2e-5}
ROWS, WIDTH, VALID = 6, 64, 57


def blocks(*parts: Array) -> Array:
    """The bytes of the parts behind each other, each padded to 32 bytes."""
    out = b""
    for part in parts:
        out += np.ascontiguousarray(part).tobytes()
        out += bytes(-len(out) % 32)
    return np.frombuffer(out, np.uint8)


def split(data: Array, *parts: tuple[str, Sequence[int]]) -> list[Array]:
    """The arrays (dtype, shape) that `blocks` would have put together."""
    arrays, at = [], 0
    for dtype, shape in parts:
        size = int(np.prod(shape)) * np.dtype(dtype).itemsize
        arrays.append(data[at : at + size].view(dtype).reshape(shape).astype(np.float64))
        at += -(-size // 32) * 32
    return arrays


def padded(x: Array, width: int = WIDTH) -> Array:
    out = np.zeros((*x.shape[:-1], width), x.dtype)
    out[..., : x.shape[-1]] = x
    return out


def random(dtype: str, *shape: int, seed: int = 0) -> Array:
    return (np.random.default_rng(seed).standard_normal(shape) * 2 + 0.5).astype(dtype)


def close(got: Array, want: Array, dtype: str, what: str) -> None:
    tolerance = TOLERANCE[dtype]
    error = np.abs(got - want)
    assert np.allclose(got, want, rtol=tolerance, atol=tolerance), (what, dtype, error.max(), int(error.argmax()))


def launch(case: Case, *, entry: str) -> Array:
    return run(FILE, [case], entry=entry)[0]


def layer_norm(x: Array, gamma: Array, beta: Array, eps: float) -> tuple[Array, Array, Array]:
    x = x.astype(np.float64)
    mean, variance = x.mean(-1), x.var(-1)
    y = (x - mean[..., None]) / np.sqrt(variance[..., None] + eps) * gamma.astype(np.float64) + beta.astype(np.float64)
    return y, mean, variance


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_layer_norm(dtype: str) -> None:
    x, gamma, beta = random(dtype, ROWS, VALID), random(dtype, VALID, seed=1), random(dtype, VALID, seed=2)
    eps = float(np.dtype(dtype).type(1e-3))
    want, mean, variance = layer_norm(x, gamma, beta, eps)
    for op in (0, 10, 1):
        stat = "float32" if op == 1 else dtype
        layout = ((dtype, (ROWS, WIDTH)), (stat, (ROWS,)), (stat, (ROWS,)))
        room = np.zeros(ROWS * WIDTH * 4 + 256, np.uint8)
        weights = blocks(padded(gamma), padded(beta))
        out = launch(
            Case(op, room, padded(x), weights, room, dtype=dtype, n=WIDTH, repeat=ROWS, extra=VALID, f=1e-3),
            entry="vec_norms",
        )
        y, got_mean, got_last = split(out, *layout)
        close(y[:, :VALID], want, dtype, f"LayerNorm {op}")
        close(got_mean, mean, dtype, "mean")
        close(got_last, 1 / np.sqrt(variance + 1e-3) if op == 1 else variance, dtype, "variance or rstd")
        assert op != 1 or (y[:, VALID:] == 0).all(), "only the counted elements are written"


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rms_and_deep_norm(dtype: str) -> None:
    x, gx = random(dtype, ROWS, VALID), random(dtype, ROWS, VALID, seed=3)
    gamma, beta = random(dtype, VALID, seed=1), random(dtype, VALID, seed=2)
    room, weights = np.zeros(ROWS * WIDTH * 4 + 256, np.uint8), blocks(padded(gamma), padded(beta))
    shape = {"dtype": dtype, "n": WIDTH, "repeat": ROWS, "extra": VALID, "f": 1e-3}
    (rms,) = split(launch(Case(2, room, padded(x), weights, room, **shape), entry="vec_norms"), (dtype, (ROWS, WIDTH)))
    tensor = torch.from_numpy(x.astype(np.float64))
    want = torch.nn.functional.rms_norm(tensor, (VALID,), torch.from_numpy(gamma.astype(np.float64)), 1e-3)
    close(rms[:, :VALID], want.numpy(), dtype, "RmsNorm")
    out = launch(Case(3, room, padded(x), weights, padded(gx), **shape), entry="vec_norms")
    y, mean, variance = split(out, (dtype, (ROWS, WIDTH)), (dtype, (ROWS,)), (dtype, (ROWS,)))
    want_y, want_mean, want_variance = layer_norm(1.5 * x.astype(np.float64) + gx, gamma, beta, 1e-3)
    close(y[:, :VALID], want_y, dtype, "DeepNorm")
    close(mean, want_mean, dtype, "mean")
    close(variance, want_variance, dtype, "variance, in the argument named rstdLocal")


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_normalize_and_batch_norm(dtype: str) -> None:
    x, gamma, beta = random(dtype, ROWS, VALID), random(dtype, VALID, seed=1), random(dtype, VALID, seed=2)
    room, weights = np.zeros(ROWS * WIDTH * 4 + 1024, np.uint8), blocks(padded(gamma), padded(beta))
    wide = x.astype(np.float64)
    given = blocks(wide.mean(-1).astype(np.float32), wide.var(-1).astype(np.float32))
    shape = {"dtype": dtype, "n": WIDTH, "repeat": ROWS, "extra": VALID, "f": 1e-3}
    out = launch(Case(4, room, padded(x), weights, given, **shape), entry="vec_norms")
    y, rstd = split(out, (dtype, (ROWS, WIDTH)), ("float32", (ROWS,)))
    close(y[:, :VALID], layer_norm(x, gamma, beta * 0, 1e-3)[0], dtype, "Normalize")
    close(rstd, 1 / np.sqrt(wide.var(-1) + 1e-3), dtype, "rstd")
    columns, scale, shift = random(dtype, ROWS, WIDTH), random(dtype, WIDTH, seed=4), random(dtype, WIDTH, seed=5)
    out = launch(Case(5, room, columns, blocks(scale, shift), **shape), entry="vec_norms")
    y, mean, variance = split(out, (dtype, (ROWS, WIDTH)), (dtype, (WIDTH,)), (dtype, (WIDTH,)))
    wide = columns.astype(np.float64)
    want = (wide - wide.mean(0)) / np.sqrt(wide.var(0) + 1e-3) * scale[:ROWS, None] + shift[:ROWS, None]
    close(y, want, dtype, "BatchNorm")
    close(mean, wide.mean(0), dtype, "mean")
    close(variance, wide.var(0), dtype, "variance")


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("hw", [16, 13])
def test_group_norm(dtype: str, hw: int) -> None:
    batch, channels, groups, stride = 2, 6, 3, 16
    x = random(dtype, batch, channels, hw)
    gamma, beta = random(dtype, channels, seed=1), random(dtype, channels, seed=2)
    room = np.zeros(batch * channels * stride * 4 + 128, np.uint8)
    out = launch(
        Case(
            6,
            room,
            padded(x, stride),
            blocks(gamma, beta),
            dtype=dtype,
            n=hw,
            repeat=batch,
            extra=groups,
            i=channels,
            f=1e-3,
        ),
        entry="vec_norms",
    )
    y, mean, variance = split(
        out, (dtype, (batch, channels, stride)), (dtype, (batch, groups)), (dtype, (batch, groups))
    )
    wide = [torch.from_numpy(array.astype(np.float64)) for array in (x, gamma, beta)]
    want = torch.nn.functional.group_norm(wide[0], groups, wide[1], wide[2], 1e-3).numpy()
    close(y[:, :, :hw], want, dtype, "GroupNorm")
    parts = x.astype(np.float64).reshape(batch, groups, -1)
    close(mean, parts.mean(-1), dtype, "mean")
    close(variance, parts.var(-1), dtype, "variance")


def test_layer_norm_gradients() -> None:
    x, dy = random("float32", ROWS, VALID), random("float32", ROWS, VALID, seed=3)
    gamma = random("float32", VALID, seed=1)
    wide = x.astype(np.float64)
    stats = blocks(wide.var(-1).astype(np.float32), wide.mean(-1).astype(np.float32), padded(gamma))
    room = np.zeros(2 * ROWS * WIDTH * 4, np.uint8)
    shape = {"dtype": "float32", "n": WIDTH, "repeat": ROWS, "extra": VALID, "f": 1e-3}
    out = launch(Case(7, room, padded(dy), padded(x), stats, **shape), entry="vec_norms")
    dx, for_gamma = split(out, ("float32", (ROWS, WIDTH)), ("float32", (ROWS, WIDTH)))
    tensor, weight = (
        torch.from_numpy(wide).requires_grad_(),
        torch.from_numpy(gamma.astype(np.float64)).requires_grad_(),
    )
    y = torch.nn.functional.layer_norm(tensor, (VALID,), weight, torch.zeros(VALID, dtype=torch.float64), 1e-3)
    y.backward(torch.from_numpy(dy.astype(np.float64)))
    assert tensor.grad is not None
    assert weight.grad is not None
    close(dx[:, :VALID], tensor.grad.numpy(), "float32", "dx")
    passed_on = padded(for_gamma[:, :VALID]).astype(np.float32)
    out = launch(Case(8, room, passed_on, padded(dy), **shape), entry="vec_norms")
    d_gamma, d_beta = split(out, ("float32", (WIDTH,)), ("float32", (WIDTH,)))
    close(d_gamma[:VALID], weight.grad.numpy(), "float32", "d gamma")
    close(d_beta[:VALID], dy.astype(np.float64).sum(0), "float32", "d beta")


@pytest.mark.parametrize("last", [64, 24])
def test_welford(last: int) -> None:
    updates, width = 5, 64
    x = random("float32", updates, width)
    room = np.zeros(64, np.uint8)
    state = np.zeros(width * 2, np.float32)
    out = launch(Case(9, room, x, state, state, n=width, repeat=updates, extra=last), entry="vec_norms")
    mean, variance = split(out, ("float32", (1,)), ("float32", (1,)))
    counted = x.astype(np.float64).ravel()[: (updates - 1) * width + last]
    close(mean, counted.mean(keepdims=True), "float32", "mean")
    close(variance, counted.var(keepdims=True), "float32", "variance")


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_softmax_gradients(dtype: str) -> None:
    grad, y = random(dtype, ROWS, WIDTH), np.abs(random(dtype, ROWS, WIDTH, seed=1)) / WIDTH
    y = y.astype(dtype)
    room = np.zeros(ROWS * WIDTH, dtype)
    shape = {"dtype": dtype, "n": WIDTH, "repeat": ROWS, "extra": VALID}
    cases = [Case(op, room, grad, y, room, **shape) for op in (0, 1)]
    full, front = run(FILE, cases, entry="vec_softmaxes")
    g, p = grad.astype(np.float64), y.astype(np.float64)
    total = (g * p)[:, :VALID].sum(-1, keepdims=True)
    close(full.reshape(ROWS, WIDTH).astype(np.float64), (g - total) * p, dtype, "SoftmaxGrad")
    per_block = 32 // np.dtype(dtype).itemsize
    close(
        front[: ROWS * per_block].reshape(ROWS, per_block).astype(np.float64),
        np.broadcast_to(total, (ROWS, per_block)),
        dtype,
        "SoftmaxGradFront",
    )


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_log_softmax_and_flash(dtype: str) -> None:
    left, right = random(dtype, ROWS, WIDTH), random(dtype, ROWS, WIDTH, seed=1)
    per_block = 32 // np.dtype(dtype).itemsize
    stat = (dtype, (ROWS, per_block))
    room = np.zeros(ROWS * WIDTH * 4 + ROWS * 32 * 3, np.uint8)
    shape = {"dtype": dtype, "n": WIDTH, "repeat": ROWS, "extra": WIDTH}
    log, flash = run(FILE, [Case(op, room, left, right, room, **shape) for op in (2, 3)], entry="vec_softmaxes")
    y, total, top = split(log, (dtype, (ROWS, WIDTH)), stat, stat)
    wide = left.astype(np.float64)
    exps = np.exp(wide - wide.max(-1, keepdims=True))
    close(y, np.log10(exps / exps.sum(-1, keepdims=True)), dtype, "LogSoftMax")
    close(total[:, :1], exps.sum(-1, keepdims=True), dtype, "sum")
    close(top[:, :1], wide.max(-1, keepdims=True), dtype, "max")
    y, total, top, scale = split(flash, (dtype, (ROWS, WIDTH)), stat, stat, stat)
    both = np.concatenate([left, right], -1).astype(np.float64)
    exps = np.exp(both - both.max(-1, keepdims=True))
    close(y, (exps / exps.sum(-1, keepdims=True))[:, WIDTH:], dtype, "SoftmaxFlash")
    close(total[:, :1], exps.sum(-1, keepdims=True), dtype, "sum")
    close(scale[:, 0], exps[:, :WIDTH].sum(-1) / exps.sum(-1), dtype, "exp max")


def test_adjust_softmax_result() -> None:
    x = random("float32", ROWS, WIDTH)
    tops = np.repeat(np.array([1, 2, 1, 3, 4, 1], np.float32), 8)
    shape = {"n": WIDTH, "repeat": ROWS, "extra": WIDTH, "f": 7.0}
    one, none = (int(np.float32(value).view(np.int32)) for value in (1.0, 9.0))
    found, missing = run(
        FILE, [Case(4, x * 0, x, tops, i=bits, **shape) for bits in (one, none)], entry="vec_softmaxes"
    )
    want = np.where(np.array([1, 0, 1, 0, 0, 1])[:, None] != 0, np.float32(7), x)
    assert (found == want).all()
    assert missing.ravel()[0] == -99
    assert (missing.ravel()[1:] == x.ravel()[1:]).all()


@pytest.mark.parametrize("width", [512, 640, 1536])
def test_softmax_flash_3(width: int) -> None:
    """The means of the parts are of the columns that the page's pseudocode adds up: behind 512 columns these are not those of the part."""
    alpha, parts, rows = 0.3, 8, 8
    scale = alpha / (1 - alpha)
    blocks_of_x = [random("float16", rows, width, seed=seed) for seed in (0, 1)]
    room = np.zeros(rows * width * 2 + rows * 32 * 4, np.uint8)
    out = launch(
        Case(5, room, *blocks_of_x, np.zeros(rows * 8 * 3, np.float32), dtype="float16", n=width, repeat=rows, f=alpha),
        entry="vec_softmaxes",
    )
    stat = ("float32", (rows, 8))
    y, factor, mean, total, top = split(out, ("float16", (rows, width)), ("float16", (rows, 16)), stat, stat, stat)

    def centred(x: Array) -> tuple[Array, Array]:
        wide = x.astype(np.float64)
        row = wide.mean(-1, keepdims=True)
        sums = wide[:, :512].reshape(rows, 64, 8).sum(-1) + wide[:, 512:].reshape(rows, -1, 64).sum(1)
        local = np.repeat(sums.reshape(rows, parts, 8).sum(-1) / (width // parts), width // parts, -1)
        return wide - (row - local) * scale, row

    first, mean_1 = centred(blocks_of_x[0])
    max_1 = first.max(-1, keepdims=True)
    sum_1 = np.exp(first - max_1).sum(-1, keepdims=True)
    second, here = centred(blocks_of_x[1])
    mean_2 = (here + mean_1) / 2
    shift, before = (here - mean_2) * scale, (mean_1 - mean_2) * scale
    max_2 = np.maximum(shift + second.max(-1, keepdims=True), before + max_1)
    exps = np.exp(second - (max_2 - shift))
    want_factor = np.exp(max_1 - max_2 + before)
    close(y, exps, "float16", "SoftmaxFlashV3")
    close(factor[:, :1], want_factor, "float16", "exp max")
    close(mean[:, :1], mean_2, "float32", "mean")
    close(top[:, :1], max_2, "float32", "max")
    close(total[:, :1], want_factor * sum_1 + exps.sum(-1, keepdims=True), "float32", "sum")


def test_small_operands_are_found() -> None:
    """The statistics of 64 rows do not fit a tensor of 32 bytes."""
    x = random("float32", 64, 8)
    weights = blocks(x[0], x[1])
    case = Case(0, np.zeros(64 * 8 * 4 + 64, np.uint8), x, weights, n=8, repeat=64, extra=8, f=1e-3)
    run(FILE, [case], entry="vec_norms", expect=("TENSOR-SIZE",))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("LocalTensor<int32_t> t; RmsNormTiling g; RmsNorm<int32_t>(t, t, t, 0, g);", ("RmsNorm", "half, float")),
        (
            "LocalTensor<half> t; uint32_t s[2]; ReduceSum<half, Pattern::Reduce::AR>(t, t, s, true);",
            ("ReduceSum", "float"),
        ),
        (
            "LocalTensor<half> t; SoftMaxTiling g; SoftmaxGrad<half, false, true>(t, t, t, g);",
            ("SoftmaxGrad", "ND layout"),
        ),
    ],
)
def test_unsupported_forms_do_not_compile(tmp_path: object, call: str, words: tuple[str, ...]) -> None:
    source = tmp_path / "wrong.cpp"  # type: ignore[operator]
    head = '#include "kernel_tiling/kernel_tiling.h"\n#include "kernel_operator.h"\n'
    source.write_text(f'{head}extern "C" __global__ __aicore__ void wrong(GM_ADDR x) {{ {call} }}\n')
    with pytest.raises(AscendOpsError) as error:
        ascendops.twin.compile(source)
    for word in words:
        assert word in str(error.value), error.value
