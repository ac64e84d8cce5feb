"""The pytest plugin and `ascendops.testing.run`, with a Python function in the place of the built kernel."""

from __future__ import annotations

import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from ascendops import report, testing
from ascendops.errors import NothingSelected, SpecError, UnknownReference

pytest_plugins = ["pytester"]

OP_TOML = """
edition = 1
name = "twice"
schema = "twice(Tensor x, float scale=2.0) -> Tensor y"
doc = "y = scale * exp(x)"
units = ["ascend910b"]

[tensor.x]
dims = ["*batch", "n"]
dtype = ["float32", "float16", "bfloat16"]

[tensor.y]
dims = "same(x)"
dtype = ["float32", "float16", "bfloat16"]

[[tiling_key]]
key = 1
name = "small"
why = "one block"

[[tiling_key]]
key = 2
name = "large"
why = "several blocks"

[[case]]
name = "tail"
shapes = { x = [3, 33] }
tiling_key = "small"

[[case]]
name = "big"
shapes = { x = [16, 128] }
tiling_key = "large"
attrs = { scale = 0.75 }

[[case]]
name = "view"
shapes = { x = [8, 40] }
layout = "transposed"

[[case]]
name = "empty"
shapes = { x = [0, 8] }

[[case]]
name = "special"
shapes = { x = [40, 64] }
values = "special"
dtype = ["float32", "float16"]

[reference]
triton = "reference/triton_twice.py:twice"
"""

GOLDEN = """
import torch

def golden(x, *, scale):
    return scale * torch.exp(x)
"""

REFERENCE = """
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, scale, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.exp(tl.load(x + i, mask=i < n).to(tl.float32)) * scale
    tl.store(y + i, v.to(y.dtype.element_ty), mask=i < n)

def twice(x, scale):
    x = x.contiguous()
    y = torch.empty_like(x)
    if x.numel():
        kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), scale, B=1024)
    return y
"""

KERNEL = """
import os, signal
import torch
from ascendops.parity.execute import run_once

def run(root, op, backend, soc, values, poison, outs, timeout_s):
    def candidate(x, scale, *, out):
        y = (torch.exp(x.float()) * scale).to(x.dtype)
        {spoil}
        out.copy_(y)
    result = run_once(candidate, values, poison, outs)
    n = values["x"].numel()
    result.info = dict(tiling_key=None if n == 0 else 1 if n < 1024 else {large}, block_dim=0 if n == 0 else 1 if n < 1024 else 4,
                       findings={findings})
    return result
"""


def project(root: Path, spoil: str = "pass", large: int = 2, findings: str = "[]", toml: str = OP_TOML) -> Path:
    folder = root / "twice"
    (folder / "reference").mkdir(parents=True)
    (folder / "op.toml").write_text(toml)
    (folder / "golden.py").write_text(GOLDEN)
    (folder / "reference" / "triton_twice.py").write_text(REFERENCE)
    (folder / "kernel.py").write_text(KERNEL.format(spoil=spoil, large=large, findings=findings))
    return folder


def run(folder: Path, *args: str, **options: Any) -> tuple[testing.TestRun, str]:
    out = io.StringIO()
    options.setdefault("reference", "none")
    result = testing.run(
        [folder],
        backend="twin",
        pytest_args=[f"--ascendops-kernel={folder}/kernel.py:run", *args],
        stream=out,
        **options,
    )
    return result, out.getvalue()


def test_a_right_kernel_passes(tmp_path: Path) -> None:
    result, out = run(
        project(tmp_path), "--junitxml", str(tmp_path / "j.xml"), reference="triton", json_path=tmp_path / "r.json"
    )
    assert result.exit_code == 0, out
    assert "test    twice   twin   14 cases   2 of 2 tiling keys reached" in out
    assert "14 passed" in out and "CPU twin" in out
    assert re.search(r"Triton (interpreter on the CPU|on .+): 14 cases", out)
    totals = result.report.totals
    assert totals["wrong"] == totals["wrong_rejected"] > 20 and totals["reference_differs"] == 0
    ids = [case.id for case in result.report.cases]
    assert "twice[float16-tail-3x33-small]" in ids and "twice[bfloat16-big-16x128-large]" in ids
    assert "twice[bfloat16-special-40x64]" not in ids
    assert report.load(tmp_path / "r.json").cases == result.report.cases
    assert json.loads((tmp_path / "r.json").read_text())["schema_version"] == 1
    suite = ET.parse(tmp_path / "j.xml").getroot()[0]
    assert suite.get("tests") == "15" and suite.get("failures") == "0"


