"""Verdict files: the outputs of a test run with everything that judges them, so that anyone can verify them without the device.

A verdict is a folder: `verdict.json` and `outputs.safetensors`. It holds op.toml and golden.py, each case's recipe, the sha256 of its
inputs, the outputs and the verdict on them. `verify` makes the inputs again, computes the golden again and judges the outputs again.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import BundleVersion, NotAVerdict, VerdictDisagrees

if TYPE_CHECKING:
    import torch

    from ascendops.parity.judge import Judged
    from ascendops.report.model import CaseReport
    from ascendops.spec.model import OpSpec
    from ascendops.testing.cases import TestCase

FORMAT = "ascendops-verdict/1"
MANIFEST, DATA = "verdict.json", "outputs.safetensors"


class VerdictFile:
    """Collects cases and writes the folder."""

    def __init__(self) -> None:
        self.operators: dict[str, dict[str, Any]] = {}
        self.cases: list[dict[str, Any]] = []
        self.tensors: dict[str, torch.Tensor] = {}

    def add(
        self, case: TestCase, report: CaseReport, outputs: list[torch.Tensor | None], values: Mapping[str, Any]
    ) -> None:
        """Adds a case that ran, with the outputs of its first run."""
        from ascendops.parity.bundle import key_of

        spec, number = case.spec, len(self.cases)
        self.operators.setdefault(spec.name, {"op.toml": _text(spec.path), "golden.py": _text(spec.root / "golden.py")})
        stored = []
        for i, out in enumerate(outputs):
            stored.append(None if out is None else f"{number}.{i}")
            if out is not None:
                self.tensors[f"{number}.{i}"] = out
        self.cases.append({
            "op": spec.name, "id": report.id, "column": case.column, "recipe": case.recipe(report.seed), "inputs": key_of(values),
            "status": report.status, "labels": report.labels, "gates": [[gate["gate"], gate["status"]] for gate in report.gates],
            "outputs": stored,
        })  # fmt: skip

    def extend(self, other: VerdictFile) -> None:
        """Adds the cases of another operator."""
        start = len(self.cases)
        self.operators.update(other.operators)
        for name, tensor in other.tensors.items():
            number, _, output = name.partition(".")
            self.tensors[f"{start + int(number)}.{output}"] = tensor
        for entry in other.cases:
            outputs = [None if key is None else f"{start + int(key.split('.')[0])}.{key.split('.')[1]}" for key in entry["outputs"]]
            self.cases.append({**entry, "outputs": outputs})

    def write(self, folder: Path, environment: Mapping[str, Any]) -> str:
        """Writes the folder and returns the verdict's id."""
        from ascendops.parity import safetensors
        from ascendops.parity.bundle import identity
        from ascendops.parity.inputs import GENERATOR

        data = safetensors.dumps(self.tensors)
        manifest: dict[str, Any] = {
            "format": FORMAT, "generator": GENERATOR, "environment": dict(environment), "operators": self.operators, "cases": self.cases,
            "data": {"file": DATA, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()},
        }  # fmt: skip
        manifest["id"] = identity(manifest)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / DATA).write_bytes(data)
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
        return str(manifest["id"])


