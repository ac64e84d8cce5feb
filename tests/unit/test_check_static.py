"""What `ascendops check` finds out about a kernel before it compiles: slices, types, compile-time values; and how it reads the compiler."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ascendops.migrate.lowering import hints, hivm
from ascendops.migrate.lowering.plan import Options, plan
from ascendops.migrate.lowering.slices import Slicer

HEAD = "import triton\nimport triton.language as tl\nimport torch\n"


def kernel(text: str, **options: object):
    (pair,) = plan(Slicer().take("k.py", HEAD + text, None), Options("Ascend910B1", ("fp32",), **options))  # type: ignore[arg-type]
    return pair


def test_types_follow_use_annotation_and_launch() -> None:
    verdict, jobs = kernel("""
@triton.jit
def helper(where, rows):
    return tl.load(where + rows)

@triton.jit
def k(x, labels, out_ptr, keep, n, eps, flag: tl.int1, big: "i64", stride_row, bias, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(labels + rows, mask=rows < n)
    m = tl.load(keep + rows)
    v = helper(x, row * stride_row) + eps
    tl.store(out_ptr + rows, v, mask=m)

def run(x, labels, keep, out, bias=None):
    k[(1,)](x, labels, out, keep, x.shape[0], 1e-5, True, 1, x.stride(0), None, BLOCK=256)
""")
    want = {"x": "data", "labels": "index", "out_ptr": "data", "keep": "mask", "n": "int", "eps": "float", "flag": "bool", "big": "int64", "stride_row": "int", "bias": "int"}
    assert verdict.signature == want
    assert jobs[0].constants == {"BLOCK": 256, "bias": None}
    assert jobs[0].signature["labels"] == "*i64" and jobs[0].signature["keep"] == "*i1"


def test_innermost_strides_are_one_and_the_others_are_divisible() -> None:
    _, (job,) = kernel("""
@triton.jit
def k(x_ptr, y_ptr, sx0, sx1, stride_row, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y_ptr + i * stride_row, tl.load(x_ptr + i[:, None] * sx0 + i[None, :] * sx1))

def run(x, y):
    k[(1,)](x, y, x.stride(0), x.stride(1), y.stride(0), B=16)
""")
    assert job.constants == {"B": 16, "sx1": 1}
    assert set(job.divisible) == {"x_ptr", "y_ptr", "stride_row"}


def test_autotune_heuristics_launch_and_assumption_give_compile_time_values() -> None:
    verdict, jobs = kernel("""
def configs():
    return [triton.Config({"B": b, "W": w}, num_warps=4) for b in [32, 64] for w in (1, 2) if b * w > 32]

@triton.autotune(configs=configs(), key=["n"])
@triton.heuristics({"EVEN": lambda args: args["B"] % 64 == 0})
@triton.jit
def k(x_ptr, n, B: tl.constexpr, W: tl.constexpr, EVEN: tl.constexpr, KIND: tl.constexpr, T: tl.constexpr, SIZE: tl.constexpr):
    i = tl.arange(0, B) * W
    if KIND == "sum":
        tl.store(x_ptr + i, tl.load(x_ptr + i).to(T), mask=i < n)
    tl.store(x_ptr + tl.arange(0, SIZE), 1)

def run(x):
    size = triton.next_power_of_2(x.shape[-1])
    k[(1,)](x, x.numel(), SIZE=max(16, size // 4), T=tl.float16)
""")
    assert verdict.configurations == 3
    assert [(job.config["B"], job.config["W"], job.config["EVEN"]) for job in jobs] == [(32, 2, False), (64, 1, True), (64, 2, True)]
    assert all(job.config["KIND"] == "sum" and job.config["T"] == {"dtype": "float16"} for job in jobs)
    assert jobs[0].config["SIZE"] == 256 and "x.shape[-1]" in jobs[0].assumed
    assert "num_warps" not in jobs[0].config


def test_constants_from_the_command_line_win() -> None:
    _, (job,) = kernel("@triton.jit\ndef k(x_ptr, B: tl.constexpr):\n    tl.store(x_ptr + tl.arange(0, B), 1)\n", constants={"B": 8}, types={"x_ptr": "*i8"})
    assert job.constants == {"B": 8} and job.signature == {"x_ptr": "*i8"} and not job.assumed


def test_a_slice_has_no_host_code(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "util.py").write_text(HEAD + "N: tl.constexpr = 4\n@triton.jit\ndef twice(v):\n    return v * N\n")
    text = HEAD + """
import os
from .util import twice
WIDE = tl.constexpr(8)
HOST = os.environ["HOME"]
CALL = print("ran")
try:
    from triton.language.extra import libdevice
except ImportError:
    libdevice = None

@triton.jit
def k(x_ptr, B: tl.constexpr = 16):
    tl.store(x_ptr + tl.arange(0, B), twice(WIDE))

@triton.jit
def evil(x_ptr, y=open("/etc/passwd")):
    tl.store(x_ptr, 1)
"""
    slicer = Slicer()
    piece = slicer.take("pkg/k.py", text, tmp_path / "pkg" / "k.py")
    kept = {line for line, _, _ in piece.keep}
    source = text.split("\n")
    words = "\n".join(source[line - 1] for line in kept)
    assert "os.environ" not in words and "print" not in words and "import torch" not in words and "evil" not in words
    assert "WIDE" in words and "libdevice" in words and "def k" in "\n".join(source)
    assert piece.links == [("twice", slicer.slices[0].name, "twice")] and "twice" in piece.helpers


def test_kernels_and_helpers_are_told_apart() -> None:
    piece = Slicer().take("k.py", HEAD + """
@triton.jit
def add(a, b):
    return a + b
@triton.jit
def inner(x_ptr):
    tl.store(x_ptr, 1)
@triton.jit
def outer(x_ptr):
    inner(x_ptr)
@triton.jit
def other(x_ptr):
    tl.store(x_ptr, 2)
def run(x):
    f = outer if x.is_cuda else other
    f[(1,)](x)
""", None)  # fmt: skip
    assert set(piece.kernels) == {"outer", "other"} and set(piece.helpers) == {"add", "inner"}


OVERFLOW = """[ERROR] Cannot find hivmc under $PATH
[NOTE] Ub overflow detected; automatically set enable-auto-multi-buffer to false and retrying compilation.
loc("k.py":6:0): error: Failed to run BiShengHIR pipeline

loc("k.py":6:0): error: ub overflow, requires 2097152 bits while 1572864 bits available! (possible reason: tiling basic block is too large)
[ERROR] Failed to run BiShengIR pipeline
"""


def test_overflow_and_crashes_are_read() -> None:
    found = hints.read(OVERFLOW)
    assert (found.kind, found.memory, found.needed, found.available, found.file, found.line) == ("ub_overflow", "UB", 2097152, 1572864, "k.py", 6)
    assert found.message == "ub overflow, requires 2097152 bits while 1572864 bits available!"
    cube = hints.read(OVERFLOW.replace("ub overflow", "cc overflow"))
    assert (cube.kind, cube.memory) == ("l0c_overflow", "L0C") and "BLOCK_M" in cube.help
    ttir = 'tt.func public @k() {\n  %1 = arith.extf %0 : tensor<8xf32> to tensor<8xf64> loc(#loc7)\n}\n#loc7 = loc("k.py":11:40)\n'
    crash = "killed by signal 6\n[ERROR] Cannot find hivmc under $PATH\nLLVM ERROR: unsupported datatype for arith::ExtFOp to hfusion\nPLEASE submit a bug report\nStack dump:\n"
    found = hints.read(crash, ttir)
    assert (found.kind, found.file, found.line) == ("fp64", "k.py", 11)
    assert hints.read("killed by signal 11\nStack dump:\n").kind == "crash"
    assert hints.read("TIMEOUT after 60 s").kind == "timeout"


HIVM = """module attributes {x = #dlti<"NPU" : #hacc<#dlti.dl_entry<"CUBE_CORE_COUNT", 24 : i32>, #dlti.dl_entry<"VECTOR_CORE_COUNT", 48 : i32>, #dlti.dl_entry<"UB_SIZE", 1572864 : i32>, #dlti.dl_entry<"L0C_SIZE", 1048576 : i32>>>} {
  func.func private @vadd_1d_float(memref<?xf32>) attributes {hivm.func_core_type = #hivm.func_core_type<AIV>}
  func.func @add(%arg0: i64, %arg1: i32) attributes {hacc.entry, hivm.func_core_type = #hivm.func_core_type<AIV>} {
    %c4096_i64 = arith.constant 4096 : i64
    %c0_i64 = arith.constant 0 : i64
    %1 = hivm.hir.pointer_cast(%c0_i64) : memref<1024xf32, #hivm.address_space<ub>>
    %2 = hivm.hir.pointer_cast(%c4096_i64, %c0_i64) : memref<4x256xf16, #hivm.address_space<ub>>
    hivm.hir.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    hivm.hir.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    call @vadd_1d_float(%1) : (memref<1024xf32>) -> ()
  }
}
"""


def test_hivm_gives_memory_core_and_syncs() -> None:
    plan_ = hivm.read(HIVM)
    assert plan_.used == {"UB": 4096 * 8 + 1024 * 16} and plan_.available == {"UB": 1572864, "L0C": 1048576}
    assert (plan_.core, plan_.cores, plan_.syncs, plan_.calls) == ("AIV", 48, {"set_flag": 1, "wait_flag": 1}, {"vadd_1d_float": 1})


def test_the_worker_stands_alone() -> None:
    path = Path(hints.__file__).with_name("worker.py")
    names = {alias.name for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import) for alias in node.names}
    assert not any(name.startswith("ascendops") for name in names)


def test_undecided_switches_are_tried_both_ways() -> None:
    text = """
@triton.jit
def k(x_ptr, FLAT: tl.constexpr, KNOWN: tl.constexpr, B: tl.constexpr):
    if FLAT and KNOWN:
        tl.store(x_ptr + tl.arange(0, B), 1)

def run(x, dims):
    wide, block = (64, 32) if x.is_cuda else (4096, 2048)
    k[(1,)](x, FLAT=len(dims) == 1, KNOWN=True, B=block)
"""
    _, jobs = kernel(text)
    assert [(job.config["FLAT"], job.config["KNOWN"], job.config["B"]) for job in jobs] == [(False, True, 32), (True, True, 32)]
    _, jobs = kernel(text, flags=False)
    assert len(jobs) == 1


def test_an_alternative_to_a_vendors_library_is_taken() -> None:
    text = HEAD + """
if NEW:
    try:
        from triton.language.extra.libdevice import rsqrt
    except ModuleNotFoundError:
        from triton.language.extra.cuda.libdevice import rsqrt
else:
    from triton.language.math import rsqrt
from triton.language.extra.libdevice import tanh

@triton.jit
def k(x_ptr):
    tl.store(x_ptr, rsqrt(tl.load(x_ptr)))

@triton.jit
def t(x_ptr):
    tl.store(x_ptr, tanh(tl.load(x_ptr)))
"""
    piece = Slicer().take("k.py", text, None)
    words = "\n".join(text.split("\n")[line - 1] for line, _, _ in piece.keep)
    assert "from triton.language.math import rsqrt" in words and "libdevice import rsqrt" not in words and "libdevice import tanh" in words
    notes = {verdict.kernel: {note.id for note in verdict.notes} for verdict, _ in plan(piece, Options("Ascend910B1", ("fp32",)))}
    assert notes == {"k": set(), "t": {"CHK-LIBDEVICE"}}
    assert hints.read("TypeError: cannot convert None of type <class 'NoneType'> to tensor").kind == "libdevice"


@pytest.mark.parametrize(
    "body",
    ["tl.core.os.system('true')", "getattr(tl, 'core')", "x_ptr.__class__", "open('/tmp/x')", "tl.core.warnings.warn('x')", "triton.runtime.driver.active", "exec('1')", "import os"],
)
def test_kernels_that_reach_out_of_the_language_are_refused(body: str) -> None:
    piece = Slicer().take("k.py", f"{HEAD}@triton.jit\ndef k(x_ptr):\n    {body}\n", None)
    assert set(piece.refused) == {"k"} and all("def k" not in HEAD.split("\n")[0] for _ in piece.keep)
    assert 4 not in {line for line, _, _ in piece.keep} and 5 not in {line for line, _, _ in piece.keep}
    good = Slicer().take("k.py", f"{HEAD}C = tl.core.os.system('true')\nD = tl.constexpr(4)\n@triton.jit\ndef k(x_ptr):\n    tl.store(x_ptr, tl.math.exp(tl.load(x_ptr)).to(x_ptr.dtype.element_ty) + float('inf'))\n", None)
    assert not good.refused and 4 not in {line for line, _, _ in good.keep} and 5 in {line for line, _, _ in good.keep}
