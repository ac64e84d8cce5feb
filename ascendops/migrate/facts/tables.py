"""Reading the fact tables: a `Fact` says what becomes of one CUDA name, and which source says so."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field, replace
from typing import Any

from ascendops import resources

TABLES = (
    "aten_support",
    "cuda_api_map",
    "cuda_cpp_map",
    "cuda_patterns",
    "fused_replacements",
    "library_map",
    "onnx_support",
    "triton_support",
)


@dataclass(frozen=True)
class Fact:
    """What a fact table says about one name.

    Attributes:
        name: The CUDA name that the row is about.
        status: For Atlas A2/A3.
        target: The Ascend name; empty if there is none.
        status_950: For Ascend 950, where the row has its own; `target_950` and `note_950` too (None: the same note).
        call: Runtime names: how a call changes, by its number of arguments (see `scanners.cuda_edits`); empty for a name that is no function, None where
            a rename is not all.
        shim: Whether transfer_to_npu handles it.
        quiet: A flag or argument whose call has its own finding.
    """

    name: str
    status: str
    target: str = ""
    note: str = ""
    source: str = ""
    status_950: str = ""
    shim: bool | None = None
    versions: str = ""
    quiet: bool = False
    target_950: str = ""
    note_950: str | None = None
    call: dict[str, dict[str, str]] | None = field(default=None, compare=False)

    def on_950(self) -> Fact:
        """The same row as the answer for Ascend 950."""
        note = self.note if self.note_950 is None else self.note_950
        return replace(self, status=self.status_950 or self.status, target=self.target_950 or self.target, note=note)

    @property
    def evidence(self) -> str:
        """The name, its status and where both were read."""
        return f"{self.name}: {self.status}" + (f" ({self.source})" if self.source else "")


@functools.cache
def table(name: str) -> dict[str, Any]:
    """One fact table as it lies on disk."""
    path = resources.data("migration") / f"{name}.json"
    rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return rows


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"torch {version}: {hardware}" for version, hardware in sorted(value.items()))
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def fact(row: dict[str, Any], name: str, target: str) -> Fact:
    """A row of any table as a Fact; `target` is the key under which this table keeps the Ascend name."""
    versions = [f"{key} {row[key]}" for key in ("torch", "torch_npu") if isinstance(row.get(key), str)]
    doc = _text(row.get("doc"))
    note = "; ".join(
        part for part in (_text(row.get("note")), f"documented for {doc}" if doc[:1] == "A" else "") if part
    )
    return Fact(
        name,
        row.get("status") or row["status_2201"],
        _text(row.get(target)) or _text(row.get("instead")),
        note,
        _text(row.get("source")),
        row.get("status_3510", ""),
        row.get("shim"),
        ", ".join(versions),
        row.get("quiet", False),
        _text(row.get(f"{target}_3510") or row.get("ascend_c_simt_3510")),
        row.get("note_3510"),
        row.get("call"),
    )


@functools.cache
def torch_cuda() -> dict[str, Fact]:
    """`torch.cuda.*` by full name."""
    data = table("cuda_api_map")
    source = data["_meta"]["torch_npu_source"]
    return {row["cuda"]: fact({"source": source, **row}, row["cuda"], "npu") for row in data["torch_cuda"]}


@functools.cache
def related(word: str) -> Fact:
    """The row of the table of related PyTorch constructs whose name starts with `word`.

    Raises:
        KeyError: No row does.
    """
    for row in table("cuda_api_map")["related"]:
        if row["cuda"].startswith(word):
            return fact(row, row["cuda"], "npu")
    raise KeyError(word)


@functools.cache
def cpp(section: str) -> dict[str, Fact]:
    """A section of the C++ map (runtime, nccl, device, torch_cpp, headers, build) by CUDA name."""
    keys = {
        "runtime": "acl",
        "nccl": "hccl",
        "device": "ascend_c_simd",
        "torch_cpp": "npu",
        "headers": "ascend",
        "build": "ascend",
    }
    rows = table("cuda_cpp_map")[section]
    return {
        row["cuda"]: fact({"status": "rename", **row} if section == "headers" else row, row["cuda"], keys[section])
        for row in rows
    }


@functools.cache
def libraries() -> tuple[tuple[str, Fact], ...]:
    """The library families of the C++ map as (regular expression, Fact)."""
    return tuple(
        (row["pattern"], fact(row, row["family"], "replacement")) for row in table("cuda_cpp_map")["libraries"]
    )


@functools.cache
def patterns(section: str) -> tuple[tuple[str, Fact], ...]:
    """A section of the kit's own pattern table as (regular expression, Fact): families that the name tables do not list."""
    return tuple((row["pattern"], fact(row, row["family"], "target")) for row in table("cuda_patterns")[section])


@functools.cache
def packages() -> dict[str, Fact]:
    """Distribution names (lower case, `-` for `_`) to their library row."""
    return {
        name.lower().replace("_", "-"): fact(row, name, "ascend") for row in _library_rows() for name in row["packages"]
    }


@functools.cache
def imports() -> dict[str, Fact]:
    """Import names to their library row."""
    return {name: fact(row, row["packages"][0], "ascend") for row in _library_rows() for name in row["imports"]}


def _library_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = table("library_map")["libraries"] + table("cuda_patterns")["libraries"]
    return rows


@functools.cache
def environment() -> dict[str, Fact]:
    """Environment variables by name; rows that name several are split."""
    found = {}
    for row in table("library_map")["env"]:
        for name in row["cuda"].replace(",", " ").replace("/", " ").split():
            if name.isupper() or "_" in name:
                found[name.strip("*")] = fact(row, name, "ascend")
    return found


@functools.cache
def feature(name: str) -> Fact:
    """A framework feature, such as `nvidia-smi`, by the start of its name.

    Raises:
        KeyError: No row has it.
    """
    for row in table("library_map")["features"]:
        if row["cuda"].startswith(name):
            return fact(row, row["cuda"], "ascend")
    raise KeyError(name)


@functools.cache
def triton_api() -> dict[str, dict[str, Any]]:
    """`tl.*` and `triton.*` rows by name, as they lie in the table."""
    return {row["feature"]: row for row in table("triton_support")["api"]}


@functools.cache
def triton_rule(name: str) -> Fact:
    """A Triton rule by the start of its name.

    Raises:
        KeyError: No rule has it.
    """
    for row in table("triton_support")["rules"]:
        if row["feature"].startswith(name):
            return Fact(row["feature"], row["status"], "", row["rule"], row["source"])
    raise KeyError(name)


@functools.cache
def fused() -> dict[str, dict[str, Any]]:
    """Rows of the fused-operator table by each full name that they replace, such as `flash_attn.flash_attn_func`."""
    rows = table("fused_replacements")["rows"]
    return {name: row for row in rows for name in row["replaces"] if "." in name and " " not in name}
