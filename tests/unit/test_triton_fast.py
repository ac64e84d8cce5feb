"""The sped-up interpreter gives the right values, and the bits that it gives without any speed-up. Each check runs in its own process."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

import ascendops

START = """
import hashlib
import os
os.environ["TRITON_INTERPRET"] = "1"
import torch
import triton
import triton.language as tl
from triton.runtime import interpreter
from ascendops.testing import triton_fast, triton_interp
"""

KERNELS = """
triton_interp.activate()
print("left out:", triton_fast.left_out)
torch.manual_seed(0)
DTYPES = {"float32": tl.float32, "float16": tl.float16, "bfloat16": tl.bfloat16, "float64": tl.float64, "int8": tl.int8, "int16": tl.int16, "int32": tl.int32, "int64": tl.int64,
          "uint8": tl.uint8, "bool": tl.int1}

def show(what, *tensors):
    for tensor in tensors:
        print(what, tensor.dtype, hashlib.sha1(tensor.contiguous().view(torch.uint8).numpy().tobytes()).hexdigest()[:12])

@triton.jit
def inner(x, N: tl.constexpr):
    return tl.sum(x, axis=0) + tl.zeros((N,), tl.float32)

@triton.jit
def outer(x, N: tl.constexpr):
    return inner(x * 2, N) + inner(x, N) * tl.cdiv(N, 3)