def test_a_wrong_kernel_tells_the_story(tmp_path: Path) -> None:
    folder = project(tmp_path, spoil="y[..., 30:33] = 0")
    result, out = run(folder, "-k", "tail and [float16", reference="triton", seed=7)
    assert result.exit_code == 1
    story = out[out.index("error[") :]
    assert story.startswith("error[ASC304]: twice differs from its golden in 9 of 99 elements  [TAIL]")
    assert "--> twice[float16-tail-3x33-small]  tiling key 1 (small), 1 block, seed 7" in story
    assert "worst at [" in story and "ulp; allowed" in story and "columns 30..32" in story
    assert "the reference agrees with the golden, the candidate does not" in story
    assert f"rerun: ascendops test {folder} -k 'twice[float16-tail-3x33-small]' --seed 7" in story
    again, _ = run(folder, "-k", "twice[float16-tail-3x33-small]", seed=7, level="L1")
    assert again.report.cases[0].repro.endswith("--seed 7 --level L1")
    assert [case.status for case in again.report.cases] == ["fail"]


def test_the_dtype_of_the_documents_is_one_dtype(tmp_path: Path) -> None:
    """What quickstart says of -k: float16 is a part of bfloat16, [float16 is not."""
    folder = project(tmp_path)
    documented = re.search(r'-k "(.+)" -x', (Path(__file__).parents[2] / "docs" / "quickstart.md").read_text())
    assert documented is not None
    for keyword, dtypes in ((documented[1], {"float16"}), ("float16 and tail", {"float16", "bfloat16"})):
        result, out = run(folder, "-k", keyword)
        assert {case.dtype for case in result.report.cases} == dtypes, out


def test_pytest_options_work(tmp_path: Path) -> None:
    folder = project(tmp_path, spoil="y[..., -1] = 0")
    result, _ = run(folder, "-x")
    assert len(result.report.cases) == 1
    result, _ = run(folder, "--lf")
    assert len(result.report.cases) == 1
    result, out = run(folder, "-k", "nothing_of_that_name")
    assert result.exit_code == 5 and "deselected" not in out


def test_crash_and_hang_are_verdicts_of_one_case(tmp_path: Path) -> None:
    spoil = "os.kill(os.getpid(), signal.SIGSEGV) if x.shape[-1] == 33 else None"
    result, out = run(project(tmp_path, spoil=spoil), "-k", "float32")
    statuses = {case.case: case.status for case in result.report.cases}
    assert statuses == {"tail": "crash", "big": "pass", "view": "pass", "empty": "pass", "special": "pass"}
    assert "SIGSEGV" in out and "the kernel of twice crashes" in out and result.exit_code == 1


def test_findings_of_the_twin_fail_a_right_result(tmp_path: Path) -> None:
    findings = "[dict(id='UB-BOUNDS', severity='error', message='past the end', file=__file__, line=2, block=3)]"
    result, out = run(project(tmp_path, findings=findings), "-k", "tail and float32")
    assert result.exit_code == 1 and result.report.cases[0].labels == ["FINDING"]
    assert "kernel.py:2 (block 3): past the end" in out and "    import os, signal" in out
    warning = findings.replace("error", "warning")
    other = tmp_path / "other"
    result, _ = run(project(other, findings=warning), "-k", "tail and float32")
    assert result.exit_code == 0 and result.report.cases[0].findings[0]["id"] == "UB-BOUNDS"


def test_tiling_keys_must_be_reached(tmp_path: Path) -> None:
    result, out = run(project(tmp_path, large=1))
    assert result.exit_code == 1
    assert "the case must reach tiling key large, but reached 1 (small)" in out
    assert "no case reaches tiling key 2 (large: several blocks)" in out and "[UNREACHED]" in out


def test_several_cores_must_be_used(tmp_path: Path) -> None:
    toml = OP_TOML.replace("[16, 128]", "[1, 8]").replace("[40, 64]", "[4, 4]").replace('tiling_key = "large"', "")
    _, out = run(project(tmp_path, toml=toml))
    assert "no case runs on more than one core" in out


