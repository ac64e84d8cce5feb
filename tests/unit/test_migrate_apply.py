"""migrate --apply on CUDA C++: calls whose arguments change, groups of names that stay together, what is left; and advice by target."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ascendops import resources
from ascendops.cli.app import main
from ascendops.migrate import apply, scan
from ascendops.migrate.facts import tables
from ascendops.migrate.rules.finding import _todo
from ascendops.migrate.target import aim


def applied(folder: Path, text: str) -> str:
    path = folder / "k.cu"
    path.write_text(text)
    plans = apply.plan(scan([path]).findings)
    return plans[str(path)].after.decode() if plans else text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("cudaMalloc(&d, n * sizeof(float));", "aclrtMalloc((void **)&d, n * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST);"),
        ("cudaMalloc((void**)&d, n);", "aclrtMalloc((void**)&d, n, ACL_MEM_MALLOC_HUGE_FIRST);"),
        ("cudaMallocHost(&p->h[i], v.size());", "aclrtMallocHost((void **)&p->h[i], v.size());"),
        ("cudaMemcpy( d, h + 1, (n + 1) * 4 , cudaMemcpyHostToDevice );", "aclrtMemcpy( d, (n + 1) * 4, h + 1, (n + 1) * 4 , ACL_MEMCPY_HOST_TO_DEVICE );"),
        ("cudaMemcpyAsync(d, h, n, cudaMemcpyDefault);", "aclrtMemcpyAsync(d, n, h, n, ACL_MEMCPY_DEFAULT, nullptr);"),
        ("cudaMemcpyAsync(d, h, n, cudaMemcpyDefault, s[0]);", "aclrtMemcpyAsync(d, n, h, n, ACL_MEMCPY_DEFAULT, s[0]);"),
        ("cudaMemset(d, 0, sizeof(int) * n);", "aclrtMemset(d, sizeof(int) * n, 0, sizeof(int) * n);"),
        ("cudaEventRecord(e); cudaEventRecord(e, s);", "aclrtRecordEvent(e, nullptr); aclrtRecordEvent(e, s);"),
        ("CHECK(cudaGetLastError());", "CHECK(aclrtGetLastError(ACL_RT_THREAD_LEVEL));"),
        ("cudaError_t e = cudaFree(p); if (e != cudaSuccess) cudaDeviceSynchronize();", "aclError e = aclrtFree(p); if (e != ACL_SUCCESS) aclrtSynchronizeDevice();"),
        ("#include <cuda_runtime.h>\nvoid f() { cudaFree(p); }", "#include <acl/acl.h>\nvoid f() { aclrtFree(p); }"),
    ],
)
def test_calls_get_the_arguments_of_acl(tmp_path: Path, before: str, after: str) -> None:
    assert applied(tmp_path, before) == after


@pytest.mark.parametrize(
    "text",
    [
        "cudaMemcpy(d, h, n++, cudaMemcpyDefault);",
        "cudaMemcpy(d, h, bytes(), cudaMemcpyDefault);",
        "cudaMemset(d, 0, n = 4);",
        "cudaMalloc(pointer(&d), n);",
        "cudaMemcpy(d, h,\n  n, cudaMemcpyDefault);",
        "cudaMemcpy(get<a, b>(d), h, n, cudaMemcpyDefault);",
        "auto f = cudaFree;",
        "cudaEventCreate(&e, flags);",
        "cudaDeviceReset();",
        "cudaGetDeviceCount(&n);",
        "cudaPointerGetAttributes(&a, p);",
        "cuCtxCreate(&c, 0, d);",
        "#include <cuda_runtime.h>\n__global__ void k() {}",
    ],
)
def test_what_is_not_certain_stays(tmp_path: Path, text: str) -> None:
    assert applied(tmp_path, text) == text


def test_a_group_is_renamed_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    text = "cudaMalloc(&d, n);\ncudaFree(d);\ncudaStreamCreate(&s);\n"
    assert "cuda" not in applied(tmp_path, text)
    done = applied(tmp_path, text + "cudaMemcpyToSymbol(c, h, n);\n")
    assert done.splitlines() == ["cudaMalloc(&d, n);", "cudaFree(d);", "aclrtCreateStream(&s);", "cudaMemcpyToSymbol(c, h, n);"]
    done = applied(tmp_path, "cudaMallocManaged(&d, n);\ncudaError_t e = cudaFree(d);\nif (e != cudaSuccess) cudaStreamDestroy(s);\ncudaDeviceSynchronize();\n")
    assert re.findall(r"aclrt\w+", done) == ["aclrtSynchronizeDevice"], "a line of two groups keeps both"


def test_what_is_left_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text("cudaMalloc(&d, n);\ncudaFree(d);\ncudaFree(e);\ncudaMemcpyToSymbol(c, h, n);\ncudaDeviceSynchronize();\n")
    assert main(["migrate", "k.cu", "--apply"]) == 0
    out, said = capsys.readouterr()
    assert "+aclrtSynchronizeDevice();" in out and "1 rename in 1 file" in said and "to do by hand in k.cu:" in said
    assert "  cudaMemcpyToSymbol (line 4): " in said and "kernel argument" in said and "aclInit(nullptr)" in said
    assert "  cudaMalloc, cudaFree (lines 1, 2, 3): left, since they go together with cudaMemcpyToSymbol" in said
    assert main(["migrate", "k.cu", "--apply", "--json"]) == 0
    left = json.loads(capsys.readouterr().out)["left"]
    assert {row["name"]: row["waits_for"] for row in left} == {"cudaMalloc": ["cudaMemcpyToSymbol"], "cudaFree": ["cudaMemcpyToSymbol"], "cudaMemcpyToSymbol": []}


def test_every_renamed_call_says_what_becomes_of_its_arguments() -> None:
    """A function of the runtime is renamed only by a row that lists its arguments; others need a person."""
    rows = tables.table("cuda_cpp_map")["runtime"]
    listed = {row["cuda"]: row for row in rows if "call" in row}
    assert {"cudaMalloc", "cudaFree", "cudaMemcpy", "cudaStream_t"} <= listed.keys()
    for name, row in listed.items():
        assert row["status"] == "rename" and re.fullmatch(r"\w+", row["acl"]), name
        for count, change in row["call"].items():
            assert all(where in ("(", "cast") or int(where) < int(count) for where in change), name
    assert not {"cudaDeviceReset", "cudaStreamQuery", "cudaMallocAsync", "cuCtxCreate"} & listed.keys()


ONLY_950 = re.compile(r"\basc_\w+|simt|SIMT|3510|\b950")


def facts() -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for section in ("runtime", "nccl", "device", "torch_cpp", "headers", "build"):
        found += tables.cpp(section).items()
    for section in ("runtime", "driver", "nccl", "headers", "environment"):
        found += tables.patterns(section)
    found += [*tables.libraries(), *tables.packages().items(), *tables.imports().items(), *tables.environment().items()]
    return found + [(row["cuda"], tables.related(row["cuda"])) for row in tables.table("cuda_api_map")["related"]]


def test_advice_for_a2_names_nothing_that_only_950_has() -> None:
    wrong = {name: _todo(fact, fact.target) for name, fact in facts() if ONLY_950.search(_todo(fact, fact.target).replace("documented for A2+A3+950DT", ""))}
    assert wrong == {}
    assert sum(bool(ONLY_950.search(_todo(fact.on_950(), fact.on_950().target))) for _, fact in facts()) > 20, "for Ascend 950 they are named"


def test_headers_of_the_project_are_no_headers_of_cuda() -> None:
    from ascendops.migrate.scanners.cuda_calls import header

    for path in ("cuda/barrier", "cuda/std/atomic", "cub/block/block_reduce.cuh", "thrust/sort.h"):
        fact = header(path)
        assert fact is not None and (fact.target or fact.note), path
    for path in ("cuda/utils.h", "cuda/helpers.cuh"):
        assert header(path) is None, path


def test_functions_named_for_a2_are_there() -> None:
    known = json.loads((resources.data("ascendc_apis.json")).read_text())
    apis = next(value for value in known.values() if isinstance(value, dict) and "ReduceSum" in value) if "ReduceSum" not in known else known
    named = {word for _, fact in facts() for word in re.findall(r"\b[A-Z]\w+", fact.target) if word in apis and fact.status == "custom_op"}
    assert {"ReduceSum", "CumSum", "Sort"} <= named and all("910b" in apis[word]["socs"] for word in named)


def test_advice_reads_as_a_sentence() -> None:
    said = [_todo(fact, fact.target) for _, fact in facts()]
    assert [text for text in said if re.match(r"use (none|no|not|same|ignored|partly|restricted|creation|listed)\b", text)] == []
    assert [text for text in said if re.search(r":\s*(?:none)?$|: :", text)] == []


@pytest.mark.parametrize(("soc", "shuffle", "kernel"), [("ascend910b", "use WholeReduceSum", "write it in Ascend C"), ("ascend950", "use asc_shfl_down", "keep the body as SIMT code")])
def test_the_target_decides(tmp_path: Path, soc: str, shuffle: str, kernel: str) -> None:
    (tmp_path / "k.cu").write_text('#include "cub/cub.cuh"\n#include <cuda_fp8.h>\n__global__ void k(float *x) {\n  x[0] = __shfl_down_sync(0, x[0], 1) + cub::BlockReduce<float, 32>().Sum(x[0]);\n}\n')
    report = scan([tmp_path / "k.cu"])
    aim(report, soc, "")
    got = {finding.construct: finding for finding in report.findings}
    assert got["__shfl_down_sync"].todo.startswith(shuffle) and got["__global__ kernel k"].todo.startswith(kernel)
    assert ("asc_reduce_" in got["cub::BlockReduce"].todo) == (soc == "ascend950")
    assert got["cuda_fp8.h"].status == ("rename" if soc == "ascend950" else "no_equivalent")
    assert "ReduceSum, CumSum and Sort" in got["cub/cub.cuh"].todo and "aclnnSort" in got["cub/cub.cuh"].todo


def test_a_fused_operator_of_another_chip_is_no_advice(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import causal_conv1d\ncausal_conv1d.causal_conv1d_fn(x, w)\nfrom flash_attn import flash_attn_func\nflash_attn_func(q, k, v)\n")
    for unit, there in (("ascend910b", False), ("ascend950", True)):
        report = scan([tmp_path / "a.py"])
        aim(report, unit, "")
        todos = [finding.todo for finding in report.findings if "causal_conv1d" in finding.construct]
        assert todos and any("npu_fused_causal_conv1d" in todo for todo in todos) == there, todos


def test_the_text_names_the_next_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text("__global__ void twice_kernel(float *x) { x[threadIdx.x] *= 2; }\n")
    assert main(["migrate", "k.cu"]) == 0
    out = capsys.readouterr().out
    assert "      next: ascendops new op twice --from k.cu\n" in out and out.startswith("1 file read, 1 finding: 1 custom_op. Effort: 1 takes hours.")
