"""`ascendops test --record`: runs an operator's reference on its cases and writes a golden bundle. Needs no kernel and no pytest."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.errors import BundleOperator, BundleStale, NothingSelected

if TYPE_CHECKING:
    from ascendops.parity.bundle import Bundle
    from ascendops.spec.model import OpSpec
    from ascendops.testing.cases import TestCase
    from ascendops.testing.farm import Farm
    from ascendops.testing.reference import Reference

_VARIABLES = (
    "NVIDIA_TF32_OVERRIDE",
    "CUBLAS_WORKSPACE_CONFIG",
    "TRITON_INTERPRET",
    "INF_NAN_MODE_ENABLE",
    "ASCEND_LAUNCH_BLOCKING",
)


@dataclass(frozen=True)
class Recorded:
    """What one operator's recording came to: `cases` recorded, `left_out` by name with the reason, the bundle's id and bytes."""

    op: str
    folder: Path
    id: str
    cases: int
    left_out: dict[str, str]
    how: str
    bytes: int


def record(
    spec: OpSpec,
    folder: Path,
    reference: str = "auto",
    seed: int = 0,
    largest: int = 1 << 16,
    budget: int | None = None,
    tier: str = "declared",
    keyword: str | None = None,
) -> Recorded:
    """Records the cases of an operator.

    Args:
        folder: Where the bundle goes.
        tier: Which cases: those of op.toml, or those that a tier adds.
        keyword: pytest's -k expression over the ids of the tests; None takes every case.
        reference: auto, triton, cuda or torch.
        largest: Outputs with more elements are stored as a sample.
        budget: Bytes of outputs after which further cases are left out (named in the manifest).

    Raises:
        NothingSelected: The reference ran on no case.
    """
    from ascendops.parity.bundle import Recording
    from ascendops.testing import matrix
    from ascendops.testing.reference import choose

    chosen = choose(spec, reference)
    made: Recording | None = None
    left_out: dict[str, str] = {}
    try:
        wanted = [case for case in matrix.cases(spec, tier, seed) if matches(f"{spec.name}[{case.id}]", keyword)]
        for case in sorted(wanted, key=lambda case: case.elements):
            if made is not None and budget is not None and made.size > budget:
                left_out[case.id] = f"the bundle has reached {budget} bytes"
                continue
            made = _one(made, spec, case, chosen, seed, largest, left_out)
    finally:
        chosen.close()
    if not wanted:
        raise NothingSelected(f"no case of {spec.name} was selected", why=f"-k '{keyword}'", help="list the cases: ascendops test -- --collect-only -q")
    if made is None:
        why = "\n".join(sorted(set(left_out.values()))[:3]) or chosen.missing
        raise NothingSelected(f"the reference of {spec.name} ran on no case, so nothing was recorded", why=why)
    for name, why in left_out.items():
        made.leave_out(name, why)
    identity = made.write(folder)
    return Recorded(spec.name, folder, identity, len(made.manifest["cases"]), left_out, made.manifest["how"], made.size)


def matches(test: str, keyword: str | None) -> bool:
    """Whether a test's id has the words of pytest's -k expression."""
    if not keyword:
        return True
    from _pytest.mark.expression import Expression

    lowered = test.lower()
    return Expression.compile(keyword).evaluate(lambda word, /, **_: word.lower() in lowered)


def _one(
    made: Any, spec: OpSpec, case: TestCase, reference: Reference, seed: int, largest: int, left_out: dict[str, str]
) -> Any:
    from ascendops.parity.bundle import Recording
    from ascendops.parity.gates import same_bits

    values = case.values(seed)
    answer, again = reference(values), reference(values)
    if answer.outputs is None:
        left_out[case.id] = answer.reason
        return made
    if made is None:
        made = Recording(spec.name, spec.schema.text, answer.how, digests(spec, reference), provenance(), largest)
    repeatable = again.outputs is not None and all(map(same_bits, answer.outputs, again.outputs))
    made.add(case.id, case.recipe(seed), values, answer.outputs, repeatable)
    return made


def digests(spec: OpSpec, reference: Reference) -> dict[str, str]:
    """What the recorded outputs depend on: the operator's interface and the source of its reference."""
    from ascendops.spec.digest import digest, interface_digest

    interface = digest({"schema": spec.schema.text, "tensors": interface_digest(spec)})
    return {"interface": interface, "reference": source_hash(reference.target)}


