"""`ascendops check` with the real compiler: runs where `ascendops toolchain install triton-ascend` was run, and is skipped elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from ascendops.cli.check import command
from ascendops.cli.migrate import command as migrate_command
from ascendops.migrate.lowering.plan import Options
from ascendops.migrate.lowering.run import check
from ascendops.migrate.lowering.verdict import Verdict
from ascendops.resources import cuda_reference
from ascendops.toolchain.private import find

TOOLCHAIN = find("triton-ascend")
pytestmark = pytest.mark.skipif(TOOLCHAIN is None, reason="needs: ascendops toolchain install triton-ascend")

HEAD = "import torch\nimport triton\nimport triton.language as tl\nfrom triton.tools.tensor_descriptor import TensorDescriptor\n\n"
LOAD = "    o = tl.program_id(0) * B + tl.arange(0, B)\n    x = tl.load(x_ptr + o, mask=o < n)\n"
STORE = "    tl.store(y_ptr + o, y, mask=o < n)\n"
SQUARE = "    i = tl.arange(0, B)\n    at = i[:, None] * B + i[None, :]\n    a = tl.load(x_ptr + at)\n"


def flat(body: str, decorators: str = "", launch: str = "") -> str:
    return f"{HEAD}{decorators}@triton.jit\ndef k(x_ptr, y_ptr, n, B: tl.constexpr):\n{LOAD}{body}{STORE}{launch}"


def square(expression: str) -> str:
    return f"{HEAD}@triton.jit\ndef k(x_ptr, y_ptr, B: tl.constexpr):\n{SQUARE}    tl.store(y_ptr + at, {expression})\n"


MATMUL = (
    HEAD
    + """@triton.jit
def k(a_ptr, b_ptr, c_ptr, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    m, n, kk = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    a = a_ptr + m[:, None] * stride_am + kk[None, :] * stride_ak
    b = b_ptr + kk[:, None] * stride_bk + n[None, :] * stride_bn
    acc = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, BK):
        acc += tl.dot(tl.load(a), tl.load(b))
        a += BK * stride_ak
        b += BK * stride_bk
    tl.store(c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn, acc)

def run(a, b, c):
    k[(1,)](a, b, c, a.shape[1], a.stride(0), a.stride(1), b.stride(0), b.stride(1), c.stride(0), c.stride(1), M=SIZE, N=SIZE, BK=64)
"""
)

ALONG_LINES = (
    HEAD
    + """@triton.jit
def k(x_ptr, y_ptr, results, length, inner, RESULTS: tl.constexpr, LANES: tl.constexpr):
    result = tl.program_id(0).to(tl.int64) * RESULTS + tl.arange(0, RESULTS)
    valid = result < results
    base = result // inner * length * inner + result % inner
    lane = tl.arange(0, LANES).to(tl.int64)
    best = tl.full((RESULTS, LANES), float("-inf"), tl.float32)
    for start in range(0, length, LANES):
        line = start + lane
        inside = valid[:, None] & (line[None, :] < length)
        best = tl.maximum(best, tl.load(x_ptr + base[:, None] + line[None, :] * inner, mask=inside, other=float("-inf")))
    tl.store(y_ptr + result, tl.max(best, axis=1), mask=valid)

def run(x, y):
    k[(1,)](x, y, y.numel(), x.shape[1], x.shape[2], RESULTS=4, LANES=1024)