@triton.jit
def nested(x, o, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    tl.store(o + j, outer(tl.load(x + i[:, None] * N + j[None, :]), N))

x, o = torch.randint(-9, 9, (8, 16)).float(), torch.empty(16)
for _ in range(2):
    nested[(1,)](x, o, M=8, N=16)
    assert torch.equal(o, x.sum(0) * (2 + 6)), o

@triton.jit
def weigh(a, b):
    return a * 0.5 + b

@triton.jit
def larger(a, i, b, j):
    take = (b > a) | ((b == a) & (j < i))
    return tl.where(take, b, a), tl.where(take, j, i)

@triton.jit
def branch(a, b):
    if a > b:
        r = a - b
    else:
        r = b
    return r

@triton.jit
def fold(x, o, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, KIND: tl.constexpr, KEEP: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + j[None, :])
    if KIND == 0:
        r = tl.reduce(a, AXIS, weigh, keep_dims=KEEP)
    elif KIND == 1:
        r = tl.reduce((a, i[:, None] * N + j[None, :] + 0 * a.to(tl.int32)), AXIS, larger)[1]
    elif KIND == 2:
        r = tl.reduce(a, AXIS, branch)
    if KEEP:
        tl.store(o + (i[:, None] if AXIS == 1 else j[None, :]), r)
    else:
        tl.store(o + (i if AXIS == 1 else j), r)

@triton.jit
def scan(x, o, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr, KIND: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    p = i[:, None] * N + j[None, :]
    a = tl.load(x + p)
    if KIND == 0:
        r = tl.associative_scan(a, AXIS, weigh, reverse=REVERSE)
    elif KIND == 1:
        r = tl.associative_scan((a, p), AXIS, larger, reverse=REVERSE)[1]
    elif KIND == 2:
        r = tl.associative_scan(a, AXIS, branch, reverse=REVERSE)
    else:
        r = tl.cumsum(a, AXIS, reverse=REVERSE)
    tl.store(o + p, r)

def by_hand(x, axis, kind, reverse=False):
    rows = list((x.flip(axis) if reverse else x).unbind(axis))
    where = torch.arange(x.numel(), dtype=torch.int32).view(x.shape)
    places = list((where.flip(axis) if reverse else where).unbind(axis))
    a, i = rows[0], places[0]
    steps = [i if kind == 1 else a]
    for b, j in zip(rows[1:], places[1:]):
        if kind == 0: a = a * 0.5 + b
        elif kind == 2: a = torch.where(a > b, a - b, b)
        elif kind == 3: a = a + b
        else:
            take = (b > a) | ((b == a) & (j < i))
            a, i = torch.where(take, b, a), torch.where(take, j, i)
        steps.append(i if kind == 1 else a)
    steps = torch.stack(steps, axis)
    return steps.flip(axis) if reverse else steps

for kind, dtypes in ((0, (torch.float32, torch.float64, torch.bfloat16, torch.float16)), (1, (torch.float32, torch.int32, torch.bfloat16)), (2, (torch.float32, torch.int32)), (3, (torch.float32, torch.int32))):
    for dtype in dtypes:
        x = (torch.randn(4, 8) * 9).round().to(dtype)
        for axis in (0, 1):
            for reverse in (False, True):
                want = by_hand(x, axis, kind, reverse)
                out = torch.empty_like(want)
                scan[(1,)](x, out, M=4, N=8, AXIS=axis, REVERSE=reverse, KIND=kind)
                assert torch.equal(out, want), ("scan", kind, dtype, axis, reverse, out, want)
                show(("scan", kind, axis, reverse), out)
            if kind < 3:
                want = by_hand(x, axis, kind).select(axis, -1).contiguous()
                for keep in ((False, True) if kind == 0 else (False,)):
                    out = torch.empty_like(want)
                    fold[(1,)](x, out, M=4, N=8, AXIS=axis, KIND=kind, KEEP=keep)
                    assert torch.equal(out, want), ("fold", kind, dtype, axis, keep, out, want)
                    show(("fold", kind, axis, keep), out)

@triton.jit
def flat(x, o, B: tl.constexpr):
    tl.store(o, tl.reduce(tl.load(x + tl.arange(0, B)[:, None] * 4 + tl.arange(0, 4)[None, :]), None, weigh))

x, o = torch.randn(8, 4), torch.empty(1)
flat[(1,)](x, o, B=8)
assert torch.equal(o, by_hand(x.reshape(-1), 0, 0)[-1:]), o

@triton.jit
def move(x, to, o, n, B: tl.constexpr, OTHER: tl.constexpr):
    i = tl.arange(0, B)
    inside = i < n
    place = tl.load(to + i, mask=inside, other=0)
    if OTHER:
        value = tl.load(x + place, mask=inside & (i % 3 != 1), other=1)
    else:
        value = tl.load(x + place, mask=inside)
    tl.store(o + place, value, mask=inside)

for size in (4, 64):
    for n in (0, size // 2, size):
        for name in DTYPES:
            dtype = getattr(torch, name)
            x = (torch.randn(size) * 20).to(dtype)
            for to in (torch.randperm(size), torch.arange(size), torch.arange(size).flip(0), torch.zeros(size, dtype=torch.int64)):
                for other in (False, True):
                    out, want = torch.zeros_like(x), torch.zeros_like(x)
                    move[(1,)](x, to, out, n, B=size, OTHER=other)
                    for i in range(n):
                        want[to[i]] = torch.tensor(1).to(dtype) if other and i % 3 == 1 else x[to[i]]
                    assert torch.equal(out, want), (size, n, name, to, other, out, want)
                    show(("move", size, n, other), out)

@triton.jit
def mixed(x, y, o, s, T: tl.constexpr, OP: tl.constexpr):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    a, b = tl.load(x + i)[:, None], tl.load(y + j)[None, :]
    if OP == 0: r = a + b * s
    elif OP == 1: r = tl.where(a > b, a, 2) - b
    elif OP == 2: r = -(a * 3) + tl.maximum(a, b)
    elif OP == 3: r = tl.full((8, 16), 3, T) * a + tl.abs(b)
    elif OP == 4: r = tl.broadcast_to(tl.sum(a * b, axis=1)[:, None], (8, 16))
    elif OP == 5: r = (a > 1) & (b < 2)
    elif OP == 6: r = tl.trans(tl.trans(a + b) * 2)
    elif OP == 7: r = tl.reshape(tl.sum(a + b, axis=0), (1, 16)) + a * 0
    tl.store(o + i[:, None] * 16 + j[None, :], r.to(T))

def expected(a, b, s, op):
    a, b = a[:, None], b[None, :]
    return [a + b * s, torch.where(a > b, a, 2) - b, -(a * 3) + torch.maximum(a, b), 3 * a + b.abs(), (a * b).sum(1, keepdim=True).expand(8, 16), (a > 1) & (b < 2), (a + b) * 2,
            (a + b).sum(0, keepdim=True) + a * 0][op]

for name, kind in DTYPES.items():
    if name in ("bool", "uint8"):
        continue
    dtype = getattr(torch, name)
    a, b = torch.randint(-3, 4, (8,)).to(dtype), torch.randint(-3, 4, (16,)).to(dtype)
    for op in range(8):
        out = torch.full((8, 16), 77, dtype=dtype)
        mixed[(1,)](a, b, out, 2, T=kind, OP=op)
        assert torch.equal(out, expected(a, b, 2, op).to(dtype)), (name, op, out)
        show(("mixed", op), out)
        wide = torch.full((8, 16), 77.0, dtype=torch.float64)
        mixed[(1,)](a, b.double(), wide, 3, T=tl.float64, OP=op)
        assert torch.equal(wide, expected(a.double(), b.double(), 3, op).double()), (name, op, wide)

@triton.jit
def wraps(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i) * 65536 + tl.load(x + i))

x, o = torch.full((64,), 2**20 + 3, dtype=torch.int32), torch.empty(64, dtype=torch.int32)
wraps[(1,)](x, o, B=64)
assert torch.equal(o, x * 65536 + x)

@triton.jit
def in_place(x, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
    tl.store(x + i, a + 1)
    tl.store(x + i, tl.load(x + i) * 10 + a)

x = torch.arange(64.0)
in_place[(1,)](x, B=64)
assert torch.equal(x, (torch.arange(64.0) + 1) * 10 + torch.arange(64.0)), x

from triton.runtime.jit import mangle_type

converted = interpreter._implicit_cvt
for kind in DTYPES:
    tensor = torch.ones(3, dtype=getattr(torch, kind))
    assert converted(tensor).type == tl.str_to_ty(mangle_type(tensor), None), kind
    assert converted(tensor).handle.data == tensor.data_ptr()
for number in (0, 1, 16, -(2**31), 2**31 - 1, 2**31, 2**40):
    assert converted(number).type == tl.str_to_ty(mangle_type(number), None), number
    assert converted(number).handle.data == number

names = list(DTYPES.values())
assert all((a == b) == (a is b) and (a != b) == (a is not b) for a in names for b in names)
assert tl.dtype("fp32") == tl.float32 and tl.float32 == tl.constexpr(tl.float32) and tl.float32 != "fp32" and len({tl.dtype("fp32"), tl.float32}) == 1
pointer = tl.pointer_type(tl.float32)
assert pointer == tl.pointer_type(tl.float32) and pointer != tl.pointer_type(tl.float16) and pointer != tl.float32 and tl.float32 != pointer
assert tl.block_type(tl.float32, [4, 8]) == tl.block_type(tl.float32, [tl.constexpr(4), 8]) != tl.block_type(tl.float32, [8, 4])
assert tl.block_type(pointer, [4]) != tl.block_type(tl.pointer_type(tl.int32), [4]) and tl.block_type(pointer, [4]).element_ty == pointer
for wrong in ([3], [2**21], [2.0]):
    try:
        tl.block_type(tl.float32, wrong)
    except (ValueError, TypeError):
        continue
    raise AssertionError(wrong)
for kind in names:
    kinds = [kind.is_int(), kind.is_floating(), kind.is_int_signed(), kind.is_int_unsigned()]
    text = str(kind)
    assert kinds == ["int" in text, text[:2] in ("fp", "bf"), text in ("int8", "int16", "int32", "int64"), text == "int1" or text.startswith("uint")], (text, kinds)
print("all right")
"""

SLOW = "triton_fast.apply = lambda interpreter: None\n"


def run(code: str, tmp_path: Path) -> str:
    script = tmp_path / "script.py"
    script.write_text(START + code)
    root = str(Path(ascendops.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, check=False, env={"PYTHONPATH": root, "PATH": "/usr/bin"}
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def _triton() -> Version:
    return Version(importlib.metadata.version("triton")) if importlib.util.find_spec("triton") else Version("0")


pytestmark = pytest.mark.skipif(_triton() < Version("3.7"), reason="needs triton 3.7 or later")


def test_values_are_right_and_the_bits_are_those_without_speed_ups(tmp_path: Path) -> None:
    fast, slow = run(KERNELS, tmp_path), run(SLOW + KERNELS, tmp_path)
    assert "left out: []" in fast and fast.endswith("all right\n")
    assert fast.count("scan") > 30 and fast.splitlines()[1:] == slow.splitlines()[1:]


def test_a_version_without_an_internal_runs_without_that_speed_up(tmp_path: Path) -> None:
    hide = """
lacking = [(interpreter.ReduceOps, "unravel"), (tl.core.dtype, "FP_TYPES"), (type(interpreter.interpreter_semantic), "binary_op_sanitize_overflow_impl")]
kept = [(holder, name, getattr(holder, name)) for holder, name in lacking]
for holder, name in lacking:
    delattr(holder, name)
triton_fast.apply(interpreter)
for holder, name, value in kept:
    setattr(holder, name, value)
assert triton_fast.left_out == ["dtypes", "unchecked_overflow", "whole_slices"], triton_fast.left_out
triton_fast.apply = lambda interpreter: None
"""
    assert run(hide + KERNELS, tmp_path).endswith("all right\n")
