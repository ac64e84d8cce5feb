"""Triton's interpreter with the bfloat16 repair: bit for bit what torch computes. Each check runs in its own process."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

from ascendops import resources
from ascendops.worker import Worker

KERNELS = """
import torch
from ascendops.testing import triton_interp
triton_interp.activate()
triton_interp.activate()
import triton
import triton.language as tl

N = 512

@triton.jit
def binary(x, y, o, OP: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    if OP == 0: r = a + b
    elif OP == 1: r = a * b
    elif OP == 2: r = a - b
    elif OP == 3: r = a / b
    elif OP == 4: r = tl.maximum(a, b)
    elif OP == 5: r = tl.where(a > b, a, b)
    elif OP == 6: r = -a
    elif OP == 7: r = tl.abs(a)
    elif OP == 8: r = a * b + 1
    elif OP == 9: r = tl.exp(a.to(tl.float32)).to(tl.bfloat16)
    tl.store(o + i, r)

@triton.jit
def cast(x, o, T: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i).to(T))

@triton.jit
def store_narrows(x, o, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(o + i, tl.load(x + i))

@triton.jit
def reduce(x, o, OP: tl.constexpr, B: tl.constexpr):
    a = tl.load(x + tl.arange(0, B))
    r = tl.sum(a) if OP == 0 else tl.max(a) if OP == 1 else tl.min(a)
    tl.store(o, r)

@triton.jit
def dot(a, b, c, B: tl.constexpr):
    i = tl.arange(0, B)
    p = i[:, None] * B + i[None, :]
    acc = tl.dot(tl.load(a + p), tl.load(b + p), tl.zeros((B, B), tl.float32))
    tl.store(c + p, acc.to(tl.bfloat16))

@triton.autotune(configs=[triton.Config({"B": 256}), triton.Config({"B": 64})], key=["n"])
@triton.jit
def tuned(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

torch.manual_seed(0)
x, y = torch.randn(N).bfloat16(), torch.randn(N).bfloat16()
x[:4] = torch.tensor([float("inf"), float("-inf"), -0.0, 3e38])
want = [x + y, x * y, x - y, x / y, torch.maximum(x, y), torch.maximum(x, y), -x, x.abs(), x * y + 1,
        torch.exp(x.float()).bfloat16()]

def same(a, b, what):
    assert a.dtype == b.dtype and torch.equal(a.view(torch.int16), b.view(torch.int16)), (what, (a != b).sum())

for op, expected in enumerate(want):
    out = torch.empty_like(x)
    binary[(2,)](x, y, out, OP=op, B=256)
    same(out, expected, op)

kinds = [(torch.float32, tl.float32), (torch.float16, tl.float16), (torch.int32, tl.int32), (torch.float64, tl.float64)]
values = torch.randn(N, dtype=torch.float64) * 1000
values[0] = 1 + 2.0**-8 + 2.0**-40  # just above a tie in bfloat16: rounding through float32 would lose that
for kind, name in kinds:
    source, out = values.to(kind), torch.empty(N, dtype=torch.bfloat16)
    cast[(1,)](source, out, T=tl.bfloat16, B=N)
    expected = source.to(torch.bfloat16)
    if kind == torch.float64:
        assert out[0] == 1 + 2.0**-7
        out[0] = expected[0]
    same(out, expected, kind)
    back = torch.empty(N, dtype=kind)
    cast[(1,)](x[4:].repeat(2)[:N].contiguous(), back, T=name, B=N)
    assert torch.equal(back, x[4:].repeat(2)[:N].to(kind)), kind

special = torch.tensor([float("nan"), float("inf"), -0.0, 3.4e38] * 4)
out = torch.empty(16, dtype=torch.bfloat16)
store_narrows[(1,)](special, out, B=16)
assert out[0].isnan() and out[1] == float("inf") and out[2].signbit() and out[3] == float("inf")

for op, expected in enumerate([x[4:260].float().sum().bfloat16(), x[4:260].max(), x[4:260].min()]):
    out = torch.zeros(1, dtype=torch.bfloat16)
    reduce[(1,)](x[4:260].contiguous(), out, OP=op, B=256)
    assert abs(float(out) - float(expected)) <= 2.0**-8 * abs(float(expected)), op

a, b = torch.randn(32, 32).bfloat16(), torch.randn(32, 32).bfloat16()
out = torch.empty_like(a)
dot[(1,)](a, b, out, B=32)
assert float((out.double() - a.double() @ b.double()).abs().max()) < 0.07

out = torch.empty_like(x)
tuned[lambda meta: (triton.cdiv(N, meta["B"]),)](x, out, N)
same(out, x * 2, "autotune")
print("all right")
"""


def python(code: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(code)
    import ascendops

    root = str(Path(ascendops.__file__).parent.parent)
    return subprocess.run(
        [sys.executable, "-W", "ignore", str(script)], capture_output=True, text=True, check=False, env={"PYTHONPATH": root, "PATH": "/usr/bin"}
    )  # fmt: skip



def _triton() -> Version:
    return Version(importlib.metadata.version("triton")) if importlib.util.find_spec("triton") else Version("0")


needs_triton = pytest.mark.skipif(_triton() < Version("3.7"), reason="needs triton 3.7 or later")


@needs_triton
def test_bfloat16_is_what_torch_computes(tmp_path: Path) -> None:
    done = python(KERNELS, tmp_path)
    assert done.returncode == 0 and "all right" in done.stdout, done.stderr[-2000:]


@needs_triton
def test_without_the_repair_it_is_not(tmp_path: Path) -> None:
    broken = KERNELS.replace("triton_interp.activate()\n", "", 2).replace(
        "import torch\n", 'import os\nos.environ["TRITON_INTERPRET"] = "1"\nimport torch\n', 1
    )
    done = python(broken, tmp_path)
    assert done.returncode != 0 and "AssertionError: (0," in done.stderr, "the test above cannot fail"


@needs_triton
def test_wrong_order_and_unknown_versions_are_refused(tmp_path: Path) -> None:
    late = python("import triton\nfrom ascendops.testing import triton_interp\ntriton_interp.activate()\n", tmp_path)
    assert "ASC307" in late.stderr and "imported before the interpreter" in late.stderr
    old = "import os\nos.environ['TRITON_INTERPRET'] = '1'\nimport triton\ntriton.__version__ = '3.2.0'\n"
    done = python(old + "from ascendops.testing import triton_interp\ntriton_interp.activate()\n", tmp_path)
    assert "triton 3.2.0 is not supported" in done.stderr
    changed = old.replace(
        "triton.__version__ = '3.2.0'",
        "from triton.runtime.interpreter import InterpreterBuilder as B\ndel B.cast_impl",
    )
    done = python(changed + "from ascendops.testing import triton_interp\ntriton_interp.activate()\n", tmp_path)
    assert "it lacks cast_impl" in done.stderr


SCATTER_ADD = """
import torch

from ascendops.loading import load_file
from ascendops.testing import triton_interp

triton_interp.activate()


def both(path):
    scatter_add = load_file(path).scatter_add
    torch.manual_seed(0)
    for dtype, index in ((torch.float32, torch.int64), (torch.bfloat16, torch.int32), (torch.int32, torch.int64)):
        for n, count in ((17, 40), (1025, 9), (7, 0), (3, 1100)):
            x, src = ((torch.randn(3, size) * 5).to(dtype) for size in (n, count))
            indices = torch.randint(n, (3, count), dtype=index)
            want = x.double().scatter_add(-1, indices.long(), src.double())
            torch.use_deterministic_algorithms(False)
            by_atomics = scatter_add(x, indices, src)
            torch.use_deterministic_algorithms(True)
            in_order = scatter_add(x, indices, src)
            for out in (by_atomics, in_order):
                torch.testing.assert_close(out.double(), want, rtol={torch.float32: 1e-5, torch.bfloat16: 4e-3}.get(dtype, 0), atol=1e-4 if dtype.is_floating_point else 0)
    return "done"
"""


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="needs triton")
def test_scatter_add_adds_by_atomics_and_in_order(tmp_path: Path) -> None:
    (tmp_path / "scatter.py").write_text(SCATTER_ADD)
    with Worker(f"{tmp_path / 'scatter.py'}:both") as worker:
        assert worker.call(resources.cuda_reference() / "scatter_add" / "triton_scatter_add.py") == "done"