"""
)


def verdict(text: str, dtypes: tuple[str, ...] = ("fp32",)) -> Verdict:
    assert TOOLCHAIN is not None
    (found,), skipped = check([("k.py", text, None)], TOOLCHAIN, Options("Ascend910B2", dtypes), limits=False)
    assert not skipped
    return found


FAILURES = {
    "ub_overflow": (flat("    y = x + tl.load(y_ptr + o, mask=o < n)\n", launch="def run(x, y):\n    k[(1,)](x, y, 9, B=32768)\n"), "def k"),
    "l0c_overflow": (MATMUL.replace("SIZE", "256"), "def k"),
    "fp64": (flat("    y = x.to(tl.float64) * 2\n"), "y = x"),
    "fp8": (flat("    y = x.to(tl.float8e5).to(tl.float32)\n"), "y = x"),
    "break": (flat("    y = x\n    for i in range(0, n):\n        if i > 7:\n            break\n        y += x\n"), "break"),
    "tf32": (square('tl.dot(a, a, input_precision="tf32")'), "tf32"),
    "descriptor": (HEAD + "@triton.jit\ndef k(x_desc, y_desc, B: tl.constexpr):\n    y_desc.store([0, 0], x_desc.load([0, 0]))\n", "x_desc.load"),
    "missing_api": (flat("    y = tl.frobnicate(x)\n"), "frobnicate"),
    "constexpr_global": (flat("    y = x * LIMIT\n").replace(HEAD, HEAD + "LIMIT = 3.0\n"), "LIMIT"),
    "unsigned": (flat("    y = x.to(tl.uint32) // 3\n"), "uint32"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_each_failing_kind_is_named_with_its_line(kind: str) -> None:
    text, words = FAILURES[kind]
    found = verdict(text)
    (attempt,) = found.attempts
    assert (found.status, attempt.kind) == ("fails", kind), attempt
    lines = [number for number, line in enumerate(text.split("\n"), 1) if words in line and "LIMIT =" not in line]
    assert abs(attempt.line - lines[0]) <= (1 if words == "def k" else 0), (attempt.line, lines)  # overflows point at the function
    assert attempt.message and attempt.help


def test_overflow_says_what_is_needed_and_what_fits() -> None:
    (attempt,) = verdict(FAILURES["ub_overflow"][0]).attempts
    assert (attempt.needs, attempt.available) == ({"UB": 2097152}, {"UB": 1572864}) and "B=16384" in attempt.fits
    (attempt,) = verdict(FAILURES["l0c_overflow"][0]).attempts
    assert (attempt.needs, attempt.available) == ({"L0C": 2097152}, {"L0C": 1048576}) and "=128" in attempt.fits


def test_strides_of_one_are_specialised() -> None:
    found = verdict(MATMUL.replace("SIZE", "128"), ("fp16",))
    assert found.status == "lowers"
    plan = found.attempts[0].plan
    assert plan is not None and plan.core in ("AIC", "MIX") and plan.available["L0C"] == 1048576 and plan.used["L0C"] == 128 * 128 * 32
    assert plan.syncs and plan.cores == 24


def test_a_kernel_that_lowers_only_with_unit_strides_says_so() -> None:
    found = verdict(ALONG_LINES)
    general, special = found.attempts
    assert (general.status, general.kind, special.status, special.ones) == ("fails", "ub_overflow", "lowers", ("inner",))
    assert found.status == "lowers" and found.open and "CHK-STRIDE" in {note.id for note in found.notes}


@pytest.mark.parametrize(
    ("body", "id"),
    [
        ('    y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)\n', "CHK-PTX"),
        ('    tl.device_assert(x > 0, "positive")\n    y = x\n', "CHK-DEVICE-ASSERT"),
    ],
)
def test_what_the_compiler_wrongly_accepts_is_a_finding(body: str, id: str) -> None:
    found = verdict(flat(body))
    assert found.status == "lowers" and found.open and id in {note.id for note in found.notes}
    good = verdict(flat("    y = x * 2\n"))
    assert good.status == "lowers" and not good.open


def test_unmodified_autotune_and_heuristics() -> None:
    decorators = '@triton.autotune(configs=[triton.Config({"B": b}, num_warps=4) for b in (1024, 65536)], key=["n"])\n@triton.heuristics({"E": lambda args: args["B"] > 2048})\n'
    text = flat("    y = x\n    if E:\n        y += 1\n", decorators).replace("B: tl.constexpr)", "B: tl.constexpr, E: tl.constexpr)")
    found = verdict(text)
    assert [(attempt.status, attempt.config) for attempt in found.attempts] == [("lowers", {"B": 1024, "E": False}), ("fails", {"B": 65536, "E": True})]
    assert found.status == "lowers" and not found.open and "CHK-AUTOTUNE-IMPORT" in {note.id for note in found.notes}


def test_host_values_decide_nothing() -> None:
    text = flat("    y = x\n    if HOST > 8:\n        y += 1\n").replace(HEAD, HEAD + "HOST = torch.cuda.get_device_capability()[0]\n")
    found = verdict(text)
    assert (found.status, found.attempts[0].kind) == ("not_checked", "host_value") and "HOST" in found.attempts[0].message


def test_the_command_and_the_join(tmp_path: Path) -> None:
    path = tmp_path / "two.py"
    path.write_text(flat("    y = x + 1\n") + FAILURES["break"][0].partition("@triton.jit")[2].replace("def k(", "@triton.jit\ndef broken("))
    done = CliRunner().invoke(command, [str(path), "--dtype", "fp32", "--constexpr", "B=256", "--json"], standalone_mode=False)
    result = json.loads(done.stdout)
    assert done.return_value == 1
    assert {row["kernel"]: row["status"] for row in result["kernels"]} == {"k": "lowers", "broken": "fails"}
    good = CliRunner().invoke(command, [str(path), "-k", "k", "--dtype", "fp32"], standalone_mode=False)
    assert good.return_value == 0 and "hivmc" in good.stdout
    joined = CliRunner().invoke(migrate_command, [str(path), "--compile-triton", "--json"], standalone_mode=False)
    findings = {row["construct"]: row for row in json.loads(joined.stdout)["findings"]}
    assert "it compiles for Ascend910B1" in findings["@triton.jit kernel k"]["todo"]
    assert "does not compile (break, line" in findings["@triton.jit kernel broken"]["todo"]


@pytest.mark.parametrize("name", ["add", "softmax", "gelu", "sum", "amax"])
def test_references_lower(name: str) -> None:
    path = cuda_reference() / name / f"triton_{name}.py"
    assert TOOLCHAIN is not None
    found, _ = check([(path.name, path.read_text(), path)], TOOLCHAIN, Options("Ascend910B1", ("fp16",)), limits=False)
    assert found and all(item.status == "lowers" and not item.open for item in found), found


def test_ascend_950_has_its_own_path_and_sizes() -> None:
    assert TOOLCHAIN is not None
    good = flat("    y = x + 1\n", launch="def run(x, y):\n    k[(1,)](x, y, 9, B=2048)\n")
    found, _ = check([("k.py", good, None)], TOOLCHAIN, Options("Ascend950PR_9599", ("fp32",)), limits=False)
    (attempt,) = found[0].attempts
    assert attempt.plan is not None and attempt.plan.available["UB"] == 2031616 and attempt.plan.used["UB"] >= 2048 * 32
    found, _ = check([("k.py", good.replace("2048", "65536"), None)], TOOLCHAIN, Options("Ascend950PR_9599", ("fp32",)), limits=False)
    assert (found[0].attempts[0].kind, found[0].attempts[0].available) == ("ub_overflow", {"UB": 2031616})


def test_guessed_types_that_do_not_fit_decide_nothing_and_can_be_given() -> None:
    text = square("tl.dot(a, tl.load(y_ptr + at).to(tl.float32))")
    found = verdict(text, ("fp16",))
    assert (found.status, found.attempts[0].kind) == ("not_checked", "argument_types") and "--arg" in found.attempts[0].help
    assert TOOLCHAIN is not None
    given, _ = check([("k.py", text, None)], TOOLCHAIN, Options("Ascend910B2", ("fp16",), types={"x_ptr": "*fp32"}), limits=False)
    assert given[0].status == "lowers"
