"""Relations between results and gradients: what holds passes, what does not is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from ascendops.errors import BadValue
from ascendops.parity import inputs, relations
from ascendops.parity.execute import Run, run_once
from ascendops.parity.judge import Judge
from ascendops.parity.labels import LABELS
from ascendops.render import new_project
from ascendops.report.model import CaseReport
from ascendops.spec import load
from ascendops.testing import matrix
from ascendops.testing.beyond import Beyond
from ascendops.testing.reference import golden_of

Function = Callable[..., Any]
DTYPES = (torch.float32, torch.float16, torch.bfloat16)


def wide(function: Function) -> Function:
    return lambda x, **attrs: function(x.float(), **attrs).to(x.dtype)


def softmax(x: torch.Tensor) -> torch.Tensor:
    return F.softmax(x, -1)


def with_padding(x: torch.Tensor) -> torch.Tensor:
    powers = torch.exp(x - x.amax(-1, keepdim=True))
    return powers / (powers.sum(-1, keepdim=True) + 64 * torch.exp(-x.amax(-1, keepdim=True)))


def with_all_rows(x: torch.Tensor) -> torch.Tensor:
    return softmax(x - x.mean(0, keepdim=True) * 2**-6)


CHECKS: list[tuple[str, Function, Function, bool]] = [
    ("shift", softmax, softmax, True),
    ("shift", softmax, with_padding, False),
    ("rows", softmax, softmax, True),
    ("rows", softmax, with_all_rows, False),
    ("permute", softmax, softmax, True),
    ("permute", softmax, lambda x: softmax(x) * (1 + torch.arange(x.shape[-1]) / 64), False),
    ("permute", lambda x: x.sum(-1), lambda x: x.sum(-1), True),
    ("permute", lambda x: x.sum(-1), lambda x: x[..., :-1].sum(-1), False),
    ("scale", lambda x: x.sum(-1), lambda x: x.sum(-1), True),
    ("scale", lambda x: x.sum(-1), lambda x: x.sum(-1) + 0.5, False),
    ("odd", torch.tanh, torch.tanh, True),
    ("odd", torch.tanh, lambda x: torch.tanh(x.clamp(min=-1)), False),
    ("idempotent", F.relu, F.relu, True),
    ("involution", lambda x: -x, lambda x: -x, True),
    ("involution", lambda x: x.mT, lambda x: x.mT.contiguous(), True),
    ("involution", lambda x: -x, lambda x: 0.5 - x.abs(), False),
    ("additive", lambda x: x.cumsum(-1), lambda x: x.cumsum(-1), True),
    ("additive", lambda x: x.sum(-1), lambda x: x.sum(-1), True),
    ("additive", lambda x: x.sum(-1), lambda x: x.sum(-1) + 8, False),
    ("additive", lambda x: x.sum(-1), lambda x: x.abs().sum(-1), False),
    ("idempotent", F.relu, lambda x: F.relu(x) * 0.75, False),
]


@pytest.mark.parametrize(("kind", "golden", "kernel", "holds"), CHECKS, ids=[f"{kind}-{i}" for i, (kind, *_) in enumerate(CHECKS)])
def test_relations(kind: str, golden: Function, kernel: Function, holds: bool) -> None:
    for dtype in DTYPES:
        values = {"x": inputs.values((7, 65), dtype, "random", 3)}
        gate = relations.check(kind, ["x"], golden, values, lambda v: run_once(wide(kernel), v, None, None), [dtype])
        assert gate.failed != holds, (dtype, gate.detail)
        assert holds or gate.labels == ("RELATION",)


def test_labels_have_pages() -> None:
    assert {"RELATION", "GRADIENT"} <= set(LABELS)


def test_relations_are_declared(tmp_path: Path) -> None:
    new_project("softmax", tmp_path / "softmax")
    file = tmp_path / "softmax" / "op.toml"
    assert load(file).relations == {"shift": ("x",), "rows": ("x",), "permute": ("x",)}
    file.write_text(file.read_text().replace('shift   = ["x"]', 'shift   = ["y"]'))
    with pytest.raises(BadValue, match="no input"):
        load(file)


def reports(name: str, tmp_path: Path, change: Callable[[Any, str], Any] = lambda out, op: out, golden_text: tuple[str, str] = ("", "")) -> list[CaseReport]:
    """The reports of the first cases of a template's operator whose kernels are their goldens in float32."""
    new_project(name, tmp_path / name)
    file = tmp_path / name / "golden.py"
    file.write_text(file.read_text().replace(*golden_text) if golden_text[0] else file.read_text())
    spec = load(tmp_path / name)

    def call(op: Any, values: Any, poison: int | None, outs: Any) -> Run:
        golden = golden_of(op)

        def kernel(*tensors: Any, **attrs: Any) -> Any:
            made = golden(*[t.float() if isinstance(t, torch.Tensor) and t.is_floating_point() else t for t in tensors], **attrs)
            made = made if isinstance(made, tuple) else (made,)
            names = [str(tensor.dtype).removeprefix("torch.") for tensor in tensors]
            column = next(i for i in range(op.columns) if all(a.dtypes[i] == b for a, b in zip(op.inputs, names, strict=False)))
            outs = tuple(out.to(getattr(torch, tensor.dtypes[column])) for out, tensor in zip(made, op.outputs, strict=True))
            return change(outs, op.name)

        return run_once(kernel, values, poison, outs)

    beyond, found = Beyond(spec, call, 0), []
    for case in [case for case in matrix.cases(spec, "declared") if case.case.layout == "contiguous" and 8 <= case.elements <= 4096][:6]:
        values = case.values(0)
        judged = Judge(golden_of(spec))(case.id, values, lambda v, poison, outs: call(spec, v, poison, outs), dtypes=case.output_dtypes())
        report = CaseReport(case.id, spec.name, status="pass")
        beyond(report, case, values, judged)
        found.append(report)
    return found