def test_a_case_that_cannot_tell_right_from_wrong_fails(tmp_path: Path) -> None:
    toml = OP_TOML.replace('values = "special"', 'values = "negative"').replace("scale=2.0", "scale=0.0")
    result, out = run(project(tmp_path, toml=toml), "-k", "view")
    assert {case.status for case in result.report.cases} == {"pass"}, "all-zero results are equivalent to zeros"
    folder = project(tmp_path / "b")
    (folder / "golden.py").write_text(
        "import torch\ndef golden(x, *, scale):\n    return torch.exp(x) * scale * 1e-30\n"
    )
    (folder / "kernel.py").write_text(
        (folder / "kernel.py").read_text().replace("* scale)", "* scale * 1e-30)").replace("y = (", "y = (6e-8 * (torch.arange(x.numel()).reshape(x.shape) % 2 * 2 - 1) + ")
    )
    result, out = run(folder, "-k", "tail and [float16")
    assert result.exit_code == 1 and "MUTANT" in result.report.cases[0].labels, out


def test_references_that_cannot_run_are_counted(tmp_path: Path) -> None:
    folder = project(tmp_path)
    (folder / "reference" / "triton_twice.py").write_text(
        "def twice(x, scale):\n    raise TypeError('no bfloat16 here')\n"
    )
    result, out = run(folder, "-k", "tail", reference="auto")
    assert result.exit_code == 0
    assert "skipped in 3 cases: TypeError: no bfloat16 here" in out
    result, out = run(folder, "-k", "tail", reference="torch")
    assert "torch on the CPU: 3 cases" in out
    with pytest.raises(UnknownReference, match="tritn"):
        run(folder, reference="tritn")


def test_usage_errors(tmp_path: Path) -> None:
    folder = project(tmp_path, toml=OP_TOML + "\nunknown = 1\n")
    with pytest.raises(SpecError):
        run(folder)
    (tmp_path / "plain").mkdir()
    with pytest.raises(NothingSelected, match="nothing to test"):
        testing.run([tmp_path / "plain"], backend="twin")
    other = project(tmp_path / "x")
    (other / "golden.py").write_text("def golden(x, *, scale):\n    return 1 / 0\n")
    result, out = run(other, "-k", "tail and float32")
    assert result.exit_code == 1 and "error[ASC303]: golden raised ZeroDivisionError" in out and "golden.py:2" in out


def test_plain_pytest_collects_projects_too(pytester: pytest.Pytester) -> None:
    folder = project(pytester.path)
    found = pytester.runpytest_inprocess(
        "-p", "ascendops.testing.plugin", "--ascendops-reference=none", f"--ascendops-kernel={folder}/kernel.py:run",
        "-k", "tail", str(folder),
    )  # fmt: skip
    found.assert_outcomes(passed=3, deselected=12)


def test_same_seed_same_inputs(tmp_path: Path) -> None:
    from ascendops import spec
    from ascendops.parity.inputs import digest
    from ascendops.testing.cases import test_cases

    cases = {case.id: case for case in test_cases(spec.load(project(tmp_path)))}
    case = cases["float16-view-8x40"]
    assert digest(case.values(0)["x"]) == digest(case.values(0)["x"]) != digest(case.values(1)["x"])
    assert case.values(0)["x"].stride() == (1, 8) and case.values(0)["scale"] == 2.0
    assert cases["float32-big-16x128-large"].attrs == {"scale": 0.75}


def test_a_failing_case_is_made_smaller(tmp_path: Path) -> None:
    folder = project(tmp_path, spoil="y[..., 16:] = 0")
    result, out = run(folder, "-k", "big or view", shrink=True)
    assert result.exit_code == 1
    assert "the smallest case that fails like this is float32 1x1" in out
    text = (folder / ".ascendops" / "repro" / "twice.py").read_text()
    assert len(text.splitlines()) <= 20 and 'inputs.values((1, 1' in text and '"scale": 0.75' in text
    compile(text, "twice.py", "exec")


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    folder = project(tmp_path)
    first, _ = run(folder, "-k", "tail or view")
    assert first.exit_code == 0
    lines = (folder / ".ascendops" / "run.jsonl").read_text().splitlines()
    (folder / ".ascendops" / "run.jsonl").write_text("\n".join(lines[:4]) + '\n{"case": {"id"')  # killed after three cases
    second, out = run(folder, resume=True)
    assert second.exit_code == 0 and sum(case.resumed for case in second.report.cases) == 3
    assert "3 of 14 cases were taken from the earlier run" in out
    (folder / "kernel.py").write_text((folder / "kernel.py").read_text() + "\n# changed\n")
    third, _ = run(folder, resume=True)
    assert not any(case.resumed for case in third.report.cases), "another kernel is judged anew"