@dataclass(frozen=True)
class Verified:
    """What verifying a file came to: `agree` cases of `cases`, and what was claimed about how many pass."""

    id: str
    environment: dict[str, Any]
    cases: int
    passed: int
    disagreements: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready fields."""
        return {
            "id": self.id, "environment": self.environment, "cases": self.cases, "passed": self.passed,
            "verified": not self.disagreements, "disagreements": list(self.disagreements),
        }  # fmt: skip


def verify(path: Path) -> Verified:
    """Judges the outputs of a verdict again. Runs the golden.py that it contains.

    Raises:
        NotAVerdict: It is something else, or not there.
        VerdictDisagrees: A hash does not fit: the file was changed.
        BundleVersion: It is of another format or generator.
        BundleTruncated: Its outputs are incomplete.
    """
    manifest, tensors = _load(path)
    disagreements = []
    with tempfile.TemporaryDirectory(prefix="ascendops-verdict-") as folder:
        specs = {name: _spec(Path(folder) / name, name, files) for name, files in manifest["operators"].items()}
        for entry in manifest["cases"]:
            disagreements += _case(specs[entry["op"]], entry, tensors, manifest["environment"])
    passed = sum(entry["status"] in ("pass", "pass_by_reference") for entry in manifest["cases"])
    return Verified(manifest["id"], manifest["environment"], len(manifest["cases"]), passed, tuple(disagreements))


def _load(path: Path) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    from ascendops.parity import safetensors
    from ascendops.parity.bundle import identity
    from ascendops.parity.inputs import GENERATOR

    file = path / MANIFEST if path.is_dir() else path
    manifest = _manifest(file)
    if manifest.get("format") != FORMAT or manifest.get("generator") != GENERATOR:
        raise BundleVersion(
            f"the verdict has the format {manifest.get('format')!r} and generator {manifest.get('generator')!r}, this version {FORMAT!r} and {GENERATOR!r}",
            where=str(file), why="inputs that another generator makes are other inputs",
            help="verify it with the version of ascendops that wrote it, or write it again: ascendops test --verdict DIR",
        )
    if manifest.get("id") != identity(manifest):
        raise VerdictDisagrees("the verdict was changed after it was written: its id does not fit", where=str(file))
    data = file.parent / manifest["data"]["file"]
    tensors = safetensors.load(data)
    if hashlib.sha256(data.read_bytes()).hexdigest() != manifest["data"]["sha256"]:
        raise VerdictDisagrees(
            "the outputs were changed after the verdict was written: their sha256 differs", where=str(data)
        )
    return manifest, tensors


def _manifest(file: Path) -> dict[str, Any]:
    why = None
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(manifest, dict) and str(manifest.get("format", "")).startswith(FORMAT.partition("/")[0] + "/"):
            return manifest
        named = manifest.get("format") if isinstance(manifest, dict) else None
        why = f"it is JSON of the format {named!r}" if named else "it is JSON without the format of a verdict"
    except FileNotFoundError:
        why = "there is no such file"
    except (ValueError, OSError) as error:
        why = f"it cannot be read as JSON: {error}"
    raise NotAVerdict(f"{file} is not a verdict", where=str(file), why=why, help=f"name a folder with {MANIFEST} that `ascendops test --verdict DIR` wrote")


def _spec(folder: Path, name: str, files: Mapping[str, str]) -> OpSpec:
    from ascendops.spec import parse

    folder.mkdir(parents=True)
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
    return parse(files["op.toml"], folder / "op.toml").sibling(name)


def _case(
    spec: OpSpec, entry: Mapping[str, Any], tensors: Mapping[str, torch.Tensor], environment: Mapping[str, Any]
) -> list[str]:
    from ascendops.parity.bundle import key_of
    from ascendops.testing.cases import from_recipe

    case = from_recipe(spec, entry["recipe"], entry["column"])
    values = case.values(entry["recipe"]["seed"])
    if key_of(values) != entry["inputs"]:
        return [f"{entry['id']}: its inputs are not those of the recipe"]
    if entry["status"] == "crash" or not entry["outputs"]:
        return []  # there is nothing to judge
    again = _judge(case, values, entry, tensors, environment)
    now = {gate.gate: gate.status for gate in again.result.gates}
    claimed = dict(entry["gates"])
    return [
        f"{entry['id']}: gate {gate} is {now.get(gate, 'absent')}, the file says {claimed[gate]}"
        for gate in ("G1", "G2", "G4")
        if gate in claimed and now.get(gate) != claimed[gate] and "skipped" not in (claimed[gate], now.get(gate))
    ]


def _judge(
    case: TestCase,
    values: Mapping[str, Any],
    entry: Mapping[str, Any],
    tensors: Mapping[str, torch.Tensor],
    environment: Mapping[str, Any],
) -> Judged:
    from ascendops.parity.execute import Run
    from ascendops.parity.judge import Judge, no_reference
    from ascendops.testing.reference import golden_of

    outputs = [None if key is None else tensors[key] for key in entry["outputs"]]

    def stored(_values: Any, _poison: Any, _outs: Any) -> Run:
        return Run(outputs=outputs, devices=["cpu" for _ in outputs])

    judge = Judge(golden_of(case.spec), None, environment.get("level", "L0"), 1, seed=entry["recipe"]["seed"], compute=case.spec.compute, names=tuple(case.output_names()))
    return judge(entry["id"], values, stored, (), case.output_dtypes(), no_reference)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
