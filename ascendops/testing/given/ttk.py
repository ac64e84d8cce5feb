"""CSV cases of the operator test kit of CANN (`ttk kernel -i cases.csv`); fields as its documentation of kernel cases lists them."""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ascendops.errors import AscendOpsError, CasesUnreadable, SpecError
from ascendops.spec.names import snake
from ascendops.testing.given.case import Given

if TYPE_CHECKING:
    import torch

    from ascendops.spec.model import OpSpec

NEEDED = ("op_name", "input_shapes", "input_dtypes")
LARGEST = 1 << 28  # elements of a case; the golden needs several float64 copies
RANGE = (-5.0, 5.0)  # of inputs without a range of their own


def read(spec: OpSpec, source: Path) -> Given:
    """The rows of an operator; those of others are passed over, those that do not fit are left out with the reason.

    Raises:
        CasesUnreadable: The file is no such CSV.
    """
    try:
        with source.open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
    except (UnicodeDecodeError, csv.Error) as error:
        raise CasesUnreadable(f"the CSV cannot be read: {error}", where=str(source)) from error
    absent = [name for name in NEEDED if rows and name not in rows[0]]
    if absent or not rows:
        raise CasesUnreadable("the CSV has no rows" if not rows else f"the CSV has no column {absent[0]}", where=f"{source}:1", help=f"it needs: {', '.join(NEEDED)}")
    names = {spec.name, spec.name.removesuffix("_custom"), snake(spec.op_type)}
    found = Given(seen={row["op_name"].strip() for row in rows})
    for line, row in enumerate(rows, 2):
        name = row.get("testcase_name") or f"line_{line}"
        if row["op_name"].strip() not in names:
            continue
        if (row.get("is_enabled") or "True").strip().lower() == "false":
            found.left_out[name] = "is_enabled is False"
        else:
            try:
                _add(found, spec, name, row, f"{source}:{line}", source.parent)
            except AscendOpsError as error:
                found.left_out[name] = f"{error.what} ({source}:{line})"
    return found


def _add(found: Given, spec: OpSpec, name: str, row: Mapping[str, str], where: str, folder: Path) -> None:
    shapes = _field(row, "input_shapes", where)
    dtypes = _spread(_field(row, "input_dtypes", where), len(shapes))
    if len(shapes) > len(spec.inputs):
        found.left_out[name] = f"the row has {len(shapes)} inputs, {spec.name} has {len(spec.inputs)}"
        return
    described: dict[str, Any] = {}
    for tensor, shape, dtype in zip(spec.inputs, shapes, dtypes, strict=False):
        described[tensor.name] = None if shape is None else _described(shape, dtype, tensor.variadic)
    given = dict(_field(row, "attributes", where) or {})
    constants = {key: given.pop(key) for key in list(given) if key in described}
    attrs = {key: tuple(value) if isinstance(value, list) else value for key, value in given.items() if not key.startswith("#")}
    ranges = _spread(_field(row, "input_data_ranges", where) or (RANGE,), len(shapes))
    files = _field(row, "manual_input_binaries", where) or ()
    content = hashlib.sha256(json.dumps(row, sort_keys=True).encode()).hexdigest()[:16]

    total = sum(math.prod(one.shape) for value in described.values() for one in (value if isinstance(value, list) else [value]) if one is not None)
    if total > LARGEST:
        found.left_out[name] = f"its inputs have {total} elements, more than the {LARGEST} that a case may have here"
        return

    def load(seed: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for i, (key, value) in enumerate(described.items()):
            if value is None:
                made[key] = None
            elif i < len(files) and files[i]:
                made[key] = _from_file(folder / files[i], value, where)
            elif key in constants:
                made[key] = _constant(constants[key], value)
            else:
                made[key] = _make(value, ranges[i], (seed, content, key))
        return made

    found.add(spec, name, described, attrs, load=load, content=content)


def _field(row: Mapping[str, str], name: str, where: str) -> Any:
    text = (row.get(name) or "").strip()
    if not text:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError) as error:
        raise CasesUnreadable(f"{name} is no Python literal: {text[:60]}", where=where) from error


def _spread(values: Sequence[Any], count: int) -> list[Any]:
    """A value for each input; one value stands for all."""
    return list(values) * count if len(values) == 1 else [*values, *[values[-1]] * (count - len(values))]


def _described(shape: Any, dtype: Any, variadic: bool) -> Any:
    if variadic:
        dtypes = _spread(dtype if isinstance(dtype, tuple) else (dtype,), len(shape))
        return [_described(one, word, False) for one, word in zip(shape, dtypes, strict=True)]
    if not isinstance(shape, (tuple, list)) or not all(isinstance(size, int) and size >= 0 for size in shape):
        raise SpecError(f"{shape!r} is no shape of one tensor", help="input_shapes holds one shape for each input: ((3, 33),)")
    return SimpleNamespace(shape=tuple(shape), dtype=dtype)


def _make(described: Any, bounds: Any, words: tuple[Any, ...]) -> Any:
    if isinstance(described, list):
        return [_make(one, bounds, (*words, i)) for i, one in enumerate(described)]
    import torch

    from ascendops.parity import inputs

    dtype = getattr(torch, described.dtype)
    low, high = bounds if isinstance(bounds, (tuple, list)) and bounds and not isinstance(bounds[0], (tuple, list)) else RANGE
    count = math.prod(described.shape)
    stream = inputs.key(*words)
    if dtype == torch.bool:
        flat = torch.from_numpy(inputs.bits(stream, count) >> 63 == 1)
    elif dtype.is_floating_point:
        flat = torch.from_numpy(inputs.uniform(stream, count, float(low), float(high)))
    else:
        return inputs.integers(described.shape, dtype, int(low), max(int(high), int(low) + 1), stream)
    return flat.to(dtype).reshape(described.shape)


def _constant(value: Any, described: Any) -> torch.Tensor:
    import torch

    return torch.tensor(value, dtype=getattr(torch, described.dtype)).reshape(described.shape)


def _from_file(path: Path, described: Any, where: str) -> torch.Tensor:
    """An input from .npy, .pt or raw bytes.

    Raises:
        CasesUnreadable: The file is not there or has another size.
    """
    import numpy as np
    import torch

    dtype = getattr(torch, described.dtype)
    try:
        if path.suffix == ".pt":
            tensor: torch.Tensor = torch.load(path, weights_only=True, map_location="cpu")
        elif path.suffix == ".npy":
            tensor = torch.from_numpy(np.load(path, allow_pickle=False))
        else:
            tensor = torch.frombuffer(bytearray(path.read_bytes()), dtype=dtype)
        return tensor.to(dtype).reshape(described.shape)
    except (OSError, ValueError, RuntimeError) as error:
        raise CasesUnreadable(f"{path} does not hold a {described.dtype} tensor of shape {described.shape}: {error}", where=where) from error
