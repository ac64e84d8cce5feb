"""The table of configurations that `ascendops estimate` reads: one operator call per row."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ascendops.errors import ConfigColumns, ConfigTable

REQUIRED = ("row_id", "op", "input_shapes", "input_dtypes", "output_shapes", "output_dtypes")
_MAX_ELEMENTS = 2**50  # 1 PiB of bytes: beyond any device, and small enough for exact arithmetic in float64

_BYTES = {
    "bool": 1, "int8": 1, "uint8": 1, "fp8": 1, "float8_e4m3fn": 1, "float8_e5m2": 1, "hifloat8": 1, "int4": 0.5,
    "bf16": 2, "fp16": 2, "int16": 2, "uint16": 2, "fp32": 4, "int32": 4, "uint32": 4,
    "fp64": 8, "int64": 8, "uint64": 8, "complex64": 8, "complex128": 16,
}  # fmt: skip
_SPELLING = {
    "bfloat16": "bf16", "float16": "fp16", "half": "fp16", "float32": "fp32", "float": "fp32", "float64": "fp64", "double": "fp64",
}  # fmt: skip
_ABSENT = {"undefined", "null", "none", ""}


@dataclass(frozen=True)
class Tensor:
    """One tensor of a call: its shape, and its dtype by its short name (`bf16`)."""

    shape: tuple[int, ...]
    dtype: str

    @property
    def elements(self) -> int:
        """Product of the dimensions; 1 for a scalar."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> float:
        """Bytes of one element; 2 where the dtype is unknown (the row's note says so)."""
        return _BYTES.get(self.dtype, 2)

    @property
    def bytes(self) -> float:
        """Size without padding."""
        return self.elements * self.itemsize


@dataclass(frozen=True)
class Config:
    """One row: an operator, its tensors and, where known, how it was launched.

    Attributes:
        blocks: The block dim of the launch; 0 where the model must choose.
        aicpu: The call runs on the AI CPU, not on an AI Core.
        notes: What had to be assumed, for the person who reads the prediction.
    """

    row_id: str
    op: str
    chip: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    category: str = ""
    kernel: str = ""
    blocks: int = 0
    aicpu: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class BadRow:
    """A row that describes no call: no number is made up for it."""

    row_id: str
    op: str
    problem: str


def read_table(path: Path, *, soc: str | None = None) -> list[Config | BadRow]:
    """The rows of a CSV file in its order; `soc` is the chip of the rows that name none.

    Raises:
        ConfigColumns: Columns are missing.
        ConfigTable: The file is no CSV table, has no rows, or repeats a row_id.
        OSError: The file cannot be read.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            have = [name.strip() for name in reader.fieldnames or ()]
            reader.fieldnames = have
            _check_columns(path, have, soc)
            rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigTable(f"{path} is not a CSV table in UTF-8", where=str(path), why=str(error)) from None
    if not rows:
        raise ConfigTable(f"{path} has no rows", where=str(path), help="add one row per operator call below the header")
    repeated = [name for name, count in Counter(row["row_id"] for row in rows).items() if count > 1]
    if repeated:
        raise ConfigTable(f"row_id '{repeated[0]}' occurs more than once", where=str(path), help="give each row its own row_id")
    return [parse_row(row, soc=soc) for row in rows]


def _check_columns(path: Path, have: list[str], soc: str | None) -> None:
    wanted = [*REQUIRED, *([] if soc else ["chip"])]
    missing = [name for name in wanted if name not in have]
    if missing:
        raise ConfigColumns(
            f"{path} lacks the column{'s' * (len(missing) > 1)} {', '.join(missing)}",
            where=str(path),
            why=f"it has: {', '.join(have) or 'no header'}",
            help="add them" + (", or name the chip with --soc" if "chip" in missing else "") + "; `ascendops explain ASC330` describes them",
        )


def parse_row(row: Mapping[str, str | None], *, soc: str | None = None) -> Config | BadRow:
    """One row as a configuration, or as a BadRow that says what is wrong with it."""
    cell = {key: (value or "").strip() for key, value in row.items() if isinstance(key, str) and not isinstance(value, list)}
    notes: list[str] = []
    try:
        if not cell["op"]:
            raise ValueError("op is empty")
        inputs = _tensors(cell["input_shapes"], cell["input_dtypes"], "input", notes)
        outputs = _tensors(cell["output_shapes"], cell["output_dtypes"], "output", notes)
        if not inputs and not outputs:
            notes.append("no tensors: nothing but the operator and the launch is known")
            outputs = (Tensor((0,), "int8"),)
        blocks = _blocks(cell.get("block_dim", ""))
    except ValueError as error:
        return BadRow(cell["row_id"], cell["op"], str(error))
    kernel, core = cell.get("kernel", ""), cell.get("core", "")
    return Config(
        cell["row_id"], cell["op"], cell.get("chip") or soc or "", inputs, outputs, cell.get("category", "").lower(), kernel, blocks,
        aicpu=core.upper() == "AI_CPU" or "CPU_" in kernel or cell.get("category", "").lower() == "aicpu", notes=tuple(notes),
    )  # fmt: skip


def _tensors(shapes: str, dtypes: str, what: str, notes: list[str]) -> tuple[Tensor, ...]:
    try:
        parsed = json.loads(shapes or "[]")
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"{what}_shapes is not a JSON list: {_short(shapes)}") from None
    if not isinstance(parsed, list) or not all(isinstance(shape, list) for shape in parsed):
        raise ValueError(f"{what}_shapes must be a list of lists, such as [[8,128],[128]]: {_short(shapes)}")
    for shape in parsed:
        if not all(type(dim) is int and dim >= 0 for dim in shape):
            raise ValueError(f"{what}_shapes has a dimension that is no number from 0 up: {_short(json.dumps(shape))}")
        if math.prod(shape) > _MAX_ELEMENTS:
            raise ValueError(f"{what}_shapes has more than 2**50 elements: {_short(json.dumps(shape))}")
    names = [_dtype(name) for name in dtypes.split(";")]
    if len(names) != len(parsed):  # profilers leave absent tensors out of one list and not of the other
        present = [name for name in names if name not in _ABSENT]
        parsed_present = [shape for shape in parsed if shape] or parsed
        if len(present) == len(parsed_present):
            names, parsed = present, parsed_present
        else:
            notes.append(f"{len(parsed)} {what} shapes but {len(names)} dtypes: the last dtype stands for the rest")
            names = (names + [names[-1]] * len(parsed))[: len(parsed)]
    tensors = [Tensor(tuple(shape), name) for shape, name in zip(parsed, names, strict=True) if name not in _ABSENT]
    unknown = sorted({tensor.dtype for tensor in tensors} - _BYTES.keys())
    if unknown:
        notes.append(f"unknown {what} dtype {', '.join(unknown)}: taken as 2 bytes")
    return tuple(tensors)


def _dtype(name: str) -> str:
    name = name.strip().lower().removeprefix("dt_").removeprefix("torch.")
    return _SPELLING.get(name, name)


def _blocks(text: str) -> int:
    if not text:
        return 0
    try:
        value = float(text)
    except ValueError:
        raise ValueError(f"block_dim is no number: {_short(text)}") from None
    if not (0 <= value <= 65535 and value == int(value)):
        raise ValueError(f"block_dim is no whole number from 0 to 65535: {_short(text)}")
    return int(value)


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
