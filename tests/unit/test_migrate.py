"""migrate as a whole: files, notebooks, models, forms, baseline, apply, profile, command line."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ascendops.cli.migrate import command
from ascendops.errors import BadTrace, BaselineError, MigrateError
from ascendops.migrate import apply, baseline, checklist
from ascendops.migrate.profile.trace import base_name, read
from ascendops.migrate.rules.catalogue import RULES
from ascendops.migrate.scanners.all import scan


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_odd_files_are_reported_and_counted(tmp_path: Path) -> None:
    write(tmp_path, a__py="import torch\ntorch.cuda.init()\n")
    (tmp_path / "binary.cu").write_bytes(b"\0\1\2cudaMalloc")
    (tmp_path / "latin.py").write_bytes(b"# \xe9\nx = y.cuda()\n")
    (tmp_path / "giant.py").write_bytes(b"#" * (5 * 1024 * 1024))
    (tmp_path / "broken.ipynb").write_text("{not json")
    (tmp_path / "broken.onnx").write_bytes(b"nothing")
    (tmp_path / "self.py").symlink_to(tmp_path / "self.py")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "pipe.py")
    report = scan([tmp_path])
    assert {f.construct for f in report.findings} == {"torch.cuda.init", ".cuda()"}
    reasons = {Path(skip.file).name: skip.reason for skip in report.skipped}
    assert reasons["binary.cu"] == "binary"
    assert "Latin-1" in reasons["latin.py"]
    assert "above the limit" in reasons["giant.py"]
    assert "link" in reasons["self.py"] and "already" in reasons["loop"]
    assert reasons["pipe.py"] == "not a regular file"
    assert {"broken.ipynb", "broken.onnx"} <= set(reasons)


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MigrateError, match="no file or folder"):
        scan([tmp_path / "nothing"])


def test_nothing_scanned_is_run_or_imported(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    write(tmp_path, setup__py=f"open({str(mark)!r}, 'w')\nimport torch\ntorch.cuda.init()\n")
    before = set(sys.modules)
    assert scan([tmp_path]).findings
    assert not mark.exists()
    assert not any(name.startswith(("torch", "numpy")) for name in set(sys.modules) - before)


def test_own_packages_are_not_findings_and_sub_packages_do_not_hide_libraries(tmp_path: Path) -> None:
    inner = tmp_path / "flash_attn" / "tensorrt"
    inner.mkdir(parents=True)
    (tmp_path / "flash_attn" / "__init__.py").write_text("from flash_attn import x\n")
    (inner / "__init__.py").write_text("import tensorrt\n")
    assert [f.construct for f in scan([tmp_path]).findings] == ["tensorrt"]


def notebook(*cells: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": text.splitlines(keepends=True)} for text in cells], "nbformat": 4})


def test_notebook_cells_magics_and_aliases(tmp_path: Path) -> None:
    text = notebook("import torch as t\n", "%timeit -n 3 f(x); t.cuda.synchronize()\n!pip install cupy\n", "%%cuda\n__global__ void k(int *x) {}\n")
    write(tmp_path, n__ipynb=text)
    got = [(f.cell, f.line, f.construct) for f in scan([tmp_path]).findings]
    assert got == [(1, 1, "torch.cuda.synchronize"), (1, 2, "cupy"), (2, 2, "__global__ kernel k")]


def test_onnx_model(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    value = helper.make_tensor_value_info
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Relu", ["a"], ["b"]), helper.make_node("My", ["b"], ["y"], domain="own")]
    graph = helper.make_graph(nodes, "g", [value("x", 1, [2])], [value("y", 1, [2])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("own", 1)])
    onnx.save(model, tmp_path / "m.onnx")
    got = {(f.construct, f.line, f.status) for f in scan([tmp_path / "m.onnx"]).findings}
    assert got == {("Relu (2 nodes)", 0, "works_as_is"), ("own::My (1 nodes)", 0, "custom_op"), ("opset 21", 0, "restricted")}


REPO = {"a__py": "import torch\nx = torch.zeros(3, device='cuda')  # keep\ntorch.cuda.synchronize()\nname = impl('cuda')\n", "k__cu": "__global__ void k(float *x) { x[0] = 1; }\n"}


def test_forms(tmp_path: Path) -> None:
    report = scan([write(tmp_path, **REPO)])
    data = json.loads(checklist.render(report, "json"))
    assert data["counts"]["custom_op"] == 1 and len(data["findings"]) == len(report.findings)
    rows = list(csv.DictReader(io.StringIO(checklist.render(report, "csv"))))
    assert len(rows) == len(report.findings) and rows[0]["fingerprint"]
    sarif = json.loads(checklist.render(report, "sarif"))
    result = sarif["runs"][0]["results"][0]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == report.findings[0].line
    markdown = checklist.render(report, "md")
    assert "- [ ] `__global__ kernel k`" in markdown and "ascendops new op k --from" in markdown and "## Which framework" in markdown
    assert "<script>alert" not in checklist.render(scan([write(tmp_path, b__py="x.to('cuda') # <script>alert</script>")]), "html")
    assert "No finding matches the filters" in checklist.render(scan([write(tmp_path, b__py="x.to('cuda')")]), "html")
    (tmp_path / "clean").mkdir()
    assert "Nothing here needs to be changed" in checklist.render(scan([write(tmp_path / "clean", c__py="x = 1")]), "html")


def test_every_rule_of_a_finding_has_a_page(tmp_path: Path) -> None:
    from ascendops.explain import pages

    known = pages()
    assert set(RULES) <= set(known)
    assert all(rule.page.endswith((".", ")")) for rule in RULES.values())


def test_baseline(tmp_path: Path) -> None:
    write(tmp_path, **REPO)
    old = tmp_path / "old.json"
    old.write_text(checklist.render(scan([tmp_path / "a.py", tmp_path / "k.cu"]), "json"))
    write(tmp_path, a__py="import torch\n\n\ntorch.cuda.synchronize()\ny.cuda()\n")
    change = baseline.compare(scan([tmp_path / "a.py", tmp_path / "k.cu"]), baseline.load(old))
    assert [f.construct for f in change.new] == [".cuda()"]
    assert len(change.done) == 2 and "device string" in change.done[0]
    rows = json.loads(old.read_text())
    rows["findings"] = [{**row, "status": "no_equivalent"} for row in rows["findings"]]
    assert ("torch.cuda.synchronize", "no_equivalent") in {(f.construct, was) for f, was in baseline.compare(scan([tmp_path / "a.py"]), rows["findings"]).easier}
    with pytest.raises(BaselineError):
        baseline.load(tmp_path / "k.cu")


def test_apply_renames_only_what_is_certain_and_can_be_undone(tmp_path: Path) -> None:
    write(tmp_path, a__py="import torch\r\nx = y.cuda()  # 'cuda' é\r\nif x.is_cuda and torch.cuda.is_available(): device = 'cuda:1'\r\ntorch.cuda.temperature()\r\n")
    path = tmp_path / "a.py"
    before = path.read_bytes()
    plans = apply.plan(scan([path]).findings)
    undo = apply.write(plans, tmp_path)
    assert path.read_bytes().decode() == "import torch\r\nx = y.npu()  # 'cuda' é\r\nif x.is_npu and torch.npu.is_available(): device = 'npu:1'\r\ntorch.cuda.temperature()\r\n"
    assert apply.plan(scan([path]).findings) == {}
    subprocess.run(["patch", "-s", "--binary", str(path), str(undo)], check=True)
    assert path.read_bytes() == before


def test_apply_renames_the_device_strings_of_a_file_together(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("device = f'cuda:{rank}'\ndevice_type = 'cuda' if 'cuda' in device else 'cpu'\nx = y.cuda() + z.cuda()\n")
    apply.write(apply.plan(scan([path]).findings), tmp_path)
    assert path.read_text() == "device = f'npu:{rank}'\ndevice_type = 'npu' if 'npu' in device else 'cpu'\nx = y.npu() + z.npu()\n"
    path.write_text("device = 'cuda'\nkeys = {'cuda': 1}\ny.cuda()\n")
    assert [line for line, _ in apply.plan(scan([path]).findings)[str(path)].edits] == [3]


def test_apply_leaves_a_line_that_is_only_in_part_certain(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("cudaStream_t s = at::cuda::getCurrentCUDAStream();\ncudaFree(p);\n")
    assert [line for line, _ in apply.plan(scan([path]).findings)[str(path)].edits] == [2]


def test_apply_leaves_a_file_alone_that_knows_other_devices(tmp_path: Path) -> None:
    write(tmp_path, a__py="import torch\nif hasattr(torch, 'npu'):\n    torch.npu.init()\nelse:\n    torch.cuda.init()\n")
    assert apply.plan(scan([tmp_path]).findings) == {}


def test_names_of_kernels() -> None:
    assert base_name("void ns::softmax_kernel<float, 4>(float*, int)") == "softmax_kernel"
    assert base_name("void at::native::(anonymous namespace)::foo<1>(int)") == "foo"
    assert base_name("add_kernel_0d1d2de") == "add_kernel"
    assert base_name("Memcpy HtoD (Pinned -> Device)") != ""


def trace(path: Path) -> Path:
    events = []
    for number in range(120):
        events += [
            {"ph": "X", "cat": "cpu_op", "name": "aten::silu", "ts": number * 10, "dur": 1, "args": {"External id": 2 * number}},
            {"ph": "X", "cat": "kernel", "name": "void silu<float>(float*)", "ts": number * 10, "dur": 1, "args": {"External id": 2 * number}},
            {"ph": "X", "cat": "cpu_op", "name": "aten::mul", "ts": number * 10 + 2, "dur": 1, "args": {"External id": 2 * number + 1}},
            {"ph": "X", "cat": "kernel", "name": "k", "ts": number * 10 + 2, "dur": 0.5, "args": {"External id": 2 * number + 1}},
        ]
    events.append({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce", "ts": 5000, "dur": 820})
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def test_profile(tmp_path: Path) -> None:
    from ascendops.migrate.profile.join import join

    report = scan([write(tmp_path, **REPO)])
    join(report, read(trace(tmp_path / "trace.json")), 20.0)
    assert report.findings[0].weight == pytest.approx(6.0) and "do not write a custom op" in report.findings[0].todo
    assert report.findings[0].command == ""
    assert report.profile["communication"] == 82.0
    assert {row["name"] for row in report.profile["launch_bound"]} == {"aten::silu", "k"}
    assert [(row["name"], row["count"], row["fused"]) for row in report.profile["fusion"]] == [("SwiGLU", 120, "torch_npu.npu_swiglu")]
    assert "Where the time goes" in checklist.render(report, "md")
    with pytest.raises(BadTrace, match="no GPU"):
        (tmp_path / "cpu.json").write_text('{"traceEvents": []}')
        read(tmp_path / "cpu.json")


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path, **REPO))
    run = CliRunner().invoke
    result = run(command, ["a.py", "k.cu", "--json"], standalone_mode=False)
    assert json.loads(result.stdout)["counts"]["custom_op"] == 1 and result.return_value == 0
    run(command, ["a.py", "--format", "json", "--out", "base.json"], standalone_mode=False)
    assert run(command, ["a.py", "--check", "--baseline", "base.json"], standalone_mode=False).return_value == 0
    result = run(command, ["a.py", "k.cu", "--check", "--baseline", "base.json"], standalone_mode=False)
    assert result.return_value == 1 and "1 new" in result.stdout
    result = run(command, ["a.py", "--apply"], standalone_mode=False)
    assert "+torch.npu.synchronize()" in result.stdout and "torch.cuda" in (tmp_path / "a.py").read_text()


def test_nothing_to_scan_is_said(tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(b"x")
    result = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False)
    assert result.exception is not None and result.exception.exit_code == 5  # type: ignore[attr-defined]


def test_help_imports_no_torch() -> None:
    code = "import sys\nfrom ascendops.cli import main\nmain(['migrate', '--help'])\nassert not {'torch', 'numpy', 'onnx'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def test_target(tmp_path: Path) -> None:
    from ascendops.migrate.target import aim

    write(tmp_path, a__py="import torch\ntorch.cuda.host_memory_stats()\n", k__cu="__global__ void k(float *x) {}\n")
    for torch, status in (("2.9.1", "no_equivalent"), ("2.10", "rename"), ("2.13.0", "rename")):
        report = scan([tmp_path])
        aim(report, "ascend910b", torch)
        assert [f.status for f in report.findings] == [status, "custom_op"]
    report = scan([tmp_path])
    aim(report, "ascend950", "")
    assert [f.status for f in report.findings] == ["rename", "rename"]


def test_captured_operators_are_joined_to_the_support_table() -> None:
    from ascendops.migrate.capture.aten import join
    from ascendops.migrate.model import Report

    report = Report()
    rows = [("aten::add.Tensor", "float32"), ("aten::poisson", "float32"), ("aten::mul.Tensor", "float64"), ("own::thing", "float32")]
    join(report, "m:f", [{"op": op, "dtypes": dtypes, "shapes": "2x3", "count": 2} for op, dtypes in rows])
    got = {f.construct.split(" (")[0]: f.status for f in report.findings}
    assert got == {"aten::add.Tensor": "works_as_is", "aten::poisson": "restricted", "aten::mul.Tensor": "restricted", "own::thing": "custom_op"}
    assert report.models[0]["calls"] == {"native": 4, "cpu_fallback": 2, "missing": 2}


def test_a_model_is_captured_in_a_worker(tmp_path: Path) -> None:
    from ascendops.errors import ModelError
    from ascendops.migrate.capture.aten import capture
    from ascendops.migrate.model import Report

    path = tmp_path / "net.py"
    path.write_text("import torch\ndef model():\n    return torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU())\ndef inputs():\n    return (torch.ones(2, 4),)\ndef broken():\n    raise KeyError('no weights')\n")
    report = Report()
    capture(report, f"{path}:model", f"{path}:inputs")
    assert {"aten::addmm (1 calls)", "aten::gelu (1 calls)"} <= {f.construct for f in report.findings}
    with pytest.raises(ModelError, match="no weights"):
        capture(report, f"{path}:broken", f"{path}:inputs")


def test_the_fact_tables_are_sound_and_faults_are_named() -> None:
    from tools.migration_facts import _rows, check

    assert list(check()) == []
    faults = list(_rows("t.x", [{"cuda": "a", "status": "maybe"}, {"cuda": "a", "status": "rename"}, {"pattern": "(", "status": "rename"}]))
    assert len(faults) == 3 and "maybe" in faults[0]


ORIGINS = """
__global__ void scale_kernel(float *x) { x[threadIdx.x] *= 2; }
__global__ void rowSum(float *x) { x[0] = blockReduce(x[1]); }
__global__ void gemm(float *x) { wmma::mma_sync(a, b, c, d); }
__global__ void fused_softmax_kernel(float *x) { __shfl_xor_sync(0, x[0], 1); }
"""


@pytest.mark.parametrize(("name", "family"), [("scale", "elementwise"), ("scale_kernel", "elementwise"), ("row_sum", "reduction"), ("fused_softmax", "softmax")])
def test_a_project_starts_from_a_kernel(tmp_path: Path, name: str, family: str) -> None:
    from ascendops.migrate.origin import origin

    write(tmp_path, k__cu=ORIGINS)
    assert origin(name, tmp_path / "k.cu").family == family


@pytest.mark.parametrize(("name", "message"), [("gemm", "multiplies matrices"), ("other", "has 4 kernels, none of them called 'other'")])
def test_a_kernel_that_cannot_start_a_project(tmp_path: Path, name: str, message: str) -> None:
    from ascendops.migrate.origin import origin

    write(tmp_path, k__cu=ORIGINS)
    with pytest.raises(MigrateError, match=message):
        origin(name, tmp_path / "k.cu")


def test_the_command_of_a_finding_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ascendops.cli.app import app

    monkeypatch.chdir(write(tmp_path, k__cu=ORIGINS))
    commands = [f.command for f in scan([Path("k.cu")]).findings if f.rule == "MIG-KERNEL"]
    assert [command.split()[3] for command in commands if command] == ["scale", "row_sum", "fused_softmax"]
    result = CliRunner().invoke(app, commands[0].split()[1:], standalone_mode=False)
    assert result.exception is None and (tmp_path / "scale" / "op.toml").is_file()


def ops_trace(path: Path, names: list[str]) -> Path:
    """A trace in which each op launches one kernel of 2 us."""
    events: list[dict[str, object]] = []
    for number, name in enumerate(names):
        events.append({"ph": "X", "cat": "cpu_op", "name": f"aten::{name}", "ts": 10 * number, "dur": 5, "args": {"External id": number}})
        events.append({"ph": "X", "cat": "kernel", "name": "void at::native::elementwise_kernel<4>()", "ts": 10 * number, "dur": 2, "args": {"External id": number}})
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def test_fusion_looks_through_casts_and_counts_the_time_of_its_own_calls(tmp_path: Path) -> None:
    from ascendops.migrate.profile.fusion import candidates

    attention = ["copy_", "bmm", "mul", "fill_", "tril", "masked_fill_", "copy_", "_softmax", "copy_", "bmm"]
    bn = ["cudnn_convolution", "add_", "add_", "native_batch_norm"]
    adam = ["mul_", "lerp_", "mul_", "addcmul_", "sqrt", "div", "add_", "addcdiv_"]
    rms = ["pow", "mean", "add", "rsqrt", "mul"]
    found = candidates(read(ops_trace(tmp_path / "t.json", [*bn, *attention, *rms, "sub", *adam, "sub", *adam, "mul", "mul"])))
    assert {(row["name"], row["count"]) for row in found} == {
        ("attention written out", 1), ("conv + batch norm", 1), ("RMS norm", 1), ("optimizer step, tensor by tensor", 2),
    }  # fmt: skip
    total = len(bn) + len(attention) + len(rms) + 2 * len(adam) + 4
    assert next(row["share"] for row in found if row["name"] == "RMS norm") == round(100 * 5 / total, 1)
    assert candidates(read(ops_trace(tmp_path / "u.json", ["bmm", "mul", "sub", "mean", "bmm", "pow", "mul"]))) == []


def test_library_kernels_and_an_idle_gpu_are_named(tmp_path: Path) -> None:
    from ascendops.migrate.profile.advice import lines
    from ascendops.migrate.profile.join import join

    report = scan([write(tmp_path, **REPO)])
    join(report, read(ops_trace(tmp_path / "t.json", ["mul"] * 200)), 20.0)
    assert report.profile["kernels"][0]["family"] == "ATen"
    assert [(row["name"], row["count"]) for row in report.profile["launch_bound"]] == [("aten::mul", 200)]
    assert report.profile["busy"] == pytest.approx(20.0, abs=0.2) and any("the host is the limit" in line for line in lines(report))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dev-requirements.txt", "cupy-cuda12x\n"),
        ("req.txt", "cupy-cuda12x==13\n"),
        ("gpu.yaml", "channels:\n  - conda-forge\ndependencies:\n  - cupy\n"),
    ],
)
def test_package_lists_are_known_by_name_or_by_their_keys(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert [f.rule for f in scan([tmp_path]).findings] == ["MIG-PACKAGE"]
    (tmp_path / name).write_text("notes: cupy\n")
    assert not scan([tmp_path]).findings


def test_channels_of_conda_are_no_packages_and_numba_host_arrays_are_restricted(tmp_path: Path) -> None:
    write(tmp_path, environment__yml="channels:\n  - numba\n  - nvidia\ndependencies:\n  - cupy\n", a__py="from numba import cuda\nx = cuda.managed_array(3)\n")
    found = {(f.construct.split(" ")[0], f.status) for f in scan([tmp_path]).findings}
    assert found == {("cupy", "no_equivalent"), ("numba.cuda", "custom_op"), ("numba.cuda.managed_array", "restricted")}


def test_dtypes_come_from_the_documented_lists() -> None:
    from ascendops.migrate.capture.dtypes import documented, limits

    page, listed = documented("aten::add.Tensor")
    assert page == "torch.add" and {"fp64", "bf16", "int8"} <= listed
    assert limits("aten::add.Tensor", {"float64", "bfloat16", ""}) == ([], [])
    hard, notes = limits("aten::convolution", {"float64"})
    assert hard == ["fp64"] and "conv2d is documented for" in notes[0] and notes[0].endswith("not for fp64")
    hard, notes = limits("aten::mm", {"bfloat16"})
    assert hard == [] and "try it" in notes[0]
    assert limits("aten::_fft_r2c", {"float8_e5m2"})[0] == ["fp8"]  # no page: what most kernels lack


EXPORTED = """
import torch
class Branch(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: torch.relu(x), lambda x: torch.sigmoid(x.double()).float(), (x,)) + torch.logcumsumexp(x, 0)
torch.export.save(torch.export.export(Branch(), (torch.ones(4, 8),), dynamic_shapes={"x": {0: torch.export.Dim("n", min=2, max=64)}}), "branch.pt2")
"""


def test_a_file_of_torch_export_is_read_with_its_branches(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", EXPORTED], cwd=tmp_path, check=True, capture_output=True)
    done = CliRunner().invoke(command, ["--model", str(tmp_path / "branch.pt2"), "--json"], standalone_mode=False)
    found = {row["construct"].split(" (")[0]: row for row in json.loads(done.stdout)["findings"]}
    assert {"aten::relu", "aten::sigmoid", "higher_order::cond", "aten::logcumsumexp", "aten::add.Tensor"} <= set(found)
    assert found["aten::sigmoid"]["status"] == "restricted" and "not for fp64" in found["aten::sigmoid"]["todo"]
    assert "may run on the CPU" in found["aten::logcumsumexp"]["todo"] and "4x8" not in found["aten::relu"]["todo"]  # a dynamic dim
    (tmp_path / "junk.pt2").write_text("junk")
    bad = CliRunner().invoke(command, ["--model", str(tmp_path / "junk.pt2")], standalone_mode=False)
    assert "cannot be read as a file of torch.export" in str(bad.exception) and getattr(bad.exception, "id", "") == "ASC605"


def test_apply_leaves_links_and_methods_of_the_project_alone_and_can_be_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repo").mkdir()
    files = {"z.py": b"import torch\r\ntorch.cuda.synchronize()\r\n", "b ü.py": "\ufeffimport torch\ntorch.cuda.synchronize()".encode()}
    for name, data in files.items():
        (tmp_path / "repo" / name).write_bytes(data)
    (tmp_path / "repo" / "a.py").symlink_to("z.py")
    for path in (Path("repo"), tmp_path / "repo"):  # named from here, and from the root
        plan = apply.plan(scan([path]).findings)
        assert {Path(file).name for file in plan} == set(files)
        undo = apply.write(plan)
        assert b"torch.npu" in (tmp_path / "repo/z.py").read_bytes() and not apply.plan(scan([path]).findings)
        where = ["-d", "/"] if path.is_absolute() else []
        subprocess.run(["patch", "-p1", "--binary", *where, "-i", str(undo.absolute())], check=True, capture_output=True)
        assert {name: (tmp_path / "repo" / name).read_bytes() for name in files} == files
    (tmp_path / "repo/own.py").write_text("class A:\n    def cuda(self):\n        return self\ny = x.cuda()\n")
    assert not any(Path(file).name == "own.py" for file in apply.plan(scan([tmp_path / "repo"]).findings))


def test_it_is_said_where_triton_kernels_were_only_estimated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCENDOPS_CACHE", str(tmp_path / "none"))
    write(tmp_path, k__py="import triton\n@triton.jit\ndef k(x):\n    pass\n")
    for form in ("text", "md", "html", "json"):
        done = CliRunner().invoke(command, [str(tmp_path / "k.py"), "--format", form], standalone_mode=False)
        assert "1 Triton kernel is judged by an estimate" in done.stdout and "ascendops toolchain install triton-ascend" in done.stdout
    missing = CliRunner().invoke(command, [str(tmp_path / "k.py"), "--compile-triton"], standalone_mode=False)
    assert getattr(missing.exception, "exit_code", 0) == 3
