"""Cases, golden and data of an operator for CANN's operator test kit: `ttk kernel -i cases.csv --plugin golden.py --manual-data-dirs data`."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ascendops.build.tensors import raw_bytes
from ascendops.spec.names import snake

if TYPE_CHECKING:
    import torch

    from ascendops.spec.model import OpSpec
    from ascendops.testing.cases import TestCase

COLUMNS = ("testcase_name", "op_name", "input_shapes", "input_dtypes", "output_shapes", "output_dtypes", "attributes", "is_enabled", "remark")
CSV, GOLDEN, DATA = "cases.csv", "golden.py", "data"

_PLUGIN = '''"""Golden of {op} for the operator test kit: the function of {reference} in float64, rounded to the output's dtype."""

import importlib.util
from pathlib import Path

import ml_dtypes
import numpy as np
import torch

__golden__ = {{"kernel": {{"{op}": "{op}_golden"}}}}

_spec = importlib.util.spec_from_file_location("{op}_reference", Path(__file__).with_name("{reference}"))
_reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_reference)


def _in(array):
    if array is None:
        return None
    wide = array.astype(np.float64) if array.dtype.kind == "f" or array.dtype == ml_dtypes.bfloat16 else array
    return torch.from_numpy(np.ascontiguousarray(wide))


def _out(tensor, dtype):
    return tensor.numpy().astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def {op}_golden(*inputs, output_dtypes=(), **kwargs):
    attrs = {{name: kwargs[name] for name in {attrs!r} if name in kwargs}}
    found = _reference.{function}(*map(_in, inputs), **attrs)
    outputs = found if isinstance(found, (tuple, list)) else (found,)
    return [_out(one, dtype) for one, dtype in zip(outputs, output_dtypes)]
'''


@dataclass
class Exported:
    """What was written: folder, number of cases, and cases left out by name with the reason."""

    folder: Path
    cases: int = 0
    left_out: dict[str, str] = field(default_factory=dict)


def write(operators: Sequence[OpSpec], folder: Path, tier: str = "declared", seed: int = 0, *, force: bool = False) -> list[Exported]:
    """Writes cases.csv, golden.py with the operator's own golden beside it, and inputs and goldens as raw files, one folder per case.

    Several operators get a folder each in `folder`. All of it or nothing; with `force` files that differ are replaced, and kept as NAME.orig.

    Raises:
        GoldenError: The golden fails on a case.
        FileExistsRefused: Files in `folder` differ, and `force` is off.
    """
    from ascendops.render.fileset import staged

    inside = [Path() if len(operators) == 1 else Path(op.name) for op in operators]
    with staged(folder, overwrite=force) as stage:
        made = [_write(op, stage / where, tier, seed) for op, where in zip(operators, inside, strict=True)]
    return [replace(one, folder=folder / where) for one, where in zip(made, inside, strict=True)]


def _write(spec: OpSpec, folder: Path, tier: str, seed: int) -> Exported:
    from ascendops.testing import matrix
    from ascendops.testing.reference import golden_name

    op, made, rows = snake(spec.op_type), Exported(folder), []
    for case in matrix.cases(spec, tier, seed):
        reason = _reason(spec, case)
        if reason:
            made.left_out[case.id] = reason
            continue
        rows.append(_row(spec, case, op, folder / DATA, seed))
    folder.mkdir(exist_ok=True)
    with (folder / CSV).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    reference = f"{op}_reference.py"
    (folder / reference).write_text((spec.root / "golden.py").read_text(encoding="utf-8"), encoding="utf-8")
    text = _PLUGIN.format(op=op, reference=reference, function=golden_name(spec), attrs=tuple(attr.name for attr in spec.attrs))
    (folder / GOLDEN).write_text(text, encoding="utf-8")
    made.cases = len(rows)
    return made


def case_folder(name: str) -> str:
    """The test kit's folder of a case: its name, or a shortened one with the name's hash."""
    if re.fullmatch(r"[A-Za-z0-9_.-]{1,120}", name):
        return name
    return f"{re.sub(r'[^A-Za-z0-9_.-]', '_', name)[:100]}_{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def _reason(spec: OpSpec, case: TestCase) -> str:
    """Why a case cannot be told to the test kit, or nothing."""
    if case.case.layout != "contiguous":
        return f"the test kit's kernel mode has no views, and the case's inputs are {case.case.layout}"
    if any(tensor.mutated for tensor in spec.inputs):
        return "the operator writes into an input"
    return ""


def _row(spec: OpSpec, case: TestCase, op: str, data: Path, seed: int) -> dict[str, Any]:
    import torch

    from ascendops.parity.golden import evaluate
    from ascendops.testing.reference import golden_of

    values = case.values(seed)
    inputs = [values[tensor.name] for tensor in spec.inputs]
    wide = evaluate(golden_of(spec), values, torch.float64)
    outputs = [None if one is None else one.to(dtype or one.dtype) for one, dtype in zip(wide, case.output_dtypes(), strict=True)]
    name = re.sub(r"[^A-Za-z0-9_.-]", "_", case.id)
    _write_case(data / case_folder(name), inputs, outputs)
    return {
        "testcase_name": name, "op_name": op, "attributes": {key: _plain(value) for key, value in case.attrs.items() if value is not None},
        "input_shapes": tuple(map(_shape, inputs)), "input_dtypes": tuple(map(_dtype, inputs)),
        "output_shapes": tuple(map(_shape, outputs)), "output_dtypes": tuple(map(_dtype, outputs)),
        "is_enabled": True, "remark": f"ascendops {case.digest(seed)}",
    }  # fmt: skip


def _write_case(folder: Path, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    flat = [one for value in inputs for one in (value if isinstance(value, list) else [value])]
    for i, tensor in enumerate(flat):
        _write_tensor(folder / f"input_{i}_{_dtype(tensor) or 'none'}.bin", tensor)
    for i, tensor in enumerate(outputs):
        shape = "" if tensor is None else f"__shape_{'x'.join(map(str, tensor.shape)) or 'scalar'}"
        _write_tensor(folder / f"golden_{i}_{_dtype(tensor) or 'none'}{shape}.bin", tensor)


def _write_tensor(path: Path, tensor: torch.Tensor | None) -> None:
    path.write_bytes(b"" if tensor is None else raw_bytes(tensor))


def _shape(value: Any) -> Any:
    return tuple(map(_shape, value)) if isinstance(value, list) else None if value is None else tuple(value.shape)


def _dtype(value: Any) -> Any:
    return tuple(map(_dtype, value)) if isinstance(value, list) else None if value is None else str(value.dtype).removeprefix("torch.")


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