ONE_OF_EACH_FAMILY = [
    "relu", "neg", "axpy", "sub", "sum", "cumsum", "transpose", "permute", "sort", "rope", "gather", "scatter_add", "embedding", "dropout", "conv2d", "swiglu", "rms_norm",
    "flash_attention", "batched_matmul", "grouped_matmul", "linear", "quantize_per_token", "dequantize",
]  # fmt: skip


@pytest.mark.parametrize("name", ONE_OF_EACH_FAMILY)
def test_relations_that_templates_declare_hold(name: str, tmp_path: Path) -> None:
    found = reports(name, tmp_path)
    gates = [gate for report in found for gate in report.gates if gate["name"].startswith("relation ")]
    assert all(report.passed for report in found), [(r.id, r.story) for r in found if not r.passed]
    assert {gate["name"].removeprefix("relation ") for gate in gates} == set(load(tmp_path / name).relations) != set()


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "cross_entropy", "swiglu"])
def test_gradients_of_templates_are_gradients(name: str, tmp_path: Path) -> None:
    found = reports(name, tmp_path)
    gates = [gate for report in found for gate in report.gates]
    assert gates and all(report.passed for report in found), [(r.id, r.story) for r in found if not r.passed]
    assert any(gate["name"] == "declared gradient" and gate["status"] == "pass" for gate in gates)


def test_a_backward_golden_that_is_not_the_gradient_is_named(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    new_project("layer_norm", tmp_path / "own" / "layer_norm")
    text = (tmp_path / "own" / "layer_norm" / "golden.py").read_text()
    line = next(line for line in text.splitlines() if line.strip().startswith("g = ") or ("grad_y * weight" in line and "=" in line and "def" not in line))
    found = reports("layer_norm", tmp_path, golden_text=(line, line + " * 2"))
    assert any("GRADIENT" in report.labels for report in found), line


def test_a_backward_kernel_that_forgets_a_term_is_named(tmp_path: Path) -> None:
    def change(outs: Any, op: str) -> Any:
        return (outs[0] + outs[0].mean(-1, keepdim=True) + 0.125, *outs[1:]) if op.endswith("backward") else outs

    found = reports("layer_norm", tmp_path, change)
    assert any({"GRADIENT"} < set(report.labels) for report in found), [report.gates for report in found]


@pytest.mark.parametrize("shape", [(3, 5, 0), (0, 4), (7,)], ids=str)
@pytest.mark.parametrize("name", ["rms_norm_backward", "layer_norm_backward", "add_rms_norm_backward"])
def test_goldens_of_norms_take_empty_rows(name: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    new_project(name, tmp_path / name)
    spec = load(tmp_path / name)
    shapes = {"weight": shape[-1:], "mean": (*shape[:-1], 1), "rstd": (*shape[:-1], 1)}
    outs = golden_of(spec)(*[torch.zeros(shapes.get(tensor.name, shape)) for tensor in spec.inputs])
    assert [tuple(out.shape) for out in outs] == [shape, *[shape[-1:]] * (len(outs) - 1)]