def source_hash(target: str) -> str:
    """sha256 of the file of `file:function`; empty for a target without one."""
    path = Path(target.rpartition(":")[0])
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def provenance() -> dict[str, Any]:
    """What ran where: versions, device, settings and environment that decide on results. No host name, no paths."""
    import numpy as np
    import torch

    from ascendops import __version__

    found: dict[str, Any] = {
        "ascendops": __version__, "python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__,
        "machine": platform.machine(), "cpu_capability": torch.backends.cpu.get_cpu_capability(),
        "allow_tf32": torch.backends.cuda.matmul.allow_tf32, "matmul_precision": torch.get_float32_matmul_precision(),
        "cudnn_deterministic": torch.backends.cudnn.deterministic,
        "environment": {name: os.environ[name] for name in _VARIABLES if name in os.environ},
    }  # fmt: skip
    if "triton" in sys.modules or _has("triton"):
        found["triton"] = _version("triton")
    if torch.cuda.is_available():
        major, minor = torch.cuda.get_device_capability()
        found |= {
            "gpu": torch.cuda.get_device_name(),
            "sm": f"{major}.{minor}",
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
        }
    return found


def check(bundle: Bundle, spec: OpSpec, reference: str | None) -> None:
    """Whether a bundle belongs to an operator as it is declared now.

    Args:
        reference: `file:function` of the reference that the bundle was recorded from, if it is here.

    Raises:
        BundleOperator: It is of another operator.
        BundleStale: The declaration or the reference's source has changed since.
    """
    from ascendops.spec.digest import digest, interface_digest

    if bundle.op != spec.name and bundle.schema.partition("(")[2] != spec.schema.text.partition("(")[2]:
        raise BundleOperator(
            f"the bundle was recorded for {bundle.op}, this operator is {spec.name}", where=str(bundle.path)
        )
    now = digest({"schema": spec.schema.text, "tensors": interface_digest(spec)})
    if bundle.op == spec.name and bundle.digests["interface"] != now:
        raise BundleStale(
            f"STALE: the schema or the tensors of {spec.name} have changed since the recording",
            where=str(bundle.path),
            help="record again: ascendops test --record FOLDER",
        )
    source = source_hash(reference) if reference else ""
    if source and bundle.digests["reference"] and source != bundle.digests["reference"]:
        raise BundleStale(
            f"STALE: the source of {reference} has changed since the recording",
            where=str(bundle.path),
            help="record again: ascendops test --record FOLDER",
        )


def record_all(
    specs: Sequence[OpSpec], folder: Path, reference: str, seed: int, tier: str = "declared", farm: Farm | None = None,
    keyword: str | None = None,
) -> list[Recorded]:  # fmt: skip
    """One bundle per operator: in `folder` itself if there is one operator, else in a folder of its name.

    Args:
        farm: Hosts that record; this one if there is none.

    Raises:
        NothingSelected: One could not be recorded.
    """
    targets = [folder if len(specs) == 1 else folder / spec.name for spec in specs]
    if farm is None:
        return [record(spec, target, reference, seed, tier=tier, keyword=keyword) for spec, target in zip(specs, targets, strict=True)]
    from ascendops.testing.options import Options

    options = Options(reference=reference, seed=seed, tier=tier)
    tasks = [farm.record(spec, options) for spec in specs]
    made = []
    for task, target in zip(tasks, targets, strict=True):
        recorded, files = farm.files(task)
        target.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (target / name).write_bytes(content)
        made.append(replace(recorded, folder=target))
    return made


def _has(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


def _version(name: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"