def test_planted_faults_are_counted(tmp_path: Path) -> None:
    result, out = run(project(tmp_path), mutate=True)
    assert result.exit_code == 0 and re.search(r"faults +twice: (19 of 19|18 of 18) noticed", out), out
    weak = OP_TOML.split("[[case]]")[0] + '[[case]]\nname = "one"\nshapes = { x = [1, 1] }\n[[case]]\nname = "two"\nshapes = { x = [8, 128] }\nvalues = "equal"\ntiling_key = "large"\n'
    result, out = run(project(tmp_path / "weak", toml=weak.replace('key = 1\nname = "small"', 'key = 1\nname = "small"')), mutate=True)
    check = next(case for case in result.report.cases if case.kind == "check")
    assert {row["name"] for row in check.mutants if row["status"] == "equivalent"} >= {"stale_row", "swapped_rows", "nan_swallowed"}


def test_a_verdict_of_a_run_can_be_verified(tmp_path: Path) -> None:
    from ascendops.testing import verdicts

    result, out = run(project(tmp_path), "-k", "tail or empty", verdict=tmp_path / "v")
    assert result.exit_code == 0 and "ascendops verify" in out
    found = verdicts.verify(tmp_path / "v" / "verdict.json")
    assert found.disagreements == () and found.cases == found.passed == 6


def test_processes_of_xdist_share_the_work_and_lose_nothing(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    folder = project(tmp_path)
    other = project(tmp_path / "other", toml=OP_TOML.replace('"twice', '"twofold'))
    out = io.StringIO()
    kernel = f"--ascendops-kernel={folder}/kernel.py:run"
    alone = testing.run([folder, other], backend="twin", reference="none", pytest_args=[kernel], stream=io.StringIO())
    declared = [case.id for case in alone.report.cases if case.kind == "case"]
    result = testing.run([folder, other], backend="twin", reference="none", pytest_args=["-n", "2", kernel], stream=out)
    ids = [case.id for case in result.report.cases]
    assert result.exit_code == 0, out.getvalue()
    for op in ("twice", "twofold"):  # one process runs an operator's cases, and the check over them last
        own = [one for one in ids if one.startswith(f"{op}[")]
        assert own[-1] == f"{op}[all cases]" and own[:-1] == [one for one in declared if one.startswith(f"{op}[")]
    assert len(ids) == len(set(ids)) == 30 and {one.name: one.reached for one in result.report.ops} == {"twice": 2, "twofold": 2}
    assert out.getvalue().count("14 cases   2 of 2 tiling keys reached") == 2


def test_processes_of_xdist_tell_once_what_does_not_build(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    folder = project(tmp_path)  # it has no sources

    def found(*args: str) -> tuple[int, list[tuple[str, str, str, int]]]:
        result = testing.run([folder], backend="twin", reference="none", pytest_args=args, stream=io.StringIO())
        return result.exit_code, [(case.id, case.kind, case.what, case.exit_code) for case in result.report.cases]

    code, cases = found()
    assert code != 0 and [case[:2] for case in cases] == [("twice[build]", "build")] and cases[0][3] == code
    assert found("-n", "2") == (code, cases)


def test_workers_of_an_operator_end_with_its_cases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ascendops.worker import Worker

    folders = [project(tmp_path / name, toml=OP_TOML.replace('"twice', f'"{name}')) for name in ("one", "two", "three")]
    running: set[int] = set()
    most, start, close = [0], Worker.start, Worker.close

    def started(self: Worker) -> None:
        start(self)
        running.add(id(self))
        most[0] = max(most[0], len(running))

    def closed(self: Worker) -> None:
        close(self)
        running.discard(id(self))

    monkeypatch.setattr(Worker, "start", started)
    monkeypatch.setattr(Worker, "close", closed)
    kernel = f"--ascendops-kernel={folders[0]}/kernel.py:run"
    result = testing.run(folders, backend="twin", reference="torch", pytest_args=[kernel], stream=io.StringIO())
    assert result.exit_code == 0 and len(result.report.ops) == 3
    assert most[0] == 2 and not running, "a kernel and a reference at a time"
