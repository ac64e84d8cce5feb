"""How far torch's own kernels on the device here are from fp64, in the units of our bounds: what the constants of the rule rest on."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from ascendops.parity import verify
from ascendops.parity.bundle import Recording
from ascendops.testing.record import provenance
from tools.kill_matrix.__main__ import DTYPES, RECIPES, cases
from tools.kill_matrix.more import SUBJECTS
from tools.kill_matrix.subjects import Subject

RECORDED = ("softmax", "layer_norm", "rms_norm", "matmul", "attention", "cross_entropy")
RECORDED_RECIPES = ("random", "coded")


def on_device(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function on the GPU, if there is one, in the inputs' own dtypes."""
    device = "cuda" if torch.cuda.is_available() else "cpu"

    def run(*tensors: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = function(*[tensor.to(device) for tensor in tensors]).cpu()
        return result

    return run


def calibrate(out: Path, only: Sequence[str], deadline: float) -> dict[str, Any]:
    """Judges every operator of the kill matrix on the device, in each dtype, with and without TF32; records some as bundles."""
    where = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    rows = []
    for subject in SUBJECTS:
        if (only and subject.name not in only) or time.monotonic() > deadline:
            continue
        for dtype in DTYPES:
            data = cases(subject, dtype)
            modes = (False, True) if dtype == torch.float32 and subject.name in ("matmul", "attention") else (False,)
            for tf32 in modes:
                torch.backends.cuda.matmul.allow_tf32 = tf32
                rows += _rows(subject, dtype, data, tf32)
            torch.backends.cuda.matmul.allow_tf32 = False
        if subject.name in RECORDED:
            _record(subject, out / "torch" / subject.name, where)
        print(f"calibrated {subject.name}", file=sys.stderr, flush=True)
    return {"where": where, "provenance": provenance(), "rows": rows}


def _rows(subject: Subject, dtype: torch.dtype, data: list[dict[str, Any]], tf32: bool) -> list[dict[str, Any]]:
    verdict = verify(on_device(subject.golden), subject.golden, data, repeats=5)
    rows = []
    for recipe, case in zip(RECIPES, verdict.cases, strict=True):
        gates = {gate.gate: {"status": gate.status, "detail": gate.detail, **gate.numbers} for gate in case.gates}
        rows.append({
            "op": subject.name, "dtype": str(dtype).removeprefix("torch."), "values": recipe, "tf32": tf32, "status": case.status,
            "labels": list(case.labels), "notes": case.notes, "worst_ulp": None if case.worst is None else case.worst.ulp,
            "gates": gates, "standards": case.standards, "error": case.error,
        })  # fmt: skip
    return rows


def _record(subject: Subject, folder: Path, where: str) -> None:
    made = Recording(
        subject.name, f"{subject.name}(torch)", f"torch on {where}", {"interface": "", "reference": ""}, provenance()
    )
    for dtype in DTYPES:
        for recipe, values in zip(RECIPES, cases(subject, dtype), strict=True):
            if recipe in RECORDED_RECIPES:
                out = on_device(subject.golden)(*values.values())
                name = f"{str(dtype).removeprefix('torch.')}-{recipe}"
                made.add(name, {"values": recipe, "shapes": [list(t.shape) for t in values.values()]}, values, [out])
    made.write(folder)


def markdown(result: dict[str, Any]) -> str:
    """The calibration as a table: per operator and dtype, over five kinds of values."""
    lines = ["| op | dtype | pass | largest error / allowed | mean | worst in ulp | rejected by |", "|---|---|--:|--:|--:|--:|---|"]
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in result["rows"]:
        groups.setdefault((row["op"], row["dtype"] + (" (TF32)" if row["tf32"] else "")), []).append(row)
    for (op, dtype), rows in groups.items():
        errors = [row["gates"]["G2"] for row in rows if "G2" in row["gates"]]
        ulps = [row["worst_ulp"] for row in rows if isinstance(row["worst_ulp"], float)]
        wide = any("intermediates" in note for row in rows for note in row["notes"])
        refused = sorted({name for row in rows for name, status in row["standards"].items() if status == "fail"})
        passed = sum(row["status"] == "pass" for row in rows)
        lines.append(
            f"| {op} | {dtype}{' *' if wide else ''} | {passed} of {len(rows)} | {max(e['max'] for e in errors):.2f} | "
            f"{max(e['mean'] for e in errors):.3f} | {max(ulps):.3g} | {', '.join(refused)} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    """`python -m tools.calibrate calibration.json`: prints the table of what tools/record_bundles.py measured."""
    print(markdown(json.loads(Path(sys.argv[1]).read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
